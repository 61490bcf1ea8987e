import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  getTestResponseTask,
  inputRequiredTestEvent,
  type EngineFixture,
} from "../../engine/engine.fixture.ts";
import type { AgentEvent } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";
import { SqliteStore } from "./sqlite-store.ts";

const CHUNK_SIZE = 64 * 1024;
const CHUNK_COUNT = 320;
const CONTENT_SIZE = CHUNK_SIZE * CHUNK_COUNT;
const scope = createTestTaskScopeForCaller(alice);

describe("an artifact of 20 MB in chunks of 64 KB", () => {
  let folder: string;
  let path: string;
  let store: SqliteStore;
  let fixture: EngineFixture;
  let largestWalSize: number;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-large-"));
    path = join(folder, "tasks.db");
    largestWalSize = 0;
    await openStore();
  });

  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  async function openStore(): Promise<void> {
    store = new SqliteStore(path);
    await store.open();
    const observer = {
      onEvent: () => {
        largestWalSize = Math.max(largestWalSize, statSync(`${path}-wal`).size);
      },
    };
    fixture = createEngineFixture({ store, observer });
  }

  /** Runs a turn whose agent emits the chunks from `first` on and then `last`. */
  async function runTurn(chunks: readonly AgentEvent[], last: AgentEvent, taskId?: string): Promise<Task> {
    const request = createTestSendMessageRequest("go", taskId ? { taskId } : {});
    const answer = fixture.engine.sendMessage(request, alice);
    const run = await fixture.agent.waitForRun(fixture.agent.runs.length);
    run.emit(...chunks, last).end();
    return getTestResponseTask(await answer);
  }

  const createChunks = (count: number, isFirstTurn: boolean): AgentEvent[] =>
    Array.from({ length: count }, (_, at) =>
      createTestChunkEvent(String.fromCharCode(97 + (at % 26)).repeat(CHUNK_SIZE), !isFirstTurn || at > 0),
    );

  it("is stored once, in the log, and every reader receives all of it", async () => {
    const task = await runTurn(createChunks(CHUNK_COUNT, true), completedTestEvent);
    const { json } = store.getDatabase().prepare("SELECT json FROM snapshot").get() as { json: string };
    expect(json.length).toBeLessThan(2000);
    // The checkpoints are short, because each one copies only a few megabytes.
    expect(largestWalSize).toBeGreaterThan(0);
    expect(largestWalSize).toBeLessThan(6 * 2 ** 20);
    await store.close();
    expect(statSync(path).size).toBeLessThan(1.1 * CONTENT_SIZE);
    await openStore();
    const [part] = (await store.load(scope, task.id))?.task.artifacts?.[0]?.parts ?? [];
    expect(part && "text" in part && part.text.length).toBe(CONTENT_SIZE);
    expect(await fixture.engine.getTask({ id: task.id }, alice)).toEqual(task);
    const list = await fixture.engine.listTasks({ includeArtifacts: true }, alice);
    expect(list.tasks[0]?.artifacts).toEqual(task.artifacts);
  });

  it("remains in the log if later turns and other server processes extend it", async () => {
    const { id } = await runTurn(createChunks(40, true), inputRequiredTestEvent);
    for (let turn = 0; turn < 3; turn++) {
      await store.close();
      await openStore();
      await runTurn(createChunks(40, false), inputRequiredTestEvent, id);
    }
    const { size } = store.getDatabase().prepare("SELECT length(json) AS size FROM snapshot").get() as {
      size: number;
    };
    expect(size).toBeLessThan(4000);
    const [part] = (await store.load(scope, id))?.task.artifacts?.[0]?.parts ?? [];
    expect(part && "text" in part && part.text.length).toBe(160 * CHUNK_SIZE);
  });
});
