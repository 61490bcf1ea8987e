import { expect, it } from "vitest";
import { Committer, Engine } from "../../src/engine/index.ts";
import {
  alice,
  createTestSendMessageRequest,
  FakeClock,
  flushEventLoopForTest,
  getTestResponseTask,
  ScriptedAgent,
} from "../../src/engine/engine.fixture.ts";
import { SimulatedDatabase } from "./simulated-database.ts";
import { runStatementAtOnce, SimulatedStore } from "./simulated-store.ts";

const LEASE_MS = 3000;

/** Creates the engine of one node. */
async function openNode(
  database: SimulatedDatabase,
  clock: FakeClock,
): Promise<{ engine: Engine; agent: ScriptedAgent }> {
  const store = new SimulatedStore(database, runStatementAtOnce, clock, LEASE_MS);
  await store.open();
  const agent = new ScriptedAgent();
  const committer = new Committer(store, clock);
  const engine = new Engine({ agent, agentId: "puppet", store, committer, clock, cancelGraceMs: 100 });
  await engine.open();
  return { engine, agent };
}

// Found by seed 130.
it("a node settles a task of a dead node, although it has read the task before [E17, E21]", async () => {
  const clock = new FakeClock();
  const database = new SimulatedDatabase(() => clock.time);
  // The first node has a clock that stands still, so that it stops to renew its leases.
  const first = await openNode(database, Object.assign(new FakeClock(), { time: clock.time }));
  const second = await openNode(database, clock);
  const request = createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } });
  const { id } = getTestResponseTask(await first.engine.sendMessage(request, alice));
  await second.engine.subscribeToTask({ id }, alice);
  for (let ms = 0; ms < 3 * LEASE_MS; ms += 500) {
    clock.advance(500);
    await flushEventLoopForTest();
  }
  expect(await second.engine.getTask({ id }, alice)).toMatchObject({
    status: { state: "TASK_STATE_FAILED" },
  });
  expect(await database.tasks.listUnfinished()).toEqual([]);
});
