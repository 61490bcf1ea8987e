import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../../../observe/trace/index.ts";
import type { ConsoleTaskSummary } from "../../console-api/index.ts";
import { appendTaskPage, formatTaskKey, nestTaskRows, refreshTaskRows, type TaskRows } from "./task-pages.ts";

const createRow = (id: number, updatedAt: number): ConsoleTaskSummary => ({
  agent: "a",
  id: String(id),
  contextId: "c",
  state: "TASK_STATE_WORKING",
  updatedAt: new Date(updatedAt).toISOString(),
  preview: "",
});

/** Lists tasks as a server does: newest first, in pages. */
function listPage(times: readonly number[], start: number, size: number): TaskRows {
  const rows = times
    .map((time, id) => createRow(id, time))
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
  const end = start + size;
  return { rows: rows.slice(start, end), nextPageToken: end < rows.length ? String(end) : undefined };
}

describe("the rows of the task list", () => {
  it("contain each task once and newest first, however tasks change between pages and refreshes", () => {
    const changes = fc.array(fc.tuple(fc.nat(19), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 7 }),
        changes,
        (count, size, steps) => {
          const times = Array.from({ length: count }, (_, id) => id);
          let now = count;
          let list = listPage(times, 0, size);
          for (const [id, isRefresh] of steps) {
            if (id < count) times[id] = now++;
            if (isRefresh) list = refreshTaskRows(list, listPage(times, 0, size));
            else if (list.nextPageToken !== undefined)
              list = appendTaskPage(list, listPage(times, Number(list.nextPageToken), size));
          }
          list = refreshTaskRows(list, listPage(times, 0, size));
          const keys = list.rows.map(formatTaskKey);
          expect(new Set(keys).size).toBe(keys.length);
          expect(list.rows.slice(0, size)).toEqual(listPage(times, 0, size).rows);
        },
      ),
    );
  });

  it("are below the row of the task that started theirs, oldest first, also if tasks start each other", () => {
    const rows = [
      createRow(5, 50),
      { ...createRow(4, 40), parent: { id: "3" } },
      createRow(1, 30),
      { ...createRow(3, 25), parent: { id: "1" } },
      { ...createRow(2, 20), parent: { id: "1" } },
      { ...createRow(6, 10), parent: { id: "not listed" } },
      { ...createRow(7, 9), parent: { id: "8" } },
      { ...createRow(8, 8), parent: { id: "7" } },
    ];
    expect(nestTaskRows(rows).map(({ row, depth }) => `${"-".repeat(depth)}${row.id}`)).toEqual([
      "5",
      "1",
      "-2",
      "-3",
      "--4",
      "6",
      "7",
      "-8",
    ]);
  });

  it("add the usage of the tasks below them, and have none without a model call", () => {
    const usage = { ...NO_USAGE, calls: 1, inputTokens: 100, outputTokens: 10 };
    const rows = [
      createRow(1, 30),
      { ...createRow(2, 25), parent: { id: "1" }, usage },
      { ...createRow(3, 20), parent: { id: "2" }, usage },
      createRow(4, 10),
    ];
    expect(nestTaskRows(rows).map(({ row, totalUsage }) => [row.id, totalUsage?.inputTokens])).toEqual([
      ["1", 200],
      ["2", 200],
      ["3", 100],
      ["4", undefined],
    ]);
  });
});
