import { isInterrupted, isTerminal, type SendMessageRequest, type TaskStatus } from "../../protocol/index.ts";
import type { ReceivedEvent } from "../transport/transport.ts";

/** What a stream begins with: a message that is sent, or a task that exists. */
export type StreamRequest =
  | { readonly send: SendMessageRequest }
  | {
      readonly subscribe: { readonly id: string; readonly tenant?: string };
      readonly lastEventId?: string | undefined;
    };

/** Where in a task's events a reader is, and whether there is more to come. */
export class StreamCursor {
  readonly #isMessageStream: boolean;
  readonly #continuesTask: boolean;
  #taskId: string | undefined;
  #lastEventId: string | undefined;
  #status: TaskStatus | undefined;
  /** The status in which a follow-up message found its task. */
  #initialStatus: TaskStatus | undefined;
  #hasMessageReply = false;
  #isResent = false;

  constructor(request: StreamRequest) {
    this.#isMessageStream = "send" in request;
    this.#continuesTask = "send" in request && request.send.message.taskId !== undefined;
    if ("subscribe" in request) {
      this.#taskId = request.subscribe.id;
      this.#lastEventId = request.lastEventId;
    }
  }

  /** Known since the first event. */
  get taskId(): string | undefined {
    return this.#taskId;
  }

  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** To be called before the message is sent once more: its turn may be over by now. */
  markResent(): void {
    this.#isResent = true;
  }

  /**
   * Takes note of an event and says whether it brought anything new. A snapshot that repeats what was known does not,
   * or a server that cuts after each would be asked for ever.
   */
  advance({ id, event }: ReceivedEvent): boolean {
    const isRepetition = "task" in event && this.#taskId !== undefined && (!id || id === this.#lastEventId);
    if (id) this.#lastEventId = id;
    if ("task" in event) {
      this.#taskId = event.task.id;
      this.#status = event.task.status;
      // Behind a message that was sent before, a task that says what it asks may ask the next thing already.
      const isNewQuestion = this.#isResent && this.#status.message !== undefined;
      if (this.#continuesTask && !isNewQuestion) this.#initialStatus ??= this.#status;
    } else if ("statusUpdate" in event) {
      this.#taskId = event.statusUpdate.taskId || this.#taskId;
      this.#status = event.statusUpdate.status;
    } else if ("artifactUpdate" in event) this.#taskId = event.artifactUpdate.taskId || this.#taskId;
    else this.#hasMessageReply ||= this.#taskId === undefined;
    return !isRepetition;
  }

  /** True when nothing can come any more, however the stream stopped, and if it did not. */
  get hasEnded(): boolean {
    if (this.#hasMessageReply) return true;
    if (!this.#status) return false;
    const { state } = this.#status;
    // A turn ends with its question (A2A §11.7); a subscription goes on behind it.
    return (
      isTerminal(state) ||
      (this.#isMessageStream && state === "TASK_STATE_INPUT_REQUIRED" && !this.#isStatusUnchanged)
    );
  }

  /** True when a stream that was closed in good order may be believed to be complete. */
  get isCompleteOnClose(): boolean {
    if (this.hasEnded) return true;
    if (!this.#status || !isInterrupted(this.#status.state)) return false;
    // Still the question that the message answers: with an event id it can be found out what has come of it.
    return !this.#isStatusUnchanged || this.#lastEventId === undefined;
  }

  get #isStatusUnchanged(): boolean {
    const current = this.#status;
    const initial = this.#initialStatus;
    return (
      current !== undefined &&
      initial !== undefined &&
      current.state === initial.state &&
      current.timestamp === initial.timestamp &&
      current.message?.messageId === initial.message?.messageId
    );
  }
}
