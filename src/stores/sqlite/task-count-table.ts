import type { SqlStatements } from "./sql-database.ts";
import type { TaskState } from "../../protocol/index.ts";
import { decodeState, encodeState } from "./status-columns.ts";

const ADD_TO_COUNT_SQL = `INSERT INTO task_count (scope, state, count) VALUES (?, ?, ?)
  ON CONFLICT (scope, state) DO UPDATE SET count = count + excluded.count`;

/**
 * Numbers of tasks by scope and state. Counting the tasks themselves would take 40 ms for a million tasks. The
 * table collects the changes of a transaction in memory, so that a transaction of many appends updates each
 * number once.
 */
export class TaskCountTable {
  readonly #pendingChanges = new Map<number, Map<TaskState, number>>();
  readonly #sql: SqlStatements;

  constructor(sql: SqlStatements) {
    this.#sql = sql;
  }

  /** Returns the number of committed tasks of a scope by state, without the states that have no tasks. */
  countTasksByState(scope: number): Map<TaskState, number> {
    const rows = this.#sql.all<{ state: number; count: number }>(
      "SELECT state, count FROM task_count WHERE scope = ? AND count > 0",
      scope,
    );
    return new Map(rows.map(({ state, count }) => [decodeState(state), count]));
  }

  /** Counts a new task, a deleted task, or a task with a new state. A missing state means that there is no task. */
  moveTask(scope: number, from: TaskState | undefined, to: TaskState | undefined): void {
    if (from === to) return;
    let changes = this.#pendingChanges.get(scope);
    if (!changes) this.#pendingChanges.set(scope, (changes = new Map()));
    if (from) changes.set(from, (changes.get(from) ?? 0) - 1);
    if (to) changes.set(to, (changes.get(to) ?? 0) + 1);
  }

  /** Deletes the numbers of a scope without tasks. Call `deleteScope` only within a transaction. */
  deleteScope(scope: number): void {
    this.#pendingChanges.delete(scope);
    this.#sql.run("DELETE FROM task_count WHERE scope = ?", scope);
  }

  /** Writes the changes since the last transaction. Call `writeChanges` at the end of each transaction. */
  writeChanges(): void {
    if (this.#pendingChanges.size === 0) return;
    for (const [scope, changes] of this.#pendingChanges)
      for (const [state, change] of changes)
        if (change !== 0) this.#sql.run(ADD_TO_COUNT_SQL, scope, encodeState(state), change);
    this.#pendingChanges.clear();
  }

  /** Forgets the changes of a transaction that is rolled back. */
  discardChanges(): void {
    this.#pendingChanges.clear();
  }
}
