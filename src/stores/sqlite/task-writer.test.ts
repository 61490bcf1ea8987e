import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TaskState } from "../../protocol/index.ts";
import {
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { commitTestAppendExpectingSuccess } from "../task-store.contract.ts";
import { countLoggedPages, emptyTestLog } from "./logged-pages.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

describe("an append that does not change the status", () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-writer-"));
  const store = new SqliteStore(join(folder, "tasks.db"));

  beforeAll(() => store.open());

  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** Stores a task, and returns the index entries of the task that a chunk rewrites. */
  async function listIndexesThatChunkChanges(
    id: string,
    state: TaskState,
    hasRunningTurn: boolean,
  ): Promise<string[]> {
    const log = [createTestSubmittedTaskEvent(id), createTestStatusEvent(id, state, 1)];
    const begun = createTestLogAppend(id, 0, log, { hasRunningTurn });
    await commitTestAppendExpectingSuccess(store, begun);
    emptyTestLog(store.getDatabase());
    const chunk = createTestLogAppend(id, 2, [createTestChunkEvent(id, "x")], { status: begun.status });
    await commitTestAppendExpectingSuccess(store, chunk);
    return [...countLoggedPages(store.getDatabase()).keys()].filter((tree) => /^task_|_task_/.test(tree));
  }

  it("rewrites no index entry of its task while a turn runs", async () => {
    expect(await listIndexesThatChunkChanges("t", "TASK_STATE_WORKING", true)).toEqual([]);
  });

  it("rewrites no index entry of its task without a turn", async () => {
    expect(await listIndexesThatChunkChanges("u", "TASK_STATE_INPUT_REQUIRED", false)).toEqual([]);
  });
});
