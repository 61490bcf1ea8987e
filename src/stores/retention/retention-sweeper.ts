import { A2AError } from "../../protocol/index.ts";
import {
  type TaskScope,
  formatTimestamp,
  type Clock,
  type DelayedDeletions,
  type Observer,
  type SweepReport,
} from "../../engine/index.ts";
import type { DeletableTask, StoreSize, TaskDeletionStore, TaskSelector } from "../index.ts";
import {
  type RetentionOptions,
  DEFAULT_SWEEP_INTERVAL_MS,
  canDeleteTasksOfAgent,
  createRetentionRules,
  type RetentionRule,
} from "./retention-policy.ts";
import { SweepClock } from "./sweep-clock.ts";
import { getTrustDelay, getTrustedTime, type ClockReading, type TrustedTime } from "./trusted-time.ts";

/** Number of tasks that one query of the sweeper lists. */
const SWEEP_PAGE_SIZE = 128;
/** Maximum number of tasks that the sweeper deletes before it measures the size of the store again. */
const MAX_TASKS_PER_SIZE_CHECK = 32;
/** Approximate duration of one deletion step in milliseconds. Requests can run between two steps. */
const STEP_BUDGET_MS = 4;
/** Pause after a step, as a multiple of the step's duration. The sweeper uses about a quarter of the time. */
const PAUSE_PER_STEP_DURATION = 3;
/** Longest pause in milliseconds. A step seems to last for days if the machine was suspended meanwhile. */
const MAX_PAUSE_MS = 1000;
/** Shortest pause in milliseconds that requires a timer. */
const MIN_TIMER_PAUSE_MS = 1;
/**
 * Time in milliseconds between sweeps that check all stopped tasks again. Other sweeps check only the tasks
 * that became due after the previous sweep, so tasks that were in use must be checked again.
 */
const FULL_SWEEP_INTERVAL_MS = 60 * 60 * 1000;

/** Later than every status, even if the wall clock was set back after the status. */
const AFTER_ALL_TIMESTAMPS = "9999-12-31T23:59:59.999Z";

export interface RetentionSweeperDependencies {
  readonly deletionStore: TaskDeletionStore;
  /** The retention policy, or `false` to delete only on request. */
  readonly retention: RetentionOptions | false;
  readonly clock: Clock;
  /** An observer whose listeners cannot throw. */
  readonly observer: Observer;
  /** Returns true if a request or an agent currently uses the task. The sweeper skips such tasks. */
  readonly isTaskInUse: (scope: TaskScope, taskId: string) => boolean;
  /** Ends a task before its erasure, so that no agent continues to work on the task. */
  readonly endTask: (scope: TaskScope, taskId: string) => Promise<void>;
  /** Called after the erasure of a task. */
  readonly onTaskErased: (scope: TaskScope, taskId: string) => void;
}

interface SweepTotals {
  deletedTasks: number;
  trimmedTasks: number;
}

interface SweepOptions {
  /** If true, the retention periods count from the wall clock, even after a jump of the wall clock. */
  readonly trustsWallClock: boolean;
}

/**
 * Deletes old tasks from the store, in short steps with pauses. A step lasts a few milliseconds, so that
 * requests never wait long for the sweeper. Sweeps and erasures run one after another.
 */
export class RetentionSweeper {
  readonly #context: RetentionSweeperDependencies;
  readonly #rules: readonly RetentionRule[];
  readonly #cursors = new Map<RetentionRule, DeletableTask>();
  readonly #sweepClock: SweepClock;
  /** Time by which the wall clock was ahead when an observer received the delayed deletions. */
  #reportedAheadMs = 0;
  #nextFullSweepAt = 0;
  #lastJob: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #endPause: (() => void) | undefined;

  /** `startReading` contains the clocks at the start of the server, so that a jump before the first sweep counts. */
  constructor(context: RetentionSweeperDependencies, startReading: ClockReading | undefined) {
    this.#context = context;
    const { clock, deletionStore, retention } = context;
    this.#rules = retention === false ? [] : createRetentionRules(retention);
    this.#sweepClock = new SweepClock(clock, deletionStore.sweepClock, startReading, {
      periodsMs: this.#rules.map(({ keepMs }) => keepMs),
      sweepIntervalMs: (retention || {}).sweepIntervalMs ?? DEFAULT_SWEEP_INTERVAL_MS,
    });
  }

  /** Stops the sweeper and resolves once no step is running. The next process continues the work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endPause?.();
    await this.#lastJob.catch(() => {});
  }

  /** Applies the retention policy once. */
  sweep({ trustsWallClock }: SweepOptions): Promise<SweepReport> {
    return this.#runExclusively(async () => {
      const totals: SweepTotals = { deletedTasks: 0, trimmedTasks: 0 };
      this.#restartCursorsIfDue();
      const time = await this.#sweepClock.update();
      for (const rule of this.#rules) {
        const now = trustsWallClock ? time.wallMs : getTrustedTime(time, rule.keepMs);
        await this.#applyRule(rule, formatTimestamp(now - rule.keepMs), totals);
      }
      const delayed = trustsWallClock ? undefined : await this.#findDelayedDeletions(time);
      const isOverMaxBytes = await this.#deleteOldestAboveMaxBytes(totals);
      await this.#reclaimSpace({ all: false });
      const { endedTasks = 0, waitingTasks = 0 } = this.#context.deletionStore.takeEvictions?.() ?? {};
      const evictions = { evictedTasks: endedTasks + waitingTasks, evictedWaitingTasks: waitingTasks };
      const report = { ...totals, ...evictions, isOverMaxBytes, ...(delayed && { delayed }) };
      if (totals.deletedTasks + totals.trimmedTasks + evictions.evictedTasks > 0 || isOverMaxBytes || delayed)
        this.#context.observer.onSweep?.(report);
      return report;
    });
  }

  /** Returns all free space to the file system, and resolves with the new size. */
  compact(): Promise<StoreSize> {
    return this.#runExclusively(async () => {
      await this.#reclaimSpace({ all: true });
      return await this.#context.deletionStore.measureSize();
    });
  }

  /**
   * Ends and deletes all tasks that match the selector, and overwrites their content in the store's file.
   * Resolves with the number of deleted tasks once the deletion is durable.
   */
  erase(selector: TaskSelector): Promise<number> {
    return this.#runExclusively(async () => {
      const { deletionStore, endTask, onTaskErased } = this.#context;
      let erasedTasks = 0;
      for (;;) {
        const tasks = await deletionStore.findMatchingTasks(selector, SWEEP_PAGE_SIZE);
        if (tasks.length === 0) break;
        await Promise.all(tasks.map(({ scope, taskId }) => endTask(scope, taskId)));
        await this.#runInSteps(tasks, (rest) =>
          deletionStore.deleteTasks(rest, { budgetMs: STEP_BUDGET_MS, overwrite: true }),
        );
        this.#assertOpen();
        await this.#repeatInSteps(() =>
          deletionStore.deleteRemnants({ budgetMs: STEP_BUDGET_MS, overwrite: true }),
        );
        for (const { scope, taskId } of tasks) onTaskErased(scope, taskId);
        erasedTasks += tasks.length;
      }
      // Free pages can contain deleted events and replaced snapshots of the tasks. A repeated erasure, which
      // finds no tasks, completes an erasure that failed here.
      await this.#reclaimSpace({ all: true });
      await deletionStore.flushDeletions();
      return erasedTasks;
    });
  }

  #runExclusively<T>(job: () => Promise<T>): Promise<T> {
    const result = this.#lastJob.then(() => {
      this.#assertOpen();
      return job();
    });
    this.#lastJob = result.catch(() => {});
    return result;
  }

  #assertOpen(): void {
    if (this.#isClosed)
      throw new A2AError("UNAVAILABLE", "The server closed; repeat the call on a new server.");
  }

  #restartCursorsIfDue(): void {
    const now = this.#context.clock.monotonic();
    if (now < this.#nextFullSweepAt) return;
    this.#nextFullSweepAt = now + FULL_SWEEP_INTERVAL_MS;
    this.#cursors.clear();
  }

  async #applyRule(rule: RetentionRule, before: string, totals: SweepTotals): Promise<void> {
    for await (const { due, last } of this.#listDueTasks(rule, before, this.#cursors.get(rule))) {
      if (rule.deletes === "task") await this.#deleteTasks(due, totals);
      else totals.trimmedTasks += await this.#deleteUnused(due, "deleteEvents");
      if (last) this.#cursors.set(rule, last);
    }
  }

  /** Yields pages of the tasks to which a rule applies, and the last listed task of each page. */
  async *#listDueTasks(
    rule: RetentionRule,
    before: string,
    start: DeletableTask | undefined,
  ): AsyncGenerator<{ readonly due: readonly DeletableTask[]; readonly last: DeletableTask | undefined }> {
    const { deletionStore, clock } = this.#context;
    const { status } = rule;
    for (let after = start; !this.#isClosed;) {
      const startedAt = clock.monotonic();
      const tasks = await deletionStore.listStoppedTasks({ status, before, after, limit: SWEEP_PAGE_SIZE });
      await this.#pauseAfterStep(clock.monotonic() - startedAt);
      after = tasks.at(-1) ?? after;
      yield { due: tasks.filter((task) => isSubjectToRule(task, rule)), last: tasks.at(-1) };
      if (tasks.length < SWEEP_PAGE_SIZE) return;
    }
  }

  /**
   * Counts the tasks that are due by the wall clock, but not by the trusted time. Resolves with `undefined` if there are
   * none, or if an observer has received the count.
   */
  async #findDelayedDeletions(time: TrustedTime): Promise<DelayedDeletions | undefined> {
    const { aheadMs } = time;
    if (aheadMs === this.#reportedAheadMs || aheadMs === 0) {
      this.#reportedAheadMs = aheadMs;
      return undefined;
    }
    const getEnd = ({ keepMs }: RetentionRule): string => formatTimestamp(time.wallMs - keepMs);
    const counts = { endedTasks: 0, waitingTasks: 0, trimmedTasks: 0 };
    for (const rule of this.#rules) {
      const kind = rule.deletes === "events" ? "trimmedTasks" : (`${rule.status}Tasks` as const);
      // The events of tasks that another rule deletes do not count again.
      const isCounted = (task: DeletableTask): boolean =>
        kind === "trimmedTasks" &&
        this.#rules.some(
          (other) =>
            other.deletes === "task" &&
            other.status === "ended" &&
            isSubjectToRule(task, other) &&
            task.timestamp < getEnd(other),
        );
      for await (const { due } of this.#listDueTasks(rule, getEnd(rule), this.#cursors.get(rule)))
        counts[kind] += due.filter((task) => !isCounted(task)).length;
    }
    if (counts.endedTasks + counts.waitingTasks + counts.trimmedTasks === 0) return undefined;
    this.#reportedAheadMs = aheadMs;
    const delayMs =
      Math.max(...this.#rules.map(({ keepMs }) => getTrustDelay(time, keepMs))) - time.delayedMs;
    return { ...counts, clockAheadMs: aheadMs, delayMs };
  }

  /** Deletes the oldest ended tasks while the store is too large. Resolves with true if no tasks are left. */
  async #deleteOldestAboveMaxBytes(totals: SweepTotals): Promise<boolean> {
    const { deletionStore, retention } = this.#context;
    if (retention === false || retention.maxBytes === undefined) return false;
    let after: DeletableTask | undefined;
    // Growing batches delete at most about twice as many tasks as necessary.
    for (let limit = 1; !this.#isClosed; limit = Math.min(2 * limit, MAX_TASKS_PER_SIZE_CHECK)) {
      await this.#repeatInSteps(() => deletionStore.deleteRemnants({ budgetMs: STEP_BUDGET_MS }));
      if ((await deletionStore.measureSize()).usedBytes <= retention.maxBytes) return false;
      const tasks = await deletionStore.listStoppedTasks({
        status: "ended",
        before: AFTER_ALL_TIMESTAMPS,
        after,
        limit,
      });
      after = tasks.at(-1);
      if (!after) return true;
      await this.#deleteTasks(
        tasks.filter(({ scope }) => canDeleteTasksOfAgent(retention, scope.agent)),
        totals,
      );
    }
    return false;
  }

  async #deleteTasks(tasks: readonly DeletableTask[], totals: SweepTotals): Promise<void> {
    totals.deletedTasks += await this.#deleteUnused(tasks, "deleteTasks");
  }

  /** Deletes the tasks, or their events, except tasks in use. Resolves with the number of completed tasks. */
  async #deleteUnused(
    tasks: readonly DeletableTask[],
    operation: "deleteTasks" | "deleteEvents",
  ): Promise<number> {
    const { deletionStore, isTaskInUse } = this.#context;
    const isInUse = ({ scope, taskId }: DeletableTask): boolean => isTaskInUse(scope, taskId);
    let completed = 0;
    await this.#runInSteps(tasks, async (rest) => {
      // The store has stopped before a task in use, or the first task of the list is in use.
      const [first] = rest;
      if (first && isInUse(first)) return 1;
      const count = await deletionStore[operation](rest, { budgetMs: STEP_BUDGET_MS, isInUse });
      completed += count;
      return count;
    });
    return completed;
  }

  /** Calls `step` with the remaining tasks until all tasks are done. `step` resolves with the number done. */
  async #runInSteps(
    tasks: readonly DeletableTask[],
    step: (rest: readonly DeletableTask[]) => Promise<number>,
  ): Promise<void> {
    for (let rest = tasks; rest.length > 0 && !this.#isClosed;) {
      const startedAt = this.#context.clock.monotonic();
      rest = rest.slice(await step(rest));
      await this.#pauseAfterStep(this.#context.clock.monotonic() - startedAt);
    }
  }

  async #reclaimSpace({ all }: { all: boolean }): Promise<void> {
    const { deletionStore } = this.#context;
    await this.#repeatInSteps(() => deletionStore.deleteRemnants({ budgetMs: STEP_BUDGET_MS }));
    await this.#repeatInSteps(() => deletionStore.returnFreeSpace({ budgetMs: STEP_BUDGET_MS, all }));
  }

  /** Calls `step` until `step` resolves with false. */
  async #repeatInSteps(step: () => Promise<boolean>): Promise<void> {
    for (let hasMore = true; hasMore && !this.#isClosed;) {
      const startedAt = this.#context.clock.monotonic();
      hasMore = await step();
      await this.#pauseAfterStep(this.#context.clock.monotonic() - startedAt);
    }
  }

  async #pauseAfterStep(stepMs: number): Promise<void> {
    const pauseMs = Math.min(MAX_PAUSE_MS, stepMs * PAUSE_PER_STEP_DURATION);
    await new Promise<void>((resolve) => {
      if (pauseMs < MIN_TIMER_PAUSE_MS || this.#isClosed) {
        this.#context.clock.scheduleTurn(resolve);
        return;
      }
      const cancel = this.#context.clock.schedule(pauseMs, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }
}

function isSubjectToRule(task: DeletableTask, rule: RetentionRule): boolean {
  if (!rule.appliesToAgent(task.scope.agent)) return false;
  return rule.deletes === "task" || (task.hasEvents && !task.hasPendingWebhooks);
}
