import { addUsage, NO_USAGE, type TokenUsage } from "../../../observe/trace/index.ts";
import type { ConsoleTaskSummary } from "../../console-api/index.ts";

/** The loaded rows of the task list, newest first. */
export interface TaskRows {
  readonly rows: readonly ConsoleTaskSummary[];
  /** Token of the page after the last row, or `undefined` after the last page. */
  readonly nextPageToken: string | undefined;
}

/** Identifies a row. Ids of tasks are unique only within their agent. */
export function formatTaskKey({ agent, id }: Pick<ConsoleTaskSummary, "agent" | "id">): string {
  return `${agent}/${id}`;
}

/** Adds a page behind the rows. A task that moved up since the last page keeps its first row. */
export function appendTaskPage({ rows }: TaskRows, page: TaskRows): TaskRows {
  const known = new Set(rows.map(formatTaskKey));
  return {
    rows: [...rows, ...page.rows.filter((row) => !known.has(formatTaskKey(row)))],
    nextPageToken: page.nextPageToken,
  };
}

/**
 * Replaces the start of the rows by a fresh first page. Rows behind the first page stay, unless the fresh page contains
 * their task. A row that is newer than the last row of a complete fresh page no longer matches the filter.
 */
export function refreshTaskRows(current: TaskRows, fresh: TaskRows): TaskRows {
  const last = fresh.rows.at(-1);
  if (fresh.nextPageToken === undefined || last === undefined) return fresh;
  const known = new Set(fresh.rows.map(formatTaskKey));
  const older = current.rows.filter(
    (row) => !known.has(formatTaskKey(row)) && row.updatedAt <= last.updatedAt,
  );
  if (older.length === 0) return fresh;
  return { rows: [...fresh.rows, ...older], nextPageToken: current.nextPageToken };
}

/** A row, and the number of tasks above it that led to its task. */
export interface NestedTaskRow {
  readonly row: ConsoleTaskSummary;
  readonly depth: number;
  /** The row of the task that started this task. */
  readonly parent?: ConsoleTaskSummary;
  /** Usage of the task and of the rows below it that it led to. Missing without a model call. */
  readonly totalUsage: TokenUsage | undefined;
}

/** Puts each task below the task that started it, oldest first. Tasks without a listed caller keep their order. */
export function nestTaskRows(rows: readonly ConsoleTaskSummary[]): NestedTaskRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const children = Map.groupBy(rows, ({ parent }) => byId.get(parent?.id ?? ""));
  const nested = new Map<ConsoleTaskSummary, Omit<NestedTaskRow, "totalUsage">>();
  // Damaged lines can state tasks that start each other, which have no first task.
  for (const root of [...(children.get(undefined) ?? []), ...rows]) {
    const open: Omit<NestedTaskRow, "totalUsage">[] = [{ row: root, depth: 0 }];
    for (let next = open.pop(); next; next = open.pop()) {
      const { row: parent, depth } = next;
      if (nested.has(parent)) continue;
      nested.set(parent, next);
      // The list has the newest task first, and the last open row is next.
      for (const row of children.get(parent) ?? []) open.push({ row, depth: depth + 1, parent });
    }
  }
  const totals = new Map<ConsoleTaskSummary, TokenUsage>();
  const addTotal = (row: ConsoleTaskSummary, usage: TokenUsage = NO_USAGE): void => {
    if (usage.calls > 0) totals.set(row, addUsage(totals.get(row) ?? NO_USAGE, usage));
  };
  // A row is after its parent.
  for (const { row, parent } of [...nested.values()].toReversed()) {
    addTotal(row, row.usage);
    if (parent) addTotal(parent, totals.get(row));
  }
  return [...nested.values()].map((one) => ({ ...one, totalUsage: totals.get(one.row) }));
}
