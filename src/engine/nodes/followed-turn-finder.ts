import type { Message } from "../../protocol/index.ts";
import { isSameMessage } from "../is-same-message.ts";
import { createDuplicateMessageIdError } from "../message-errors.ts";
import type { TaskStore } from "../task-store.ts";
import type { FollowedTask } from "./followed-task.ts";
import { FollowedTurn, hasTurnStopped } from "./followed-turn.ts";

/** Finds the turns of repeated messages on other nodes, so that the senders of the messages receive the results. */
export class FollowedTurnFinder {
  readonly #store: TaskStore;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  /**
   * Resolves with the followed turn of a message that waits in the queue of the task, or with `undefined` if the message
   * does not wait. Rejects if another message with the same id waits.
   */
  async findQueuedTurn(task: FollowedTask, message: Message): Promise<FollowedTurn | undefined> {
    const turn = new FollowedTurn({ ...message, taskId: task.taskId, contextId: task.contextId });
    // Follow the turn before the query, because the turn can begin and end during the query.
    task.followTurn(turn);
    const stored = await this.#store.load(task.scope, task.taskId);
    const queued = stored?.queuedTurns?.find((entry) => entry.message.messageId === message.messageId);
    if (queued && isSameMessage(message, queued.message)) return turn;
    task.unfollowTurn(turn);
    if (queued) throw createDuplicateMessageIdError(message);
    return undefined;
  }

  /** Resolves with the followed turn of the message with the sequence number `seq`, or with `undefined` if it stopped. */
  async findRunningTurn(
    task: FollowedTask,
    message: Message,
    seq: number,
  ): Promise<FollowedTurn | undefined> {
    if (!task.hasUnfinishedTurn) return undefined;
    const turn = new FollowedTurn(message);
    task.followTurn(turn);
    const readSeq = task.seq;
    turn.beginAtKnownSeq(seq, task.getSnapshot());
    if (!(await hasTurnStopped(this.#store, task, seq, readSeq))) return turn;
    task.unfollowTurn(turn);
    return undefined;
  }
}
