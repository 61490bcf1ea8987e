import { type A2AError, isTerminal } from "../protocol/index.ts";
import {
  getTaskKey,
  type TaskScope,
  type Clock,
  type TaskTurnStatus,
  type Observer,
  type TaskFeed,
  type FollowableTask,
  type TaskStore,
} from "../engine/index.ts";
import type { NodeHint, NodeStore } from "./node-store.ts";
import { Poller } from "./poller.ts";
import { FollowedTask, type FollowedTaskStart } from "./followed-task.ts";

/** Delay in milliseconds between two polls of a task that another node runs, without hints. */
const RUNNING_POLL_DELAY_MS = 50;
/** Delay in milliseconds between two polls of a task without a running turn, and of every task with hints. */
const IDLE_POLL_DELAY_MS = 500;
/** Maximum size in bytes of the events of one task in one poll. */
const MAX_BYTES_PER_TASK = 256 * 1024;
/** Maximum number of tasks in one poll. */
const MAX_TASKS_PER_POLL = 256;

type FollowedTaskContext = ConstructorParameters<typeof FollowedTask>[0];

interface LogPollerDependencies extends Pick<FollowedTaskContext, "generateId" | "sendRequest"> {
  readonly store: TaskStore;
  readonly nodes: NodeStore;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "onError">;
}

/**
 * Follows the logs of the tasks that other nodes run, for all engines of this node. One statement reads the new events of
 * all followed tasks. The poller reads at each hint, or else every 50 ms while another node runs a followed task.
 */
export class LogPoller {
  readonly #context: LogPollerDependencies;
  readonly #taskContext: FollowedTaskContext;
  readonly #followed = new Set<FollowedTask>();
  readonly #followedByTask = new Map<string, FollowedTask>();
  readonly #poller: Poller;

  constructor(context: LogPollerDependencies) {
    this.#context = context;
    this.#taskContext = {
      ...context,
      refresh: (task) => this.refresh(task),
      onActive: (task) => this.#add(task),
      onIdle: (task) => this.#remove(task),
    };
    this.#poller = new Poller(
      context.clock,
      () => this.#readChanges(),
      () => this.#computeDelayMs(),
    );
  }

  /** Returns the followed task, or a new one as it is stored. The poller follows the task while it is retained. */
  follow(
    scope: TaskScope,
    stored: FollowableTask,
    reopen: () => Promise<TaskFeed | undefined>,
  ): FollowedTask {
    const known = this.find(scope, stored.task.id);
    if (known) {
      known.hasMoved = false;
      return known;
    }
    return new FollowedTask(this.#taskContext, scope, toFollowedTaskStart(stored), reopen);
  }

  find(scope: TaskScope, taskId: string): FollowedTask | undefined {
    const task = this.#followedByTask.get(getTaskKey(scope, taskId));
    return task?.hasCommitFailed ? undefined : task;
  }

  /** Reads the newest events of a task from the store. */
  async refresh(task: FollowedTask): Promise<void> {
    do {
      task.nextPollAt = 0;
      await this.#poller.pollNow();
    } while (task.hasUnreadEvents && !task.hasCommitFailed);
  }

  /** Reads the tasks of a hint at once. */
  handleHint(hint: NodeHint): void {
    if (hint.kind === "work") return;
    const taskIds = hint.kind === "any" ? undefined : new Set(hint.taskIds);
    let isFollowed = false;
    for (const task of this.#followed) {
      if (taskIds && !taskIds.has(task.taskId)) continue;
      task.nextPollAt = 0;
      isFollowed = true;
    }
    if (isFollowed) this.#poller.wake();
  }

  /** Stops polling, and rejects the requests that wait for other nodes. */
  stop(error: A2AError): void {
    this.#poller.stop(error);
    for (const task of this.#followed) task.endTurns(error);
  }

  #add(task: FollowedTask): void {
    this.#followed.add(task);
    this.#followedByTask.set(getTaskKey(task.scope, task.taskId), task);
    task.nextPollAt = this.#context.clock.monotonic() + this.#getPollDelayMs(task);
    this.#poller.update();
  }

  #remove(task: FollowedTask): void {
    this.#followed.delete(task);
    const key = getTaskKey(task.scope, task.taskId);
    if (this.#followedByTask.get(key) === task) this.#followedByTask.delete(key);
  }

  async #readChanges(): Promise<void> {
    const now = this.#context.clock.monotonic();
    const due = [...this.#followed].filter(({ nextPollAt }) => nextPollAt <= now);
    for (let at = 0; at < due.length; at += MAX_TASKS_PER_POLL)
      await this.#readChangesOfTasks(due.slice(at, at + MAX_TASKS_PER_POLL));
  }

  async #readChangesOfTasks(tasks: readonly FollowedTask[]): Promise<void> {
    for (const task of tasks) task.nextPollAt = this.#context.clock.monotonic() + this.#getPollDelayMs(task);
    const positions = tasks.map(({ position }) => position);
    const changes = await this.#context.nodes.readChanges(positions, MAX_BYTES_PER_TASK);
    for (const [at, task] of tasks.entries()) {
      const change = changes[at];
      if (change === "deleted") task.markErased();
      else if (change && change.lastSeq < task.seq) task.markWentBack(change.lastSeq);
      else if (change) await this.#applyChange(task, change);
    }
  }

  async #applyChange(task: FollowedTask, change: Parameters<FollowedTask["applyChange"]>[0]): Promise<void> {
    const hasDeletedEvents = change.lastSeq > task.seq && change.events.length === 0;
    try {
      if (hasDeletedEvents) await this.#reload(task);
      else task.applyChange(change);
    } catch (error) {
      this.#context.observer.onError?.({ where: "store", error, taskId: task.taskId });
      if (!hasDeletedEvents) {
        task.markInvalid(error);
        task.nextPollAt = Infinity;
        return;
      }
    }
    // A hint can have requested an earlier poll in the meantime.
    const delayMs = task.hasUnreadEvents ? 0 : this.#getPollDelayMs(task);
    task.nextPollAt = Math.min(task.nextPollAt, this.#context.clock.monotonic() + delayMs);
    if (task.hasUnreadEvents) this.#poller.wake();
  }

  async #reload(task: FollowedTask): Promise<void> {
    const stored = await this.#context.store.load(task.scope, task.taskId);
    if (stored) task.replace(toFollowedTaskStart(stored));
    else task.markErased();
  }

  #getPollDelayMs({ turnStatus, state }: FollowedTask): number {
    if (isTerminal(state)) return Infinity;
    const hasHints = this.#context.nodes.hints?.isReceiving ?? false;
    return turnStatus === "running" && !hasHints ? RUNNING_POLL_DELAY_MS : IDLE_POLL_DELAY_MS;
  }

  #computeDelayMs(): number | undefined {
    let first = Infinity;
    for (const { nextPollAt } of this.#followed) first = Math.min(first, nextPollAt);
    return first === Infinity ? undefined : Math.max(0, first - this.#context.clock.monotonic());
  }
}

function toFollowedTaskStart({
  task,
  seq,
  awaitsRecovery,
  runsOnOtherNode,
  queuedTurns,
}: FollowableTask): FollowedTaskStart {
  const hasTurn = runsOnOtherNode === true || (queuedTurns?.length ?? 0) > 0;
  const turnStatus: TaskTurnStatus = awaitsRecovery ? "awaiting-recovery" : hasTurn ? "running" : "none";
  return { task, seq, turnStatus };
}
