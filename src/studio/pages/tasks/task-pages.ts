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
