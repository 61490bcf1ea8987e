import type { SqlDatabase, SqlValue, SqlStatement } from "./sql-database.ts";
import type {
  DeletableTask,
  StoppedTaskQuery,
  StoreSize,
  TaskDeletionOptions,
  TaskSelector,
} from "../../engine/index.ts";
import { isInterrupted, isTerminal, TASK_STATES, type TaskState } from "../../protocol/index.ts";
import { deleteInOrder } from "../delete-in-order.ts";
import { buildUnionSql } from "./build-union-sql.ts";
import { measureDatabaseSize, readPragma } from "./database-size.ts";
import type { SnapshotTable } from "./snapshot-table.ts";
import { decodeState, decodeTime, encodeState, encodeTime } from "./status-columns.ts";
import type { TaskCountTable } from "./task-count-table.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import type { TaskWriter } from "./task-writer.ts";
import { COMMIT_CHECKPOINT_PAGES } from "./wal-checkpoint-pages.ts";

/**
 * Maximum size of a snapshot and of the later events that the store folds into a new snapshot. Folding larger
 * tasks would block the event loop, so their events after the snapshot are kept.
 */
const MAX_FOLDED_SIZE = 256 * 1024;
/** Number of log rows that one statement deletes. A log row contains at most about 256 KB. */
const LOG_ROWS_PER_STATEMENT = 16;
const PAGES_PER_VACUUM_STATEMENT = 16;
/** Share of free pages that the store keeps for new data, and the number of pages that it always keeps. */
const KEPT_FREE_SHARE = 0.1;
const MIN_KEPT_FREE_PAGES = 256;
const AUTO_VACUUM_INCREMENTAL = 2;

const STATES: Record<StoppedTaskQuery["status"], readonly TaskState[]> = {
  ended: TASK_STATES.filter(isTerminal),
  waiting: TASK_STATES.filter(isInterrupted),
};

const SELECT_DELETABLE_TASKS = `
  SELECT task.key AS key, tenant, principal, agent, task_id AS taskId, state, task.timestamp AS timestamp,
    EXISTS (SELECT 1 FROM log WHERE log.task = task.key) AS hasEvents,
    EXISTS (SELECT 1 FROM push WHERE push.task = task.key AND push.owing = 1) AS hasPendingWebhooks`;

interface DeletableTaskRow extends Pick<DeletableTask, "key" | "taskId"> {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly state: number;
  readonly timestamp: number;
  readonly hasEvents: number;
  readonly hasPendingWebhooks: number;
}

interface SnapshotCoverageRow {
  readonly seq: number;
  readonly coveredSeq: number;
  /** Size of the snapshot in bytes of JSON. */
  readonly size: number;
  readonly firstReferencedSeq: number | null;
}

/** Deletes tasks and events, and returns free pages to the file system. */
export class TaskDeleter {
  readonly #db: SqlDatabase;
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #snapshotTable: SnapshotTable;
  readonly #writer: TaskWriter;
  readonly #taskCounts: TaskCountTable;
  readonly #selectStopped: Record<StoppedTaskQuery["status"], SqlStatement>;
  readonly #selectCoverage: SqlStatement;
  readonly #selectTailSize: SqlStatement;
  readonly #deleteCoveredRows: SqlStatement;
  readonly #deleteLogRows: SqlStatement;
  readonly #deleteRestOfTask: readonly SqlStatement[];
  readonly #deleteTask: SqlStatement;
  readonly #insertRemnant: SqlStatement;
  readonly #selectRemnant: SqlStatement;
  readonly #deleteRemnant: SqlStatement;

  constructor(
    db: SqlDatabase,
    {
      scopeTable,
      snapshotTable,
      writer,
      taskCounts,
    }: {
      readonly scopeTable: TaskOwnerScopeTable;
      readonly snapshotTable: SnapshotTable;
      readonly writer: TaskWriter;
      readonly taskCounts: TaskCountTable;
    },
  ) {
    this.#db = db;
    this.#scopeTable = scopeTable;
    this.#snapshotTable = snapshotTable;
    this.#writer = writer;
    this.#taskCounts = taskCounts;
    const selectStopped = (status: StoppedTaskQuery["status"]): SqlStatement =>
      db.prepare(buildStoppedTasksSql(status, db.maxUnionTerms));
    this.#selectStopped = { ended: selectStopped("ended"), waiting: selectStopped("waiting") };
    this.#selectCoverage = db.prepare(
      `SELECT task.seq AS seq, coalesce(snapshot.seq, 0) AS coveredSeq, coalesce(octet_length(snapshot.json), 0) AS size,
         first_referenced_seq AS firstReferencedSeq
       FROM task LEFT JOIN snapshot ON snapshot.task = task.key WHERE task.key = ?`,
    );
    this.#selectTailSize = db.prepare(
      "SELECT coalesce(sum(length(lines)), 0) AS size FROM log WHERE task = ? AND seq > ?",
    );
    const deleteOldestRows = (condition: string): SqlStatement =>
      db.prepare(
        `DELETE FROM log WHERE rowid IN (
           SELECT rowid FROM log WHERE task = ? ${condition} ORDER BY seq LIMIT ${LOG_ROWS_PER_STATEMENT})`,
      );
    this.#deleteCoveredRows = deleteOldestRows("AND seq <= ?");
    this.#deleteLogRows = deleteOldestRows("");
    this.#deleteRestOfTask = ["snapshot", "turn", "finished_step", "queued_turn", "push", "message"].map(
      (table) => db.prepare(`DELETE FROM ${table} WHERE task = ?`),
    );
    this.#deleteTask = db.prepare("DELETE FROM task WHERE key = ? RETURNING scope, state");
    this.#insertRemnant = db.prepare("INSERT INTO deleted_task (key) VALUES (?)");
    this.#selectRemnant = db.prepare("SELECT key FROM deleted_task LIMIT 1");
    this.#deleteRemnant = db.prepare("DELETE FROM deleted_task WHERE key = ?");
  }

  listStoppedTasks({ status, before, after, limit }: StoppedTaskQuery): DeletableTask[] {
    const rows = this.#selectStopped[status].all({
      $before: encodeTime(before),
      $afterTimestamp: after ? encodeTime(after.timestamp) : 0,
      $afterKey: after?.key ?? 0,
      $limit: limit,
    });
    return rows.map((row) => decodeDeletableTaskRow(row as unknown as DeletableTaskRow));
  }

  findMatchingTasks(selector: TaskSelector, limit: number): DeletableTask[] {
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    function where(column: string, value: string | undefined): void {
      if (value === undefined) return;
      conditions.push(`${column} = ?`);
      values.push(value);
    }
    where("task_id", selector.taskId);
    where("context_id", selector.contextId);
    where("principal", selector.principal);
    where("tenant", selector.tenant);
    where("agent", selector.agent);
    // CROSS JOIN makes SQLite look up the task in each scope, because no index begins with the task id.
    const rows = this.#db
      .prepare(
        `${SELECT_DELETABLE_TASKS} FROM scope CROSS JOIN task ON task.scope = scope.key
         WHERE ${conditions.join(" AND ")} LIMIT ?`,
      )
      .all(...values, limit);
    return rows.map((row) => decodeDeletableTaskRow(row as unknown as DeletableTaskRow));
  }

  /** Deletes events. Call `deleteEvents` only within a transaction. */
  deleteEvents(tasks: readonly DeletableTask[], options: TaskDeletionOptions): number {
    return deleteInOrder(tasks, options, ({ key }, isTimeUp) => {
      const coveredSeq = this.#coverEventsBySnapshot(key);
      while (this.#deleteCoveredRows.run(key, coveredSeq).changes === LOG_ROWS_PER_STATEMENT)
        if (isTimeUp()) return false;
      return true;
    });
  }

  /**
   * Deletes tasks. Of a long log, `deleteTasks` deletes only the first rows, and `deleteRemnants` deletes the
   * others. Call `deleteTasks` only within a transaction.
   */
  deleteTasks(tasks: readonly DeletableTask[], options: TaskDeletionOptions): number {
    return deleteInOrder(tasks, options, ({ key, scope, taskId }) => {
      for (const statement of this.#deleteRestOfTask) statement.run(key);
      const deleted = this.#deleteTask.get(key) as { scope: number; state: number } | undefined;
      if (deleted) this.#taskCounts.moveTask(deleted.scope, decodeState(deleted.state), undefined);
      if (this.#deleteLogRows.run(key).changes === LOG_ROWS_PER_STATEMENT) this.#insertRemnant.run(key);
      const scopeKey = this.#scopeTable.findKey(scope);
      if (scopeKey === undefined) return true;
      this.#writer.forgetTask(scopeKey, taskId);
      if (this.#scopeTable.deleteIfUnused(scopeKey, scope)) this.#taskCounts.deleteScope(scopeKey);
      return true;
    });
  }

  /**
   * Deletes log rows of deleted tasks. Returns true if more rows remain. Call `deleteRemnants` only within a
   * transaction.
   */
  deleteRemnants({ budgetMs }: TaskDeletionOptions): boolean {
    const deadline = performance.now() + budgetMs;
    for (;;) {
      const key = this.#selectRemnant.get()?.["key"] as number | undefined;
      if (key === undefined) return false;
      while (this.#deleteLogRows.run(key).changes === LOG_ROWS_PER_STATEMENT)
        if (performance.now() >= deadline) return true;
      this.#deleteRemnant.run(key);
    }
  }

  /** Overwrites deleted content with zeros while `isOn` is true. */
  setOverwrite(isOn: boolean): void {
    this.#db.exec(`PRAGMA secure_delete = ${isOn ? "ON" : "FAST"}`);
  }

  /**
   * Sets the size of the write-ahead log at which a commit starts a checkpoint. While the server commits
   * events, these commits run the checkpoints, so that a deletion does not take longer because of a checkpoint.
   */
  setCheckpointInterval(during: "deleting" | "committing"): void {
    const pages = during === "deleting" ? 3 * COMMIT_CHECKPOINT_PAGES : COMMIT_CHECKPOINT_PAGES;
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  measureSize(): StoreSize {
    return measureDatabaseSize(this.#db);
  }

  /**
   * Removes free pages from the file. Returns true if more pages can be removed. Call `returnFreeSpace` only
   * within a transaction.
   */
  returnFreeSpace({ budgetMs, all }: { readonly budgetMs: number; readonly all: boolean }): boolean {
    // An application can have created the file with its own tables.
    if (readPragma(this.#db, "auto_vacuum") !== AUTO_VACUUM_INCREMENTAL) return false;
    const pages = readPragma(this.#db, "page_count");
    const kept = all ? 0 : Math.max(MIN_KEPT_FREE_PAGES, Math.floor(pages * KEPT_FREE_SHARE));
    const deadline = performance.now() + budgetMs;
    for (;;) {
      const surplus = readPragma(this.#db, "freelist_count") - kept;
      if (surplus <= 0) return false;
      if (performance.now() >= deadline) return true;
      this.#db.exec(`PRAGMA incremental_vacuum(${Math.min(surplus, PAGES_PER_VACUUM_STATEMENT)})`);
    }
  }

  /**
   * Returns the sequence number up to which the store does not need the events of the task. If the newest
   * events are small, `#coverEventsBySnapshot` first writes a snapshot that contains all events. Events from
   * the first referenced event on are kept until the task is deleted.
   */
  #coverEventsBySnapshot(key: number): number {
    const row = this.#selectCoverage.get(key) as SnapshotCoverageRow | undefined;
    if (!row) return 0;
    const { seq, coveredSeq, size, firstReferencedSeq } = row;
    if (firstReferencedSeq !== null) return firstReferencedSeq - 1;
    const tailSize = this.#selectTailSize.get(key, coveredSeq)?.["size"] as number;
    if (coveredSeq === seq || size + tailSize > MAX_FOLDED_SIZE) return coveredSeq;
    this.#snapshotTable.upsert(key, seq, this.#snapshotTable.restoreTask(key).task);
    return seq;
  }
}

/**
 * Builds the query for the oldest tasks in some states. SQLite merges one range of `task_stopped` per state with the few
 * tasks whose turn has not ended.
 */
export function buildStoppedTasksSql(status: StoppedTaskQuery["status"], maxUnionTerms?: number): string {
  const states = STATES[status].map(encodeState);
  const ranges = [
    ...states.map((state) => `task_stopped WHERE running = 0 AND state = ${state}`),
    `task_running WHERE running = 1 AND state IN (${states.join(", ")})`,
  ].map(
    (source) =>
      `SELECT key, timestamp FROM task INDEXED BY ${source}
       AND timestamp < $before AND (timestamp, key) > ($afterTimestamp, $afterKey)`,
  );
  return `${SELECT_DELETABLE_TASKS}
    FROM (${buildUnionSql(ranges, "ORDER BY timestamp, key LIMIT $limit", maxUnionTerms)}) AS page
      JOIN task ON task.key = page.key JOIN scope ON scope.key = task.scope
    ORDER BY task.timestamp, task.key`;
}

function decodeDeletableTaskRow({
  tenant,
  principal,
  agent,
  state,
  timestamp,
  hasEvents,
  hasPendingWebhooks,
  ...row
}: DeletableTaskRow): DeletableTask {
  return {
    ...row,
    scope: { tenant, principal, agent },
    state: decodeState(state),
    timestamp: decodeTime(timestamp),
    hasEvents: hasEvents === 1,
    hasPendingWebhooks: hasPendingWebhooks === 1,
  };
}
