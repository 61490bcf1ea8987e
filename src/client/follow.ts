import {
  A2AError,
  isInterrupted,
  isTerminal,
  type SendMessageRequest,
  type StreamResponse,
  type TaskState,
} from "../protocol/index.ts";
import type { Call } from "./http.ts";
import { Backoff, type Reconnect } from "./reconnect.ts";
import type { Received, Transport } from "./transport.ts";

/** What a stream begins with: a message that is sent, or a task that exists. */
export type Beginning =
  | { readonly send: SendMessageRequest }
  | {
      readonly subscribe: { readonly id: string; readonly tenant?: string };
      readonly after?: string | undefined;
    };

/**
 * A stream that survives cuts. "Cut" is not "ended": a stream has ended when its task has, or waits for its user, or
 * when the agent answered with a message. Anything else that stops it is a cut, after which it goes on with
 * SubscribeToTask behind the last event id. A server that ignores the id sends the whole task first, which is passed
 * on; of a task that has ended meanwhile the whole task is the last event. Cut before the first event, the same
 * message is sent again under the same id, which an agent that deduplicates (Colloquy does) takes only once.
 * When no try gets anywhere, rejects with UNAVAILABLE and `metadata` that has `taskId` and `lastEventId`.
 */
export async function* follow(
  transport: Transport,
  beginning: Beginning,
  call: Call,
  reconnect: Reconnect,
): AsyncGenerator<StreamResponse, void, undefined> {
  const place = new Place(beginning);
  const backoff = new Backoff(reconnect);
  for (;;) {
    let cut: A2AError;
    try {
      for await (const received of place.open(transport, call)) {
        if (place.advance(received)) backoff.progress();
        yield received.event;
      }
      if (place.hasEnded) return;
      cut = new A2AError("UNAVAILABLE", "the agent ended the stream before the task had ended");
    } catch (error) {
      if (!isCut(error)) throw error;
      if (place.mayHaveEnded) return;
      cut = error;
    }
    if (!(await backoff.next(cut, call.signal))) throw place.lost(cut, backoff.failures);
  }
}

/** True for what another try may mend; all else is an answer. */
function isCut(error: unknown): error is A2AError {
  return (
    error instanceof A2AError && (error.reason === "UNAVAILABLE" || error.reason === "RESOURCE_EXHAUSTED")
  );
}

/** Where in a task's events a reader is. */
class Place {
  readonly #beginning: Beginning;
  #taskId: string | undefined;
  #lastEventId: string | undefined;
  #state: TaskState | undefined;
  #answered = false;

  constructor(beginning: Beginning) {
    this.#beginning = beginning;
    if ("subscribe" in beginning) {
      this.#taskId = beginning.subscribe.id;
      this.#lastEventId = beginning.after;
    }
  }

  open(transport: Transport, call: Call): AsyncIterable<Received> {
    if (this.#taskId !== undefined) return this.#subscribe(transport, call, this.#taskId);
    // Without a task id there was no event yet, and only a message can begin without one.
    const { send } = this.#beginning as { send: SendMessageRequest };
    return transport.stream("SendStreamingMessage", send, call);
  }

  async *#subscribe(transport: Transport, call: Call, id: string): AsyncGenerator<Received, void, undefined> {
    const { tenant } = "send" in this.#beginning ? this.#beginning.send : this.#beginning.subscribe;
    const params = tenant === undefined ? { id } : { id, tenant };
    try {
      yield* transport.stream("SubscribeToTask", params, { ...call, lastEventId: this.#lastEventId });
    } catch (error) {
      // So a server says that the task has ended meanwhile (A2A §3.1.6).
      if (!(error instanceof A2AError) || error.reason !== "UNSUPPORTED_OPERATION") throw error;
      const task = await transport.call("GetTask", params, call);
      if (!isTerminal(task.status.state)) throw error;
      yield { event: { task } };
    }
  }

  /**
   * Takes note of an event and says whether it brought anything new. A snapshot that repeats what was known does not,
   * or a server that cuts after each would be asked for ever.
   */
  advance({ id, event }: Received): boolean {
    const repeats = "task" in event && this.#taskId !== undefined && (!id || id === this.#lastEventId);
    if (id !== undefined && id !== "") this.#lastEventId = id;
    if ("task" in event) {
      this.#taskId = event.task.id;
      this.#state = event.task.status.state;
    } else if ("statusUpdate" in event) {
      this.#taskId = event.statusUpdate.taskId || this.#taskId;
      this.#state = event.statusUpdate.status.state;
    } else if ("artifactUpdate" in event) this.#taskId = event.artifactUpdate.taskId || this.#taskId;
    else this.#answered ||= this.#taskId === undefined;
    return !repeats;
  }

  /** Whether a stream that was closed in good order is complete. */
  get hasEnded(): boolean {
    return this.mayHaveEnded || (this.#state !== undefined && isInterrupted(this.#state));
  }

  /** Whether it is complete although its connection broke: nothing was left to come. */
  get mayHaveEnded(): boolean {
    if (this.#answered) return true;
    if (this.#state === undefined) return false;
    return (
      isTerminal(this.#state) || ("send" in this.#beginning && this.#state === "TASK_STATE_INPUT_REQUIRED")
    );
  }

  lost(cut: A2AError, tries: number): A2AError {
    const metadata: Record<string, string> = {};
    if (this.#taskId !== undefined) metadata["taskId"] = this.#taskId;
    if (this.#lastEventId !== undefined) metadata["lastEventId"] = this.#lastEventId;
    const which = this.#taskId === undefined ? "The stream" : `The stream of task ${this.#taskId}`;
    const what =
      this.#taskId === undefined
        ? "the message may or may not have arrived; send it again with the same messageId"
        : "the task may go on without us; subscribe to it again, or get it";
    const message = `${which} was cut, and ${tries} tries to resume it failed (${cut.message}); ${what}.`;
    return new A2AError("UNAVAILABLE", message, { metadata, cause: cut });
  }
}
