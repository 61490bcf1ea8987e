import { describe, expect, it } from "vitest";
import { Deferred } from "../base/data-structures/index.ts";
import { MemoryStore } from "../stores/index.ts";
import type { AgentEvent } from "./agent.ts";
import {
  alice,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  FakeClock,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  workingTestEvent,
  type EngineFixture,
} from "./engine.fixture.ts";
import type { TaskLease } from "./task-store.ts";

const FENCE_AFTER_MS = 12_000;
const CANCEL_GRACE_MS = 10_000;

/** Creates an engine whose store renews leases until `isDown` is true. */
function createFencedFixture(): EngineFixture & {
  readonly outage: { isDown: boolean };
  readonly released: TaskLease[];
} {
  const clock = new FakeClock();
  const store = new MemoryStore();
  const outage = { isDown: false };
  const released: TaskLease[] = [];
  let renewedAt = clock.monotonic();
  const memoryLeases = store.turns;
  const leases = {
    ...memoryLeases,
    renew: async () => {
      if (outage.isDown) throw new Error("The database is down.");
      renewedAt = clock.monotonic();
      return [];
    },
    release: async (lease: TaskLease) => {
      released.push(lease);
      await memoryLeases.release(lease);
    },
    getTimeUntilFence: () => renewedAt + FENCE_AFTER_MS - clock.monotonic(),
  };
  Object.assign(store, { turns: leases });
  return { ...createEngineFixture({ store, clock, cancelGraceMs: CANCEL_GRACE_MS }), outage, released };
}

async function advanceInSteps(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    await flushEventLoopForTest(4);
    clock.advance(500);
  }
  await flushEventLoopForTest();
}

describe("a node that cannot renew its leases", () => {
  it("stops its agents before the leases end, and appends none of their later events [E17, E21]", async () => {
    const { engine, agent, clock, store, outage } = createFencedFixture();
    await engine.open();
    const message = createTestSendMessageRequest("go", { configuration: { returnImmediately: true } });
    const { id } = getTestResponseTask(await engine.sendMessage(message, alice));
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await advanceInSteps(clock, 2 * FENCE_AFTER_MS);
    expect(run.run.signal.aborted).toBe(false);

    outage.isDown = true;
    await advanceInSteps(clock, FENCE_AFTER_MS - 6000);
    expect(run.run.signal.aborted).toBe(false);
    await advanceInSteps(clock, 6000);
    expect(run.run.signal.aborted).toBe(true);
    run.emit(createTestChunkEvent("late", false)).end();
    await flushEventLoopForTest();
    const scope = { agent: "puppet", ...alice };
    expect(await store.load(scope, id)).toMatchObject({ seq: 2, awaitsRecovery: true });

    outage.isDown = false;
    await advanceInSteps(clock, 10_000);
    expect((await engine.getTask({ id }, alice)).status.state).toBe("TASK_STATE_FAILED");
  });

  // Found by seed 200378 of the simulation.
  it("releases a lease only after the cleanup of an agent that has yielded one more event [E11, E21]", async () => {
    const { engine, agent, clock, outage, released } = createFencedFixture();
    const nextEvent = new Deferred();
    const cleanup = new Deferred();
    const execute = async function* (): AsyncGenerator<AgentEvent> {
      try {
        yield workingTestEvent;
        await nextEvent.promise;
        yield createTestChunkEvent("late", false);
      } finally {
        await cleanup.promise;
      }
    };
    Object.assign(agent, { execute });
    await engine.open();
    const message = createTestSendMessageRequest("go", { configuration: { returnImmediately: true } });
    await engine.sendMessage(message, alice);
    outage.isDown = true;
    await advanceInSteps(clock, FENCE_AFTER_MS);
    outage.isDown = false;
    nextEvent.resolve();
    await advanceInSteps(clock, CANCEL_GRACE_MS / 2);
    expect(released).toEqual([]);
    cleanup.resolve();
    await advanceInSteps(clock, 2000);
    expect(released).toHaveLength(1);
  });

  it("keeps its agents if the store answers in time", async () => {
    const { engine, agent, clock, outage } = createFencedFixture();
    await engine.open();
    const sending = engine.sendMessage(createTestSendMessageRequest("go"), alice);
    const run = await agent.waitForRun(0);
    outage.isDown = true;
    await advanceInSteps(clock, 6000);
    outage.isDown = false;
    await advanceInSteps(clock, FENCE_AFTER_MS);
    run.end();
    expect(await getRejectionA2AErrorReasonForTest(sending)).toBe("nothing");
  });
});
