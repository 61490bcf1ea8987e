import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ConsoleTestServer,
  findTestTaskId,
  readTestLines,
} from "../../../src/studio/console/console.fixture.ts";
import type { ConsoleTaskList } from "../../../src/studio/console/index.ts";
import {
  completedTestEvent,
  createTestChunkEvent,
  workingTestEvent,
} from "../../../src/engine/engine.fixture.ts";
import { bearer } from "../../../src/server/auth/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import type { TrafficLine } from "../../../src/observe/trace/index.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { NodeTestAgent, startTestNode, type TestNode } from "./node-pair.ts";

const { url, reason } = await findTestDatabase();

/** Yields lines, and adds the event lines to a list as `TASK/SEQUENCE_NUMBER`. */
async function* listEventLines(
  lines: AsyncIterable<TrafficLine>,
  names: string[],
): AsyncGenerator<TrafficLine> {
  for await (const line of lines) {
    if (line.kind === "event") names.push(`${line.task_id}/${line.log_seq}`);
    yield line;
  }
}

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

describe.skipIf(reason).for([
  { hints: true, means: "hints" },
  { hints: false, means: "polls of an operator's server" },
])("the console of a server, with $means", ({ hints }) => {
  let console: ConsoleTestServer;
  let store: PostgresStore;
  let own: NodeTestAgent;
  let other: TestNode;
  const abort = new AbortController();

  beforeAll(async () => {
    store = new PostgresStore(url, { leaseMs: 6000, poolSize: 4, hints });
    own = new NodeTestAgent({});
    const operator = hints
      ? {}
      : { operator: { authenticate: bearer({ tokens: { "token-of-the-operator-olga": "olga" } }) } };
    console = await ConsoleTestServer.start({ puppet: own }, { store, ...operator });
    other = await startTestNode(url, {}, { hints });
  });
  afterAll(async () => {
    abort.abort();
    await console.close();
    await other.server.close({ graceMs: 0 });
  });

  it("shows the tasks and the events of another server live [E21]", async () => {
    await expect.poll(() => store.nodes.hasOtherNodes && other.store.nodes.hasOtherNodes).toBe(true);
    if (hints) await expect.poll(() => store.nodes.hints?.isReceiving).toBe(true);
    const response = await console.request("GET lines", { signal: abort.signal });
    const names: string[] = [];
    const lines = listEventLines(readTestLines(response), names);
    const ownTurn = console.send("puppet", "own");
    (await own.waitForRun(0)).emit(completedTestEvent).end();
    const ownTaskId = findTestTaskId(await ownTurn);
    const result = await other.client.send("go", { configuration: { returnImmediately: true } });
    const taskId = "task" in result ? (result.task?.id ?? "") : "";
    const run = await other.agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("a", false));
    expect(await collectEventLines(lines, taskId, 3)).toEqual([1, 2, 3]);
    run.emit(createTestChunkEvent("b"), completedTestEvent).end();
    expect(await collectEventLines(lines, taskId, 2)).toEqual([4, 5]);
    expect(names.filter((name) => name.startsWith(ownTaskId))).toEqual([`${ownTaskId}/1`, `${ownTaskId}/2`]);
    const { tasks } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect(tasks).toContainEqual(
      expect.objectContaining({ agent: "puppet", id: taskId, state: "TASK_STATE_COMPLETED" }),
    );
  });
});
