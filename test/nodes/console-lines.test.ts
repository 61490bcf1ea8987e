import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConsoleTestServer, readTestLines } from "../../src/console/console.fixture.ts";
import type { ConsoleTaskList } from "../../src/console/index.ts";
import {
  completedTestEvent,
  createTestChunkEvent,
  workingTestEvent,
} from "../../src/engine/engine.fixture.ts";
import { PostgresStore } from "../../src/stores/index.ts";
import type { TrafficLine } from "../../src/trace/index.ts";
import { findTestDatabase } from "../find-test-postgres.ts";
import { NodeTestAgent, startTestNode, type TestNode } from "./node-pair.ts";

const { url, reason } = await findTestDatabase();

/** Collects the event lines of a console page until `count` events of a task have arrived. */
async function collectEventLines(
  lines: AsyncIterator<TrafficLine, unknown>,
  taskId: string,
  count: number,
): Promise<number[]> {
  const seqs = new Set<number>();
  while (seqs.size < count) {
    const { value: line, done } = await lines.next();
    if (done) break;
    if (line.kind === "event" && line.task_id === taskId) seqs.add(line.log_seq);
  }
  return [...seqs];
}

describe.skipIf(reason)("the console of a server", () => {
  let console: ConsoleTestServer;
  let store: PostgresStore;
  let other: TestNode;
  const abort = new AbortController();

  beforeAll(async () => {
    store = new PostgresStore(url, { leaseMs: 6000, poolSize: 4 });
    console = await ConsoleTestServer.start({ puppet: new NodeTestAgent({}) }, { store });
    other = await startTestNode(url);
  });
  afterAll(async () => {
    abort.abort();
    await console.close();
    await other.server.close({ graceMs: 0 });
  });

  it("shows the tasks and the events of another server live [E21]", async () => {
    await expect.poll(() => other.store.nodes.hasOtherNodes && store.hints?.isReceiving).toBe(true);
    const response = await console.request("GET lines", { signal: abort.signal });
    const lines = readTestLines(response);
    const result = await other.client.send("go", { configuration: { returnImmediately: true } });
    const taskId = "task" in result ? (result.task?.id ?? "") : "";
    const run = await other.agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("a", false));
    expect(await collectEventLines(lines, taskId, 3)).toEqual([1, 2, 3]);
    run.emit(createTestChunkEvent("b"), completedTestEvent).end();
    expect(await collectEventLines(lines, taskId, 2)).toEqual([4, 5]);
    const { tasks } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect(tasks).toMatchObject([{ agent: "puppet", id: taskId, state: "TASK_STATE_COMPLETED" }]);
  });
});
