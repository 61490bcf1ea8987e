import {
  A2AError,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Part,
  type StreamResponse,
  type Task,
  type TaskState,
} from "../../protocol/index.ts";
import type { SessionEventOptions } from "../session-event.ts";
import type { AdkEvent } from "../types.ts";
import { Aggregation } from "./aggregation.ts";
import { LastWord } from "./last-word.ts";
import type { Outgoing } from "./outgoing.ts";

/** How long the peer may take to hear that its task is cancelled, in milliseconds. */
const CANCEL_MS = 5000;

/** What is sent to the peer. */
export interface RemoteRequest extends Outgoing {
  /** Metadata of the request. */
  readonly metadata?: JsonObject;
}

interface Call {
  readonly signal: AbortSignal;
  readonly headers?: Record<string, string> | undefined;
}

/** A connection to an agent, as far as it is used. */
export interface Peer {
  stream(parts: readonly Part[], options: Omit<RemoteRequest, "parts"> & Call): AsyncIterable<StreamResponse>;
  readonly task: { cancel(id: string, call: Call): Promise<unknown> };
}

/**
 * One turn of a peer: what it says until it is done or waits for its user, as events of a session. The task of a turn
 * that is left before that is cancelled.
 */
export async function* askPeer(
  peer: Peer,
  { parts, ...place }: RemoteRequest,
  call: Call,
  options: SessionEventOptions,
): AsyncGenerator<AdkEvent, void, undefined> {
  const aggregation = new Aggregation(options);
  const lastWord = new LastWord();
  const turn = new Turn();
  try {
    // A task that goes on is shown first as it was; from an agent that does not stream that is all, and its answer.
    let before: Task | undefined;
    for await (const said of peer.stream(parts, { ...place, ...call })) {
      if (before) aggregation.know(before);
      before = place.taskId && turn.taskId === undefined ? waitingTask(said) : undefined;
      if (before) turn.taskId = before.id;
      else {
        turn.hear(said);
        yield* lastWord.pass(aggregation.take(said));
        // The stream of a task that waits for authorization stays open; the turn here is over.
        if (turn.isOver) return;
      }
    }
    if (before) {
      turn.hear({ task: before });
      yield* lastWord.pass(aggregation.take({ task: before }));
    }
    if (!turn.isOver) {
      throw new A2AError("UNAVAILABLE", `The agent ${options.author} left before its task ended.`);
    }
  } catch (error) {
    yield* lastWord.pass(aggregation.flush());
    yield* lastWord.rest();
    throw error;
  } finally {
    if (!turn.isOver && turn.taskId !== undefined) await cancel(peer, turn.taskId, call.headers);
  }
}

function waitingTask(said: StreamResponse): Task | undefined {
  return "task" in said && !isTerminal(said.task.status.state) ? said.task : undefined;
}

/** What is known of the peer's task. */
class Turn {
  taskId: string | undefined;
  isOver = false;

  hear(said: StreamResponse): void {
    if ("message" in said) this.isOver = true;
    else if ("task" in said) this.#at(said.task.id, said.task.status.state);
    else if ("statusUpdate" in said) this.#at(said.statusUpdate.taskId, said.statusUpdate.status.state);
    else this.taskId = said.artifactUpdate.taskId;
  }

  #at(taskId: string, state: TaskState): void {
    this.taskId = taskId;
    this.isOver = isTerminal(state) || isInterrupted(state);
  }
}

/** Nobody is left to tell that it did not work. */
async function cancel(peer: Peer, taskId: string, headers: Call["headers"]): Promise<void> {
  await peer.task.cancel(taskId, { signal: AbortSignal.timeout(CANCEL_MS), headers }).catch(() => {});
}
