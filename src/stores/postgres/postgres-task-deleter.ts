import { randomInt } from "node:crypto";
import type {
  DeletableTask,
  StoppedTaskQuery,
  StoreSize,
  SweepClockStore,
  TaskDeletionOptions,
  TaskDeletionStore,
  TaskSelector,
} from "../task-deletion-store.ts";
import { decodeDeletableTask } from "../stored-rows.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import type { PostgresTaskReader } from "./postgres-task-reader.ts";
import { SIZE_SHARD_COUNT } from "./schema.ts";
import * as statements from "./statements/deletion.ts";

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
      await this.#connection.query(statements.WRITE_SWEEP_CLOCK, [...times, wasSetBack]);
    },
  };

  constructor(connection: PostgresConnection, reader: PostgresTaskReader) {
    this.#connection = connection;
    this.#reader = reader;
  }

  async listStoppedTasks({ status, before, after, limit }: StoppedTaskQuery): Promise<DeletableTask[]> {
    const statement = status === "ended" ? statements.LIST_ENDED_TASKS : statements.LIST_WAITING_TASKS;
    const parameters = [before, after?.timestamp ?? "", after?.key ?? 0, limit] as const;
    return (await this.#connection.query(statement, parameters)).map(decodeDeletableTask);
  }

  async findMatchingTasks(selector: TaskSelector, limit: number): Promise<DeletableTask[]> {
    const { taskId, contextId, principal, tenant, agent } = selector;
    const values = { task_id: taskId, context_id: contextId, principal, tenant, agent };
    const selected = Object.entries(values).flatMap(([column, value]) =>
      value === undefined ? [] : [{ column: column as keyof typeof values, value }],
    );
    const statement = statements.createMatchingTasksStatement(selected.map(({ column }) => column));
    const rows = await this.#connection.query(statement, [...selected.map(({ value }) => value), limit]);
    return rows.map(decodeDeletableTask);
  }

  /** Deletes the events of one task. */
  async deleteEvents(
    [task]: readonly DeletableTask[],
    { budgetMs, isInUse }: TaskDeletionOptions,
  ): Promise<number> {
    const deadline = performance.now() + budgetMs;
    if (!task || isInUse?.(task)) return 0;
    return (await this.#deleteLogRows(task.key, await this.#coverEventsBySnapshot(task), deadline)) ? 1 : 0;
  }

  /**
   * Deletes the first tasks with one statement. A task that has changed since it was listed is kept, because a request
   * uses it, except for an erasure.
   */
  async deleteTasks(
    tasks: readonly DeletableTask[],
    { budgetMs, isInUse, overwrite = false }: TaskDeletionOptions,
  ): Promise<number> {
    const first = tasks.slice(0, budgetMs > 0 ? TASKS_PER_STATEMENT : 1);
    const used = first.findIndex((task) => isInUse?.(task));
    const unused = used === -1 ? first : first.slice(0, used);
    if (unused.length > 0)
      await this.#connection.query(statements.DELETE_TASKS, [
        unused.map(({ key }) => key),
        unused.map(({ state }) => state),
        unused.map(({ timestamp }) => timestamp),
        chooseSizeShard(),
        overwrite,
      ]);
    return unused.length;
  }

  /** Deletes the log rows of one deleted task. */
  async deleteRemnants({ budgetMs }: TaskDeletionOptions): Promise<boolean> {
    const deadline = performance.now() + budgetMs;
    const [remnant] = await this.#connection.query(statements.FIND_REMNANT, []);
    if (!remnant) return false;
    if (await this.#deleteLogRows(remnant.key, Number.MAX_SAFE_INTEGER, deadline))
      await this.#connection.query(statements.FORGET_REMNANT, [remnant.key]);
    return true;
  }

  async measureSize(): Promise<StoreSize> {
    const [row] = await this.#connection.query(statements.MEASURE_SIZE, []);
    return { usedBytes: row?.bytes ?? 0, freeBytes: 0 };
  }

  returnFreeSpace(): Promise<boolean> {
    return Promise.resolve(false);
  }

  flushDeletions(): Promise<void> {
    return Promise.resolve();
  }

  async #readSweepClock(): ReturnType<SweepClockStore["read"]> {
    const [row] = await this.#connection.query(statements.READ_SWEEP_CLOCK, []);
    if (!row) return { record: undefined };
    const { nowMs, wallMs, aheadMs, delayedMs, wasSetBack } = row;
    if (wallMs === null) return { record: undefined, wallMs: nowMs };
    const record = {
      wallMs,
      aheadMs: aheadMs ?? 0,
      delayedMs: delayedMs ?? 0,
      wasSetBack: wasSetBack ?? false,
    };
    return { record, wallMs: nowMs };
  }

  /** Deletes log rows, and resolves with false if the time was up before all rows were deleted. */
  async #deleteLogRows(key: number, throughSeq: number, deadline: number): Promise<boolean> {
    for (;;) {
      const parameters = [key, throughSeq, LOG_ROWS_PER_STATEMENT, chooseSizeShard()] as const;
      const [row] = await this.#connection.query(statements.DELETE_LOG_ROWS, parameters);
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
    const [row] = await this.#connection.query(statements.READ_EVENT_COVERAGE, [key]);
    if (!row) return 0;
    if (row.first_referenced_seq !== null) return row.first_referenced_seq - 1;
    if (row.covered_seq === row.seq || row.bytes > MAX_FOLDED_BYTES) return row.covered_seq;
    const stored = await this.#reader.load(scope, taskId);
    if (!stored) return 0;
    const parameters = [key, stored.seq, JSON.stringify(stored.task), chooseSizeShard()] as const;
    const covered = await this.#connection.query(statements.COVER_EVENTS, parameters);
    return covered.length > 0 ? stored.seq : row.covered_seq;
  }
}

function chooseSizeShard(): number {
  return randomInt(SIZE_SHARD_COUNT);
}
