import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import type { Run } from "./agent.ts";
import {
  alice,
  createProcessFixture,
  createTestSendMessageRequest,
  FakeClock,
  flushEventLoopForTest,
  inputRequiredTestEvent,
  ScriptedAgent,
  type EngineFixture,
  type EngineFixtureOptions,
  type ScriptedRun,
} from "./engine.fixture.ts";

const HOUR_MS = 3_600_000;

/** A store that only one process can open at a time, like a SQLite file. */
const createDurableStore = (): MemoryStore => Object.assign(new MemoryStore(), { isDurable: true });

const createAgent = (): ScriptedAgent => new ScriptedAgent({ afterRestart: "restart" });

async function openNextProcess(options: EngineFixtureOptions): Promise<EngineFixture> {
  const fixture = createProcessFixture({ agent: createAgent(), ...options });
  await fixture.engine.open();
  await flushEventLoopForTest();
  return fixture;
}

/** Starts an agent that suspends its turn for an hour, in the first process. */
async function suspendTurn(
  options: EngineFixtureOptions,
): Promise<EngineFixture & { run: Run; scripted: ScriptedRun; answer: Promise<unknown> }> {
  const fixture = createProcessFixture({ agent: createAgent(), ...options });
  const answer = fixture.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  answer.catch(() => {});
  const scripted = await fixture.agent.waitForRun(0);
  await flushEventLoopForTest();
  scripted.run.signal.addEventListener("abort", () => scripted.end());
  void scripted.run.suspend("nap", HOUR_MS).then(
    () => scripted.end(),
    () => {},
  );
  await flushEventLoopForTest();
  return { ...fixture, run: scripted.run, scripted, answer };
}

async function getState({ engine }: EngineFixture, id: string): Promise<string> {
  return (await engine.getTask({ id }, alice)).status.state;
}

describe("run.suspend with a store that one process opens", () => {
  it("continues the attempt, and resolves at the time", async () => {
    const clock = new FakeClock();
    const fixture = await suspendTurn({ store: createDurableStore(), clock });
    clock.advance(HOUR_MS - 1);
    await flushEventLoopForTest();
    expect(await getState(fixture, fixture.run.taskId)).not.toBe("TASK_STATE_COMPLETED");
    clock.advance(1);
    expect(await fixture.answer).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(fixture.agent.runs).toHaveLength(1);
  });

  it("makes a later process wait before it starts the agent, and resolves there at once [E9, E18]", async () => {
    const store = createDurableStore();
    const clock = new FakeClock();
    const { run } = await suspendTurn({ store, clock });
    const later = await openNextProcess({ store, clock });
    expect(later.agent.runs).toHaveLength(0);
    expect(await getState(later, run.taskId)).toBe("TASK_STATE_SUBMITTED");
    clock.advance(HOUR_MS);
    const next = await later.agent.waitForRun(0);
    expect(next.run.attempt).toBe(2);
    await next.run.suspend("nap", HOUR_MS);
    next.end();
    await flushEventLoopForTest();
    expect(await getState(later, run.taskId)).toBe("TASK_STATE_COMPLETED");
  });

  it("does not count the processes that end while the turn is suspended [E9]", async () => {
    const store = createDurableStore();
    const clock = new FakeClock();
    const { run } = await suspendTurn({ store, clock });
    for (let process = 0; process < 8; process++) {
      clock.advance(60_000);
      const { agent, engine } = await openNextProcess({ store, clock });
      expect(agent.runs).toHaveLength(0);
      // Every second process is killed.
      if (process % 2 === 0) await engine.close(0);
    }
    const last = await openNextProcess({ store, clock });
    clock.advance(HOUR_MS);
    (await last.agent.waitForRun(0)).end();
    await flushEventLoopForTest();
    expect(await getState(last, run.taskId)).toBe("TASK_STATE_COMPLETED");
  });

  it("keeps its time when other turns start whose processes died [E9, E17]", async () => {
    const store = createDurableStore();
    const clock = new FakeClock();
    let lastId = 0;
    const generateId = (): string => String(++lastId).padStart(4, "0");
    const before = createProcessFixture({ agent: createAgent(), store, clock, generateId });
    for (const text of ["next", "naps"])
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    await openNextProcess({ store, clock });
    const { agent } = await openNextProcess({ store, clock });
    const { run } = await agent.waitForRun(0);
    const wakeAt = clock.now() + HOUR_MS;
    void run.suspend("nap", HOUR_MS);
    await flushEventLoopForTest();
    clock.advance(2500);
    await agent.waitForRun(1);
    const unfinished = await store.listUnfinished();
    expect(unfinished.find(({ taskId }) => taskId === run.taskId)?.turn).toMatchObject({ wakeAt });
  });

  it("needs no process: the engine is idle, and its close hands the turn over [E9]", async () => {
    const store = createDurableStore();
    const clock = new FakeClock();
    const { engine } = await suspendTurn({ store, clock });
    await engine.waitUntilIdle();
    await engine.close(1000);
    const [unfinished] = await store.listUnfinished();
    expect(unfinished?.turn?.wakeAt).toBe(clock.now() + HOUR_MS);
  });

  it("lets a client cancel the task in a later process, without its agent [E8]", async () => {
    const store = createDurableStore();
    const { run, clock } = await suspendTurn({ store });
    const later = await openNextProcess({ store, clock });
    const canceled = await later.engine.cancelTask({ id: run.taskId }, alice);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    clock.advance(HOUR_MS);
    await flushEventLoopForTest();
    expect(later.agent.runs).toHaveLength(0);
    expect(await store.listUnfinished()).toEqual([]);
  });

  it("starts no agent if the task is canceled while the start of the next attempt is stored [E8]", async () => {
    const store = createDurableStore();
    const { run, clock } = await suspendTurn({ store });
    const later = await openNextProcess({ store, clock });
    const commit = store.commit.bind(store);
    const { promise: isStoreBack, resolve: endStall } = Promise.withResolvers<void>();
    store.commit = async (batch) => {
      await isStoreBack;
      return await commit(batch);
    };
    clock.advance(HOUR_MS);
    await flushEventLoopForTest();
    const canceling = later.engine.cancelTask({ id: run.taskId }, alice);
    await flushEventLoopForTest();
    endStall();
    expect((await canceling).status.state).toBe("TASK_STATE_CANCELED");
    expect(later.agent.runs).toHaveLength(0);
  });

  it("does not count against the limit on running agents, in any process [E14]", async () => {
    const store = createDurableStore();
    const limits = { runs: 1 };
    const { engine, clock } = await suspendTurn({ store, limits });
    const second = engine.sendMessage(createTestSendMessageRequest("two"), alice);
    await expect(Promise.race([second, flushEventLoopForTest()])).resolves.toBeUndefined();
    const third = engine.sendMessage(createTestSendMessageRequest("three"), alice);
    await expect(third).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED" });
    const later = await openNextProcess({ store, limits, clock });
    expect(later.agent.runs.map(({ run }) => run.message.parts)).toEqual([[{ text: "two" }]]);
    const states = (await later.engine.listTasks({}, alice)).tasks.map(({ status }) => status.state);
    expect(states).not.toContain("TASK_STATE_FAILED");
  });
});

describe("run.suspend of an agent without later attempts", () => {
  it.each([
    ["afterRestart: fail", createDurableStore(), new ScriptedAgent()],
    ["a store in memory", new MemoryStore(), createAgent()],
  ])("waits in the process, with %s", async (_, store, agent) => {
    const fixture = await suspendTurn({ store, agent });
    expect((await store.listUnfinished())[0]?.turn?.wakeAt).toBeUndefined();
    let isIdle = false;
    void fixture.engine.waitUntilIdle().then(() => (isIdle = true));
    await flushEventLoopForTest();
    expect(isIdle).toBe(false);
    fixture.clock.advance(HOUR_MS);
    await flushEventLoopForTest();
    expect(isIdle).toBe(true);
  });
});

it("an agent that waits for its user needs no process", async () => {
  const { engine, agent } = createProcessFixture({ store: createDurableStore(), agent: createAgent() });
  void engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  const scripted = await agent.waitForRun(0);
  let isIdle = false;
  void engine.waitUntilIdle().then(() => (isIdle = true));
  await flushEventLoopForTest();
  expect(isIdle).toBe(false);
  scripted.emit(inputRequiredTestEvent);
  await flushEventLoopForTest();
  expect(isIdle).toBe(true);
});
