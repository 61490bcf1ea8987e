import { isInterrupted, isTerminal, type Message } from "../../protocol/index.ts";
import { isSameMessage } from "../repeated-messages.ts";
import { createDuplicateMessageIdError } from "../task-errors.ts";
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
    return await this.#followWhile(task, turn, async () => {
      const stored = await this.#store.load(task.scope, task.taskId);
      const queued = stored?.queuedTurns?.find((entry) => entry.message.messageId === message.messageId);
      if (queued && !isSameMessage(message, queued.message)) throw createDuplicateMessageIdError(message);
      return queued !== undefined;
    });
  }

  /**
   * Resolves with the followed turn of the message with the sequence number `seq`, or with the running turn after it.
   * Resolves with `undefined` if the task waits or has ended.
   */
  async findRunningTurn(
    task: FollowedTask,
    message: Message,
    seq: number,
  ): Promise<FollowedTurn | undefined> {
    if (!task.hasUnfinishedTurn) return undefined;
    const turn = await this.followUnlessStopped(task, message, seq);
    return turn ?? this.#followLaterTurn(task, message);
  }

  #followLaterTurn(task: FollowedTask, message: Message): FollowedTurn | undefined {
    if (isInterrupted(task.state) || isTerminal(task.state)) return undefined;
    const turn = new FollowedTurn(message);
    turn.beginAtKnownSeq(task.seq, task.getSnapshot());
    task.followTurn(turn);
    return turn;
  }

  /** Like `findRunningTurn`, also for a turn whose lease this node has not released yet. */
  async followUnlessStopped(
    task: FollowedTask,
    message: Message,
    seq: number,
  ): Promise<FollowedTurn | undefined> {
    const turn = new FollowedTurn(message);
    return await this.#followWhile(task, turn, async () => {
      const readSeq = task.seq;
      turn.beginAtKnownSeq(seq, task.getSnapshot());
      return !(await hasTurnStopped(this.#store, task, seq, readSeq));
    });
  }

  /** Follows a turn, and continues to follow it only if `isUnfinished` resolves with true. */
  async #followWhile(
    task: FollowedTask,
    turn: FollowedTurn,
    isUnfinished: () => Promise<boolean>,
  ): Promise<FollowedTurn | undefined> {
    task.followTurn(turn);
    let isFollowed = false;
    try {
      isFollowed = await isUnfinished();
    } finally {
      if (!isFollowed) task.unfollowTurn(turn);
    }
    return isFollowed ? turn : undefined;
  }
}
