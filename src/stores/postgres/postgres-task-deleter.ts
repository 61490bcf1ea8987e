import { randomInt } from "node:crypto";
import type {
  DeletableTask,
  StoppedTaskQuery,
  StoreSize,
  SweepClockRecord,
  SweepClockStore,
  TaskDeletionOptions,
  TaskDeletionStore,
  TaskSelector,
} from "../task-deletion-store.ts";
import type { TaskState } from "../../protocol/index.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { decodeScopeRow, type PostgresTaskReader } from "./postgres-task-reader.ts";
import { SIZE_SHARD_COUNT } from "./schema.ts";
import { COVER_EVENTS } from "./statements/cover-events.ts";
import { DELETE_LOG_ROWS } from "./statements/delete-log-rows.ts";
import { DELETE_TASKS } from "./statements/delete-tasks.ts";
import { MEASURE_SIZE } from "./statements/measure-size.ts";
import { READ_EVENT_COVERAGE } from "./statements/read-event-coverage.ts";
import { FIND_REMNANT, FORGET_REMNANT } from "./statements/remnants.ts";
import {
  createMatchingTasksStatement,
  LIST_ENDED_TASKS,
  LIST_WAITING_TASKS,
  type DeletableTaskRow,
  type SelectorColumn,
} from "./statements/select-deletable-tasks.ts";
import { READ_SWEEP_CLOCK, WRITE_SWEEP_CLOCK } from "./statements/sweep-clock.ts";

/** Maximum size of a snapshot and of the later events that the store folds into a new snapshot. */
const MAX_FOLDED_BYTES = 256 * 1024;
const LOG_ROWS_PER_STATEMENT = 64;
const TASKS_PER_STATEMENT = 64;

/**
 * Deletes tasks and events in short transactions. The deleted rows use space until the database vacuums its tables,
 * which PostgreSQL does on its own. A deletion therefore cannot overwrite content at once.
 */
export class PostgresTaskDeleter implements TaskDeletionStore {
  readonly #connection: PostgresConnection;
  readonly #reader: PostgresTaskReader;
  /** All nodes use the clock of the database. */
  readonly sweepClock: SweepClockStore = {
    read: () => this.#readSweepClock(),
    write: async ({ wallMs, aheadMs, delayedMs, wasSetBack }) => {
      const times = [Math.round(wallMs), Math.round(aheadMs), Math.round(delayedMs)] as const;
      await this.#connection.query(WRITE_SWEEP_CLOCK, [...times, wasSetBack]);
    },
  };

  constructor(connection: PostgresConnection, reader: PostgresTaskReader) {
    this.#connection = connection;
    this.#reader = reader;
  }

  async listStoppedTasks({ status, before, after, limit }: StoppedTaskQuery): Promise<DeletableTask[]> {
    const statement = status === "ended" ? LIST_ENDED_TASKS : LIST_WAITING_TASKS;
    const parameters = [before, after?.timestamp ?? "", after?.key ?? 0, limit] as const;
    return (await this.#connection.query(statement, parameters)).map(decodeDeletableTaskRow);
  }

  async findMatchingTasks(selector: TaskSelector, limit: number): Promise<DeletableTask[]> {
    const { taskId, contextId, principal, tenant, agent } = selector;
    const values: Readonly<Record<SelectorColumn, string | undefined>> = {
      task_id: taskId,
      context_id: contextId,
      principal,
      tenant,
      agent,
    };
    const selected = Object.entries(values).flatMap(([column, value]) =>
      value === undefined ? [] : [{ column: column as SelectorColumn, value: encodeIdentifier(value) }],
    );
    const statement = createMatchingTasksStatement(selected.map(({ column }) => column));
    const rows = await this.#connection.query(statement, [...selected.map(({ value }) => value), limit]);
    return rows.map(decodeDeletableTaskRow);
  }

  async deleteEvents(tasks: readonly DeletableTask[], options: TaskDeletionOptions): Promise<number> {
    const deadline = performance.now() + options.budgetMs;
    let completed = 0;
    for (const task of tasks) {
      if (options.isInUse?.(task)) break;
      const coveredSeq = await this.#coverEventsBySnapshot(task);
      if (!(await this.#deleteLogRows(task.key, coveredSeq, deadline))) break;
      completed++;
      if (performance.now() >= deadline) break;
    }
    return completed;
  }

  /** A task that has changed since it was listed is kept, because a request uses it, except for an erasure. */
  async deleteTasks(tasks: readonly DeletableTask[], options: TaskDeletionOptions): Promise<number> {
    const deadline = performance.now() + options.budgetMs;
    const tasksPerStatement = options.budgetMs > 0 ? TASKS_PER_STATEMENT : 1;
    let completed = 0;
    while (completed < tasks.length) {
      const next = tasks.slice(completed, completed + tasksPerStatement);
      const used = next.findIndex((task) => options.isInUse?.(task));
      const unused = used === -1 ? next : next.slice(0, used);
      if (unused.length > 0)
        await this.#connection.query(DELETE_TASKS, [
          unused.map(({ key }) => key),
          unused.map(({ state }) => state),
          unused.map(({ timestamp }) => timestamp),
          chooseSizeShard(),
          options.overwrite ?? false,
        ]);
      completed += unused.length;
      if (used !== -1 || performance.now() >= deadline) break;
    }
    return completed;
  }

  async deleteRemnants({ budgetMs }: TaskDeletionOptions): Promise<boolean> {
    const deadline = performance.now() + budgetMs;
    for (;;) {
      const [remnant] = await this.#connection.query(FIND_REMNANT, []);
      if (!remnant) return false;
      if (!(await this.#deleteLogRows(remnant.key, Number.MAX_SAFE_INTEGER, deadline))) return true;
      await this.#connection.query(FORGET_REMNANT, [remnant.key]);
    }
  }

  async measureSize(): Promise<StoreSize> {
    const [row] = await this.#connection.query(MEASURE_SIZE, []);
    return { usedBytes: row?.bytes ?? 0, freeBytes: 0 };
  }

  returnFreeSpace(): Promise<boolean> {
    return Promise.resolve(false);
  }

  flushDeletions(): Promise<void> {
    return Promise.resolve();
  }

  async #readSweepClock(): ReturnType<SweepClockStore["read"]> {
    const [row] = await this.#connection.query(READ_SWEEP_CLOCK, []);
    if (!row) return { record: undefined };
    const { now_ms: now, wall_ms: wallMs, ahead_ms: aheadMs, delayed_ms: delayedMs } = row;
    const record: SweepClockRecord | undefined =
      wallMs === null
        ? undefined
        : {
            wallMs,
            aheadMs: aheadMs ?? 0,
            delayedMs: delayedMs ?? 0,
            wasSetBack: row.was_set_back ?? false,
          };
    return { record, wallMs: now };
  }

  /** Deletes log rows, and resolves with false if the time was up before all rows were deleted. */
  async #deleteLogRows(key: number, throughSeq: number, deadline: number): Promise<boolean> {
    for (;;) {
      const parameters = [key, throughSeq, LOG_ROWS_PER_STATEMENT, chooseSizeShard()] as const;
      const [row] = await this.#connection.query(DELETE_LOG_ROWS, parameters);
      if ((row?.count ?? 0) < LOG_ROWS_PER_STATEMENT) return true;
      if (performance.now() >= deadline) return false;
    }
  }

  /**
   * Resolves with the sequence number up to which the store does not need the events of the task. If the newest
   * events are small, the method first stores a snapshot that contains all events. Events from the first referenced
   * event on are kept until the task is deleted.
   */
  async #coverEventsBySnapshot({ key, scope, taskId }: DeletableTask): Promise<number> {
    const [row] = await this.#connection.query(READ_EVENT_COVERAGE, [key]);
    if (!row) return 0;
    if (row.first_referenced_seq !== null) return row.first_referenced_seq - 1;
    if (row.covered_seq === row.seq || row.bytes > MAX_FOLDED_BYTES) return row.covered_seq;
    const stored = await this.#reader.load(scope, taskId);
    if (!stored) return 0;
    const parameters = [key, stored.seq, JSON.stringify(stored.task), chooseSizeShard()] as const;
    const covered = await this.#connection.query(COVER_EVENTS, parameters);
    return covered.length > 0 ? stored.seq : row.covered_seq;
  }
}

function chooseSizeShard(): number {
  return randomInt(SIZE_SHARD_COUNT);
}

function decodeDeletableTaskRow(row: DeletableTaskRow): DeletableTask {
  return {
    key: row.key,
    scope: decodeScopeRow(row),
    taskId: decodeIdentifier(row.task_id),
    state: row.state as TaskState,
    timestamp: row.status_time,
    hasEvents: row.has_events,
    hasPendingWebhooks: row.has_pending_webhooks,
  };
}
