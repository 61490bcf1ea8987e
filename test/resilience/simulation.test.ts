import { expect, it } from "vitest";
import { createNodeCooperation } from "../../src/cluster/index.ts";
import { Committer, Engine } from "../../src/engine/index.ts";
import {
  alice,
  createTestChunkEvent,
  createTestSendMessageRequest,
  FakeClock,
  flushEventLoopForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
} from "../../src/engine/engine.fixture.ts";
import {
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../../src/stores/task-event-logs.fixture.ts";
import { runSeeds } from "../../lab/simulation/run-seeds.ts";
import { runSimulation } from "../../lab/simulation/simulation.ts";
import { SimulatedDatabase } from "../../lab/simulation/simulated-database.ts";
import {
  runStatementAtOnce,
  SimulatedStore,
  type StatementRunner,
} from "../../lab/simulation/simulated-store.ts";

/** The complete campaign is `npm run lab -- simulation`. */
const SEED_COUNT = 20;
const LEASE_MS = 3000;
const STORE_SETTINGS = { leaseMs: LEASE_MS, waitingTurnPollMs: 250 };

/** Creates the engine of one node. */
async function openNode(
  database: SimulatedDatabase,
  clock: FakeClock,
  run: StatementRunner = runStatementAtOnce,
  agent: ScriptedAgent = new ScriptedAgent(),
): Promise<{ engine: Engine; agent: ScriptedAgent }> {
  const store = new SimulatedStore(database, run, clock, STORE_SETTINGS);
  await store.open();
  const committer = new Committer(store, clock);
  const nodeCooperation = createNodeCooperation({ store, clock });
  const engine = new Engine({
    agent,
    agentId: "puppet",
    store,
    committer,
    nodeCooperation,
    clock,
    cancelGraceMs: 100,
  });
  await engine.open();
  return { engine, agent };
}

const createRestartingAgent = (): ScriptedAgent => new ScriptedAgent({ afterRestart: "restart" });

/** Lets time pass on the clocks. */
async function passTime(ms: number, ...clocks: readonly FakeClock[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    for (const clock of clocks) clock.advance(100);
    await flushEventLoopForTest();
  }
}

it("several nodes keep all promises with crashes, pauses, partitions, lost hints, and lost results [E1, E3, E7, E8, E9, E10, E11, E12, E13, E16, E17, E18, E21]", async () => {
  const { broken, minSteps, minFaults } = await runSeeds({ first: 1, count: SEED_COUNT, steps: 500 });
  expect(broken.map((result) => [result.seed, result.broken])).toEqual([]);
  expect(minSteps).toBeGreaterThanOrEqual(500);
  expect(minFaults).toBeGreaterThanOrEqual(5);
});

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

it("a node cancels the task of a dead node while its recovery of the task is on its way [E17, E21]", async () => {
  const clock = new FakeClock();
  const database = new SimulatedDatabase(() => clock.time);
  const stoppedClock = Object.assign(new FakeClock(), { time: clock.time });
  const first = await openNode(database, stoppedClock, runStatementAtOnce, createRestartingAgent());
  let continueRecovery: (() => void) | undefined;
  const runSlowly: StatementRunner = async (name, statement) => {
    if (name === "read steps") await new Promise<void>((resolve) => (continueRecovery = resolve));
    return await statement();
  };
  const second = await openNode(database, clock, runSlowly, createRestartingAgent());
  const request = createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } });
  const { id } = getTestResponseTask(await first.engine.sendMessage(request, alice));
  await passTime(2 * LEASE_MS, clock);
  expect(continueRecovery).toBeDefined();
  const canceling = second.engine.cancelTask({ id }, alice).catch((error: unknown) => error);
  await passTime(1000, clock);
  continueRecovery?.();
  const run = await second.agent.waitForRun(0);
  run.run.signal.addEventListener("abort", () => run.end());
  await passTime(2000, clock);
  expect(await canceling).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
});

it("a node cancels a task that waits on another node, because its processes died twice [E17, E21]", async () => {
  const database = new SimulatedDatabase(() => 0);
  const open = (clock: FakeClock): ReturnType<typeof openNode> =>
    openNode(database, clock, runStatementAtOnce, createRestartingAgent());
  const clocks = Array.from({ length: 4 }, () => new FakeClock()) as [
    FakeClock,
    FakeClock,
    FakeClock,
    FakeClock,
  ];
  const first = await open(clocks[0]);
  const configuration = { returnImmediately: true };
  for (const text of ["one", "two"])
    await first.engine.sendMessage(createTestSendMessageRequest(text, { configuration }), alice);
  // Each node stops to renew its leases when its clock stands still.
  await open(clocks[1]);
  await passTime(2 * LEASE_MS, clocks[1]);
  const third = await open(clocks[2]);
  // The second turn starts 2.5 s after the first one.
  for (let ms = 0; third.agent.runs.length === 0 && ms < 2 * LEASE_MS; ms += 100)
    await passTime(100, clocks[2]);
  const { run: running } = await third.agent.waitForRun(0);
  expect(third.engine.waitingTurnCounts.recovery).toBe(1);
  const [waiting = ""] = first.agent.runs.map(({ run }) => run.taskId).filter((id) => id !== running.taskId);
  const fourth = await open(clocks[3]);
  const canceling = fourth.engine.cancelTask({ id: waiting }, alice);
  await passTime(2000, clocks[2], clocks[3]);
  expect(await canceling).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
  expect(third.engine.waitingTurnCounts.recovery).toBe(0);
  expect([third.agent.runs.length, fourth.agent.runs.length]).toEqual([1, 0]);
});

it("a subscription to a task that this node has in memory begins with the state that another node has committed [E1, E3, E21]", async () => {
  const clock = new FakeClock();
  const database = new SimulatedDatabase(() => clock.time);
  const [first, second] = [await openNode(database, clock), await openNode(database, clock)];
  const sending = first.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  (await first.agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
  const { id: taskId } = getTestResponseTask(await sending);
  const configuration = { returnImmediately: true };
  await second.engine.sendMessage(createTestSendMessageRequest("more", { taskId, configuration }), alice);
  (await second.agent.waitForRun(0)).emit(createTestChunkEvent("later"));
  await flushEventLoopForTest();
  const subscription = await first.engine.subscribeToTask({ id: taskId }, alice);
  const [snapshot] = (await subscription.next()) ?? [];
  expect(snapshot?.event).toMatchObject({ task: { artifacts: [{ parts: [{ text: "later" }] }] } });
  subscription.close();
});

// Found by seed 184.
it("a node that stops its turns releases the lease that a late commit acquires [E17, E21]", async () => {
  const clock = new FakeClock();
  const database = new SimulatedDatabase(() => clock.time);
  let lateCommit = (): void => {};
  let isDown = false;
  const { engine } = await openNode(database, clock, async (name, statement) => {
    if (name === "commit" && isDown) await new Promise<void>((resolve) => (lateCommit = resolve));
    else if (isDown) throw Object.assign(new Error("The database is down."), { code: "ECONNREFUSED" });
    return await statement();
  });
  isDown = true;
  const sending = engine
    .sendMessage(createTestSendMessageRequest("hi"), alice)
    .catch((error: unknown) => error);
  const passTime = async (): Promise<void> => {
    for (let ms = 0; ms < 3 * LEASE_MS; ms += 500) {
      await flushEventLoopForTest();
      clock.advance(500);
    }
    await flushEventLoopForTest();
  };
  await passTime();
  expect(await sending).toMatchObject({ reason: "UNAVAILABLE" });
  isDown = false;
  await passTime();
  lateCommit();
  await passTime();
  expect(await database.tasks.listUnfinished()).toEqual([]);
});

// Found by seed 2170.
it("a node does not release a lease while the result of a claim is on its way [E11, E17]", async () => {
  const clock = new FakeClock();
  const database = new SimulatedDatabase(() => clock.time);
  let deliverClaim = (): void => {};
  const store = new SimulatedStore(
    database,
    async (name, statement) => {
      const result = await statement();
      if (name.startsWith("claim")) await new Promise<void>((resolve) => (deliverClaim = resolve));
      return result;
    },
    clock,
    STORE_SETTINGS,
  );
  await store.open();
  const event = createTestSubmittedTaskEvent("t");
  await store.commit([createTestLogAppend("t", 0, [event], { hasRunningTurn: true, releasesLease: true })]);
  const claiming = store.turns.claim("echo", 10, "waiting");
  for (let count = 0; count < 3; count++) await store.turns.renew();
  deliverClaim();
  expect(await claiming).toHaveLength(1);
  expect(await database.claim("other", "echo", 10)).toEqual([]);
});

it.each([
  {
    seed: 692573,
    finding: "a lost lease of an earlier turn stops no later turn with a newer lease [E11, E17]",
  },
  { seed: 797722, finding: "a node that was paused claims no turn that it runs [E17, E21]" },
  { seed: 689916, finding: "a node begins no queued turn while another node adds to the queue [E10, E17]" },
])("$finding: seed $seed breaks no promise", async ({ seed }) => {
  expect((await runSimulation({ seed })).broken).toBeUndefined();
});
