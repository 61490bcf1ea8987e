import { describe, expect, it } from "vitest";
import { Deferred } from "../base/data-structures/index.ts";
import { createNodeCooperation, type NodeStore } from "../cluster/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { createTestLogAppend } from "../stores/task-event-logs.fixture.ts";
import type { Task } from "../protocol/index.ts";
import {
  alice,
  createProcessFixture,
  createTestChunkEvent,
  createTestTaskScopeForCaller,
  FakeClock,
  flushEventLoopForTest,
  ScriptedAgent,
  workingTestEvent,
  type EngineFixture,
} from "./engine.fixture.ts";
import type { TurnStore } from "./task-store.ts";
import type { TurnRestartData } from "./turn-restart-data.ts";

const scope = createTestTaskScopeForCaller(alice);

/** A memory store whose waiting turns several nodes claim. */
class SharedStore extends MemoryStore {
  readonly nodes = { hasOtherNodes: false, holdsLeases: false } as NodeStore;

  constructor() {
    super();
    const leases = this.turns;
    Object.assign(this, {
      isDurable: true,
      turns: {
        ...leases,
        waitingTurnPollMs: 250,
        claim: async (agent: string, limit: number, which?: "lost" | "waiting") =>
          which === "lost" ? [] : await leases.claim(agent, limit),
      },
    });
  }
}

/** Creates a node like a new process. */
function createNode(
  options: Parameters<typeof createProcessFixture>[0] & { store: SharedStore },
): EngineFixture {
  const clock = new FakeClock();
  const nodeCooperation = createNodeCooperation({ store: options.store, clock });
  return createProcessFixture({ ...options, clock, nodeCooperation });
}

/** Commits a turn that no node has started. */
async function commitWaitingTurn(store: MemoryStore, id = "t"): Promise<void> {
  const message = { messageId: `m-${id}`, role: "ROLE_USER" as const, parts: [{ text: "hi" }] };
  const timestamp = "2026-01-01T00:00:00.000Z";
  const task: Task = {
    id,
    contextId: "talk",
    status: { state: "TASK_STATE_SUBMITTED", timestamp },
    history: [{ ...message, taskId: id, contextId: "talk" }],
  };
  const turn: TurnRestartData = { seq: 1, attempt: 0, request: {}, service: {} };
  const options = { scope, hasRunningTurn: true, releasesLease: true, turn };
  await store.commit([createTestLogAppend(id, 0, [{ task }], options)]);
}

async function getState({ engine }: EngineFixture, id = "t"): Promise<string> {
  return (await engine.getTask({ id }, alice)).status.state;
}

describe.each(["fail", "restart", "resume"] as const)("an agent with afterRestart: %s", (afterRestart) => {
  it("starts a turn that another node has accepted, as its first attempt [E9, E21]", async () => {
    const store = new SharedStore();
    await commitWaitingTurn(store);
    const node = createNode({ store, agent: new ScriptedAgent({ afterRestart }) });
    await node.engine.open();
    const { run } = await node.agent.waitForRun(0);
    expect(run).toMatchObject({ attempt: 1, taskId: "t", message: { messageId: "m-t" } });
    (await node.agent.waitForRun(0)).emit(workingTestEvent, createTestChunkEvent("a")).end();
    await flushEventLoopForTest();
    expect(await getState(node)).toBe("TASK_STATE_COMPLETED");
    const events = await store.readEvents(scope, "t", 0, { events: 10, maxBytes: 1e6 });
    expect(events.map(({ event }) => Object.keys(event)[0])).toEqual([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(await store.listUnfinished()).toEqual([]);
  });

  it("starts an accepted turn once, unless a later attempt is allowed [E9, E21]", async () => {
    const store = new SharedStore();
    await commitWaitingTurn(store);
    const killed = createNode({ store, agent: new ScriptedAgent({ afterRestart }) });
    await killed.engine.open();
    await killed.agent.waitForRun(0);
    await flushEventLoopForTest();
    const next = createNode({ store, agent: new ScriptedAgent({ afterRestart }) });
    await next.engine.open();
    await flushEventLoopForTest();
    expect(next.agent.runs).toHaveLength(afterRestart === "fail" ? 0 : 1);
    expect(await getState(next)).toBe(afterRestart === "fail" ? "TASK_STATE_FAILED" : "TASK_STATE_WORKING");
  });
});

describe("a node that starts agents", () => {
  it("looks for waiting turns at the interval of the store [E21]", async () => {
    const store = new SharedStore();
    const node = createNode({ store });
    await node.engine.open();
    await commitWaitingTurn(store);
    await flushEventLoopForTest();
    expect(node.agent.runs).toHaveLength(0);
    node.clock.advance(250);
    await node.agent.waitForRun(0);
  });

  it("waits in startDueTurns for the turns that its poller has claimed and not started yet [E18, E21]", async () => {
    const store = new SharedStore();
    const node = createNode({ store });
    await node.engine.open();
    await commitWaitingTurn(store);
    // The claim of the poller has taken the turn in the store, but its result has not arrived.
    const answer = new Deferred();
    const leases = { ...store.turns };
    let claims = 0;
    const claimSlowly: TurnStore["claim"] = async (...args) => {
      const claimed = await leases.claim(...args);
      if (args[2] === "waiting" && ++claims === 1) await answer.promise;
      return claimed;
    };
    Object.assign(store.turns, { claim: claimSlowly });
    node.clock.advance(250);
    await flushEventLoopForTest();
    expect(claims).toBe(1);
    let isDone = false;
    const started = node.engine.startDueTurns().then(() => (isDone = true));
    await flushEventLoopForTest();
    expect([isDone, node.agent.runs.length]).toEqual([false, 0]);
    answer.resolve();
    await started;
    expect(node.agent.runs).toHaveLength(1);
  });

  it("claims only as many turns as it can run, and the next one when a turn ends [E14, E21]", async () => {
    const store = new SharedStore();
    for (const id of ["a", "b", "c"]) await commitWaitingTurn(store, id);
    const [first, second] = [1, 1].map((runs) => createNode({ store, limits: { runs } }));
    await first?.engine.open();
    await flushEventLoopForTest();
    expect(first?.agent.runs).toHaveLength(1);
    await second?.engine.open();
    await flushEventLoopForTest();
    expect(second?.agent.runs).toHaveLength(1);
    first?.agent.runs[0]?.end();
    await flushEventLoopForTest();
    first?.clock.advance(250);
    await flushEventLoopForTest();
    expect(first?.agent.runs).toHaveLength(2);
  });
});

describe("a node that stops", () => {
  it("hands its turn over without counting the attempt, which the agent can see [E9, E21]", async () => {
    const store = new SharedStore();
    const agent = (): ScriptedAgent => new ScriptedAgent({ afterRestart: "resume" });
    await commitWaitingTurn(store);
    for (let attempt = 1; attempt <= 4; attempt++) {
      const node = createNode({ store, agent: agent(), limits: { turnAttempts: 2 } });
      await node.engine.open();
      const scripted = await node.agent.waitForRun(0);
      expect(scripted.run.attempt).toBe(attempt);
      const closed = node.engine.close(1000);
      scripted.end();
      await closed;
      expect(await store.listUnfinished()).toMatchObject([{ turn: { attempt, excusedAttempts: attempt } }]);
    }
    for (const expected of [5, 6]) {
      const killed = createNode({ store, agent: agent(), limits: { turnAttempts: 2 } });
      await killed.engine.open();
      expect((await killed.agent.waitForRun(0)).run.attempt).toBe(expected);
      await flushEventLoopForTest();
    }
    const last = createNode({ store, agent: agent(), limits: { turnAttempts: 2 } });
    await last.engine.open();
    expect(await getState(last)).toBe("TASK_STATE_FAILED");
  });
});
