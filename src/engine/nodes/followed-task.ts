import { Deferred } from "../../base/data-structures/index.ts";
import {
  A2AError,
  copyTask,
  isInterrupted,
  isTerminal,
  type Task,
  type TaskState,
} from "../../protocol/index.ts";
import { foldLogEvents } from "../log-events.ts";
import type { TaskScope } from "../caller.ts";
import type { TaskTurnStatus } from "../decide-message-outcome.ts";
import { createLogWentBackError } from "../task-errors.ts";
import { TaskLogTail, type TaskFeed } from "../task-feed.ts";
import type { FollowedTurn } from "./followed-turn.ts";
import type { FollowedPosition, FollowedTaskChange } from "./node-store.ts";

/** The state of a task that a follower starts with. */
export interface FollowedTaskStart {
  readonly task: Task;
  readonly seq: number;
  readonly turnStatus: TaskTurnStatus;
}

interface FollowedTaskDependencies {
  /** Called when a reader or a request retains an idle task. */
  readonly onActive: (task: FollowedTask) => void;
  /** Called when the last reader or request has released the task. */
  readonly onIdle: (task: FollowedTask) => void;
  readonly reopen: () => Promise<TaskFeed | undefined>;
}

/**
 * A task whose turn this node does not run. The task repeats the log of the store: the `LogPoller` reads the new events,
 * whichever node has appended them.
 */
export class FollowedTask implements TaskFeed {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly tail: TaskLogTail = new TaskLogTail();
  /** Monotonic time in milliseconds of the next poll. */
  nextPollAt = 0;
  hasMoved = false;
  readonly #context: FollowedTaskDependencies;
  readonly #turns = new Set<FollowedTurn>();
  #task: Task;
  #seq: number;
  #turnStatus: TaskTurnStatus;
  /** Sequence number of the last event in the store. */
  #lastStoredSeq: number;
  #userCount = 0;
  #failure: A2AError | undefined;
  #nextChange: Deferred | undefined;

  constructor(context: FollowedTaskDependencies, scope: TaskScope, start: FollowedTaskStart) {
    this.#context = context;
    this.scope = scope;
    this.taskId = start.task.id;
    this.#task = start.task;
    this.#seq = this.#lastStoredSeq = start.seq;
    this.#turnStatus = start.turnStatus;
  }

  get contextId(): string {
    return this.#task.contextId;
  }

  get seq(): number {
    return this.#seq;
  }

  get state(): TaskState {
    return this.#task.status.state;
  }

  /** Turn status in the store after the newest event. While the store has later events, the turn is unfinished. */
  get turnStatus(): TaskTurnStatus {
    return this.hasUnreadEvents && this.#turnStatus === "none" ? "running" : this.#turnStatus;
  }

  /** True if the store has more events than the last poll has read. */
  get hasUnreadEvents(): boolean {
    return this.#seq < this.#lastStoredSeq;
  }

  get hasUnfinishedTurn(): boolean {
    return this.turnStatus !== "none";
  }

  get isWaitingWithinTurn(): boolean {
    return this.hasUnfinishedTurn && isInterrupted(this.state);
  }

  get hasCommitFailed(): boolean {
    return this.#failure !== undefined;
  }

  get position(): FollowedPosition {
    const { scope, taskId } = this;
    return { scope, taskId, afterSeq: this.#seq, turnStatus: this.#turnStatus };
  }

  getSnapshot(): Task {
    return copyTask(this.#task);
  }

  hasEndedAtSeq(seq: number): boolean {
    return seq >= this.#seq && isTerminal(this.state);
  }

  waitForCommitOrTurnChange(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return (this.#nextChange ??= new Deferred()).promise;
  }

  retain(): this {
    if (this.#userCount++ === 0) this.#context.onActive(this);
    return this;
  }

  release(): void {
    if (--this.#userCount === 0) this.#context.onIdle(this);
  }

  retainForReader(): this {
    return this.retain();
  }

  releaseReader(): void {
    this.release();
  }

  reopen(): Promise<TaskFeed | undefined> {
    return this.#context.reopen();
  }

  /** Reports the progress of a turn that begins after the newest event. Keeps the task until the turn has ended. */
  followTurn(turn: FollowedTurn): void {
    this.#turns.add(turn);
    this.retain();
  }

  unfollowTurn(turn: FollowedTurn): void {
    if (this.#turns.delete(turn)) this.release();
  }

  /** Applies a change that the store has returned for `position`. */
  applyChange({ lastSeq, turnStatus, events }: FollowedTaskChange): void {
    this.#lastStoredSeq = lastSeq;
    this.#turnStatus = turnStatus;
    for (const event of events) {
      const task = foldLogEvents(this.taskId, this.#task, [event]);
      this.#task = task;
      this.#seq = event.seq;
      for (const turn of this.#turns) if (turn.applyEvent(event, task)) this.unfollowTurn(turn);
    }
    if (events.length > 0) this.tail.add(events);
    this.#wakeWaiters();
  }

  /** Replaces the task, because the store has deleted the events between. */
  replace({ task, seq, turnStatus }: FollowedTaskStart): void {
    this.#task = task;
    this.#seq = this.#lastStoredSeq = seq;
    this.#turnStatus = turnStatus;
    this.tail.clear();
    this.#wakeWaiters();
  }

  /** Rejects all users of the task, because the store no longer has the task. */
  markErased(): void {
    this.#fail(A2AError.taskNotFound(this.taskId));
  }

  /** Rejects all users of the task, because the store has lost events that they have read. */
  markWentBack(lastSeq: number): void {
    this.#fail(createLogWentBackError(this.taskId, this.#seq, lastSeq));
  }

  /** Makes all readers continue with another feed, because this node starts a turn of the task. */
  markMoved(): void {
    this.hasMoved = true;
    this.#wakeWaiters();
  }

  /** Rejects the requests that wait for a turn of the task, because this node stops. Readers keep the task. */
  endTurns(error: A2AError): void {
    for (const turn of this.#turns) {
      turn.end(error);
      this.unfollowTurn(turn);
    }
    this.#wakeWaiters();
  }

  #fail(error: A2AError): void {
    this.#failure = error;
    this.tail.clear();
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.reject(error);
    this.endTurns(error);
  }

  #wakeWaiters(): void {
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.resolve();
  }
}
