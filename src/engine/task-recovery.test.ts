import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { A2AError, getText, type Task } from "../protocol/index.ts";
import type { Agent, AgentEvent } from "./agent.ts";
import type { AppendRefusal, LogAppend, TaskLease } from "./task-store.ts";
import {
  alice,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createProcessFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  type EngineFixture,
  FakeClock,
  flushEventLoopForTest,
  formatTaskEventForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  type ScriptedRun,
  workingTestEvent,
} from "./engine.fixture.ts";

/** A store whose commits fail while it is down. */
class OutageStore extends MemoryStore {
  isDown = false;

  override commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    return this.isDown ? Promise.reject(new Error("The disk is full.")) : super.commit(batch);
  }
}

const authRequiredTestEvent: AgentEvent = {
  status: { state: "TASK_STATE_AUTH_REQUIRED", message: { parts: [{ text: "log in" }] } },
};

/** Lets `ms` milliseconds pass in small steps, so that each timer finds the result of the one before. */
async function advanceInSteps(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await flushEventLoopForTest(4);
    clock.advance(50);
  }
  await flushEventLoopForTest();
}

const endOnAbort = (run: ScriptedRun): ScriptedRun => {
  run.run.signal.addEventListener("abort", () => run.end());
  return run;
};

const getStatusText = ({ status }: Task): string => getText(status.message?.parts ?? []);

async function getState({ engine }: EngineFixture, id: string): Promise<string> {
  return (await engine.getTask({ id }, alice)).status.state;
}

interface InterruptedFixture extends EngineFixture {
  readonly store: OutageStore;
  readonly taskId: string;
  readonly request: ReturnType<typeof createTestSendMessageRequest>;
  /** Outcomes of the blocking request and of the stream that were open when the store failed. */
  readonly outcomes: Promise<string>[];
}

/** Starts a task whose store then fails for longer than the committer retries. */
async function createInterruptedFixture(
  afterRestart: Agent["afterRestart"],
  prepareRun: (run: ScriptedRun) => void = endOnAbort,
): Promise<InterruptedFixture> {
  const store = new OutageStore();
  const agent = new ScriptedAgent(afterRestart ? { afterRestart } : {});
  const fixture = createEngineFixture({ store, agent });
  const { engine, clock } = fixture;
  await engine.open();
  const request = createTestSendMessageRequest("hi");
  const answer = engine.sendMessage(request, alice);
  const run = await agent.waitForRun(0);
  prepareRun(run);
  run.emit(workingTestEvent, createTestChunkEvent("half", false));
  await flushEventLoopForTest();
  const { taskId } = run.run;
  const reader = collectSubscriptionEventsForTest(await engine.subscribeToTask({ id: taskId }, alice));
  store.isDown = true;
  run.emit(createTestChunkEvent(" lost"));
  const outcomes = [answer, reader].map(getRejectionA2AErrorReasonForTest);
  await advanceInSteps(clock, 5000);
  return { ...fixture, store, taskId, request, outcomes };
}

describe.each(["fail", "restart", "resume"] as const)(
  "a task whose commit fails for longer than the retries, with afterRestart: %s",
  (afterRestart) => {
    it("ends its requests, and every write is UNAVAILABLE with a retry time until it is settled [E17]", async () => {
      const { engine, taskId: id, request, outcomes, clock } = await createInterruptedFixture(afterRestart);
      expect(await Promise.all(outcomes)).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
      await advanceInSteps(clock, 10_000);
      const requests: (() => Promise<unknown>)[] = [
        () => engine.sendMessage(request, alice),
        () => engine.sendMessage({ ...request, configuration: { returnImmediately: true } }, alice),
        () => engine.sendStreamingMessage(request, alice),
        () => engine.sendMessage(createTestSendMessageRequest("more", { taskId: id }), alice),
        () => engine.cancelTask({ id }, alice),
      ];
      for (const send of requests) {
        const error = await send().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(A2AError);
        expect(error).toMatchObject({ reason: "UNAVAILABLE", retryAfter: 1 });
      }
    });

    it("is read as it was committed last, and its subscriptions continue with its recovery [E1, E17]", async () => {
      const { engine, taskId: id, clock, store, agent } = await createInterruptedFixture(afterRestart);
      await advanceInSteps(clock, 10_000);
      const task = await engine.getTask({ id }, alice);
      expect(task.status.state).toBe("TASK_STATE_WORKING");
      expect(getText(task.artifacts?.[0]?.parts ?? [])).toBe("half");
      const listed = await engine.listTasks({ includeArtifacts: true, historyLength: 10 }, alice);
      expect(listed.tasks).toEqual([task]);
      const streams = [
        await engine.subscribeToTask({ id }, alice),
        await engine.subscribeToTask({ id }, alice, { resumeAfterSeq: 1 }),
      ].map(collectSubscriptionEventsForTest);
      store.isDown = false;
      await advanceInSteps(clock, 5000);
      agent.runs[1]?.emit(createTestChunkEvent(" done", false)).end();
      const [whole = [], resumed = []] = await Promise.all(streams);
      const end = afterRestart === "fail" ? ["FAILED"] : ["WORKING", " done", "COMPLETED"];
      const texts = [whole, resumed].map((events) =>
        events.map(({ event }) => formatTaskEventForTest(event)),
      );
      expect(texts).toEqual([
        ["task WORKING", ...end],
        ["WORKING", "half", ...end],
      ]);
    });

    it("is settled within 5 s after the store answers again, without a restart [E17]", async () => {
      const fixture = await createInterruptedFixture(afterRestart);
      const { store, clock, taskId, engine, agent, request } = fixture;
      await advanceInSteps(clock, 30_000);
      store.isDown = false;
      await advanceInSteps(clock, 5000);
      if (afterRestart === "fail") {
        const task = await engine.getTask({ id: taskId }, alice);
        expect(task.status.state).toBe("TASK_STATE_FAILED");
        expect(getStatusText(task)).toBe(
          "The task store failed while the agent was running; send the message again.",
        );
        expect(agent.runs).toHaveLength(1);
      } else {
        expect(agent.runs).toHaveLength(2);
        const again = agent.runs[1] as ScriptedRun;
        expect(again.run.attempt).toBeGreaterThan(1);
        expect(await getState(fixture, taskId)).toBe("TASK_STATE_WORKING");
        const repeated = engine.sendMessage(request, alice);
        again.emit(createTestChunkEvent(" done", afterRestart === "resume")).end();
        const task = getTestResponseTask(await repeated);
        expect(task.status.state).toBe("TASK_STATE_COMPLETED");
        const whole = afterRestart === "resume" ? "half done" : " done";
        expect(getText(task.artifacts?.[0]?.parts ?? [])).toBe(whole);
      }
      expect(await store.listUnfinished()).toEqual([]);
    });

    it("waits for an agent that ignores the signal to stop, at most for the grace period [E11, E17]", async () => {
      const { store, clock, request, agent, engine } = await createInterruptedFixture(afterRestart, () => {});
      store.isDown = false;
      const settle = async (): Promise<boolean> => {
        const repeated = { ...request, configuration: { returnImmediately: true } };
        const reason = await getRejectionA2AErrorReasonForTest(engine.sendMessage(repeated, alice));
        return reason === "nothing";
      };
      // The committer gives up 4.25 s after the first failure, so 0.75 s of the grace period have passed.
      await advanceInSteps(clock, 4000);
      expect(await settle()).toBe(false);
      expect(agent.runs).toHaveLength(1);
      await advanceInSteps(clock, 1000);
      expect(await settle()).toBe(true);
      expect(agent.runs).toHaveLength(afterRestart === "fail" ? 1 : 2);
    });
  },
);

describe("the recovery of tasks", () => {
  it("survives claims that fail, and reports each outage once [E17]", async () => {
    const { store, clock, errors, taskId, ...fixture } = await createInterruptedFixture("fail");
    const working = { ...store.turns };
    let claims = 0;
    store.turns.claim = () => {
      claims++;
      return Promise.reject(new Error("The disk is away."));
    };
    store.isDown = false;
    errors.length = 0;
    await advanceInSteps(clock, 60_000);
    expect(claims).toBeGreaterThan(55);
    expect(claims).toBeLessThan(70);
    expect(errors.length).toBeLessThan(2);
    Object.assign(store.turns, working);
    await advanceInSteps(clock, 1000);
    expect(await getState({ store, clock, errors, ...fixture }, taskId)).toBe("TASK_STATE_FAILED");
  });

  it("releases each abandoned lease, also if concurrent releases fail once [E17, E21]", async () => {
    const store = new OutageStore();
    const gate = Promise.withResolvers<void>();
    const attempts: string[] = [];
    const released = new Set<string>();
    const release = store.turns.release.bind(store.turns);
    store.turns.release = async (lease) => {
      await gate.promise;
      attempts.push(lease.taskId);
      if (attempts.filter((taskId) => taskId === lease.taskId).length === 1)
        throw new Error("The disk is away.");
      released.add(lease.taskId);
      await release(lease);
    };
    const { engine, agent, clock } = createEngineFixture({ store });
    await engine.open();
    for (let task = 0; task < 4; task++)
      void engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    await agent.waitForRun(3);
    store.isDown = true;
    for (const run of agent.runs) endOnAbort(run).emit(createTestChunkEvent("lost"));
    await advanceInSteps(clock, 5000);
    store.isDown = false;
    const calls = [engine.startDueTurns(), engine.startDueTurns(), engine.startDueTurns()];
    await flushEventLoopForTest();
    gate.resolve();
    await Promise.allSettled(calls);
    await advanceInSteps(clock, 10_000);
    expect([...released].toSorted()).toEqual(agent.runs.map(({ run }) => run.taskId).toSorted());
  });

  it("releases and recovers the other tasks if the release of one task always fails [E17, E21]", async () => {
    const store = new OutageStore();
    const release = store.turns.release.bind(store.turns);
    let refused: string | undefined;
    store.turns.release = async (lease) => {
      refused ??= lease.taskId;
      if (lease.taskId === refused) throw new Error("The row is damaged.");
      await release(lease);
    };
    const { engine, agent, clock } = createEngineFixture({ store });
    await engine.open();
    for (let task = 0; task < 4; task++)
      void engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    await agent.waitForRun(3);
    await flushEventLoopForTest();
    store.isDown = true;
    for (const run of agent.runs) endOnAbort(run).emit(createTestChunkEvent("lost"));
    await advanceInSteps(clock, 5000);
    store.isDown = false;
    await advanceInSteps(clock, 5000);
    const others = agent.runs.map(({ run }) => run.taskId).filter((taskId) => taskId !== refused);
    expect(others).toHaveLength(3);
    for (const id of others)
      expect((await engine.getTask({ id }, alice)).status.state).toBe("TASK_STATE_FAILED");
  });

  it("does not disturb tasks whose turns are running [E17]", async () => {
    const fixture = createEngineFixture();
    const { engine, agent, clock } = fixture;
    await engine.open();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    await advanceInSteps(clock, 30_000);
    run.emit(createTestChunkEvent("all", false)).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    expect(agent.runs).toHaveLength(1);
  });

  it("leaves the lease to a new turn if the store refused the turn before it [E11, E17]", async () => {
    const store = new OutageStore();
    const { engine, agent, clock } = createEngineFixture({ store });
    await engine.open();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id: taskId } = getTestResponseTask(await answer);
    store.isDown = true;
    const refused = engine.sendMessage(createTestSendMessageRequest("lost", { taskId }), alice);
    const outcome = getRejectionA2AErrorReasonForTest(refused);
    // The agent of the refused turn ignores the signal to stop for the grace period of 5 s.
    await agent.waitForRun(1);
    for (let ms = 0; ms < 10_000 && !agent.runs[1]?.run.signal.aborted; ms += 50)
      await advanceInSteps(clock, 50);
    expect(await outcome).toBe("UNAVAILABLE");
    store.isDown = false;
    const second = engine.sendMessage(createTestSendMessageRequest("again", { taskId }), alice);
    const run = await agent.waitForRun(2);
    await advanceInSteps(clock, 6000);
    expect(await store.load({ agent: "puppet", ...alice }, taskId)).toMatchObject({ epoch: 0 });
    run.emit(createTestChunkEvent("all", false)).end();
    expect(getTestResponseTask(await second).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("stops the turns whose leases other nodes have taken over, and reports them once [E17]", async () => {
    const store = new MemoryStore();
    let lost: TaskLease[] = [];
    Object.assign(store, { turns: { ...store.turns, renew: async () => lost.splice(0) } });
    const { engine, agent, clock, errors } = createEngineFixture({ store });
    await engine.open();
    const answers = [1, 2].map(() => engine.sendMessage(createTestSendMessageRequest("hi"), alice));
    const outcomes = answers.map((answer) => getRejectionA2AErrorReasonForTest(answer));
    const runs = [endOnAbort(await agent.waitForRun(0)), endOnAbort(await agent.waitForRun(1))];
    await flushEventLoopForTest();
    lost = runs.map(({ run }) => ({ scope: { agent: "puppet", ...alice }, taskId: run.taskId, epoch: 0 }));
    await advanceInSteps(clock, 5000);
    expect(runs.map(({ run }) => run.signal.aborted)).toEqual([true, true]);
    expect(await Promise.all(outcomes)).toEqual(["UNAVAILABLE", "UNAVAILABLE"]);
    const message: unknown = expect.stringMatching(/leases .* 2 tasks: \S+, \S+$/);
    expect(errors).toMatchObject([{ message }]);
  });

  it.each([
    ["obeys the signal", endOnAbort],
    ["ignores the signal for the grace period", () => {}],
  ] satisfies [string, (run: ScriptedRun) => void][])(
    "ends with its engine, and leaves the task of an agent that %s to the next one [E9, E15]",
    async (_name, prepareRun) => {
      const { engine, store, clock, taskId } = await createInterruptedFixture("restart", prepareRun);
      const closed = engine.close(1000);
      await advanceInSteps(clock, 5000);
      await closed;
      store.isDown = false;
      await advanceInSteps(clock, 10_000);
      expect(await store.listUnfinished()).toMatchObject([{ taskId }]);
      expect(clock.pendingTimerCount).toBe(0);
      const { engine: next, agent } = createEngineFixture({
        store,
        agent: new ScriptedAgent({ afterRestart: "restart" }),
      });
      await next.open();
      expect((await agent.waitForRun(0)).run.taskId).toBe(taskId);
    },
  );

  it("fails a restartable task whose message the log has lost [E17]", async () => {
    const store = new MemoryStore();
    const agent = new ScriptedAgent({ afterRestart: "restart" });
    const before = createEngineFixture({ store, agent });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const { taskId } = (await agent.waitForRun(0)).run;
    await flushEventLoopForTest();
    const [unfinished] = await store.listUnfinished();
    Object.assign(unfinished?.turn ?? {}, { seq: 7 });
    const after = createProcessFixture({ store, agent: new ScriptedAgent({ afterRestart: "restart" }) });
    await after.engine.open();
    expect(await getState(after, taskId)).toBe("TASK_STATE_FAILED");
    expect(after.errors).toMatchObject([{ reason: "INTERNAL" }]);
  });
});

describe("a turn at AUTH_REQUIRED", () => {
  /** Starts a turn that asks for credentials. The store is durable unless `isDurable` is false. */
  async function createWaitingFixture(
    afterRestart: "fail" | "restart" | "resume",
    finish: (run: ScriptedRun) => unknown,
  ): Promise<{ before: EngineFixture; run: ScriptedRun; id: string; store: MemoryStore }> {
    const store = Object.assign(new MemoryStore(), { isDurable: true });
    const before = createEngineFixture({ store, agent: new ScriptedAgent({ afterRestart }) });
    const answer = before.engine.sendMessage(createTestSendMessageRequest("buy"), alice);
    const run = await before.agent.waitForRun(0);
    run.emit(createTestChunkEvent("draft", false), authRequiredTestEvent);
    const { id } = getTestResponseTask(await answer);
    await finish(run);
    await flushEventLoopForTest();
    return { before, run, id, store };
  }

  async function restart(
    store: MemoryStore,
    afterRestart: "fail" | "restart" | "resume",
  ): Promise<EngineFixture> {
    const fixture = createProcessFixture({ store, agent: new ScriptedAgent({ afterRestart }) });
    await fixture.engine.open();
    await flushEventLoopForTest();
    return fixture;
  }

  describe.each(["killed", "stopped in order"] as const)("whose server is %s", (end) => {
    it.each(["fail", "restart", "resume"] as const)(
      "is settled as declared while the agent waits inside the turn: %s [E9, E17]",
      async (afterRestart) => {
        const { before, id, store } = await createWaitingFixture(afterRestart, endOnAbort);
        if (end !== "killed") await before.engine.close(1000);
        const after = await restart(store, afterRestart);
        if (afterRestart === "fail") {
          expect(await getState(after, id)).toBe("TASK_STATE_FAILED");
          expect(after.agent.runs).toHaveLength(0);
        } else {
          const { run } = await after.agent.waitForRun(0);
          expect(run).toMatchObject({ taskId: id, attempt: 2 });
          expect(run.task.artifacts ?? []).toHaveLength(afterRestart === "resume" ? 1 : 0);
          expect(await getState(after, id)).toBe("TASK_STATE_WORKING");
          after.agent.runs[0]?.end();
          await flushEventLoopForTest();
          expect(await getState(after, id)).toBe("TASK_STATE_COMPLETED");
        }
        expect(await store.listUnfinished()).toEqual([]);
      },
    );

    it.each([
      ["at the request", (run: ScriptedRun) => run.end()],
      [
        "after the request was committed",
        async (run: ScriptedRun) => {
          await flushEventLoopForTest();
          run.end();
        },
      ],
    ] as const)("is left to its user if the turn ended %s [E9]", async (_, finish) => {
      for (const afterRestart of ["fail", "restart", "resume"] as const) {
        const { before, id, store } = await createWaitingFixture(afterRestart, finish);
        expect(await store.listUnfinished()).toEqual([]);
        if (end !== "killed") await before.engine.close(1000);
        const after = await restart(store, afterRestart);
        expect(await getState(after, id)).toBe("TASK_STATE_AUTH_REQUIRED");
        const answer = after.engine.sendMessage(createTestSendMessageRequest("key", { taskId: id }), alice);
        (await after.agent.waitForRun(0)).end();
        expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
      }
    });
  });

  it("continues with later events after its end was committed without an event [E1]", async () => {
    const { before, id, store } = await createWaitingFixture("fail", (run) => run.end());
    const stream = await before.engine.subscribeToTask({ id }, alice);
    const events = collectSubscriptionEventsForTest(stream);
    const answer = before.engine.sendMessage(createTestSendMessageRequest("key", { taskId: id }), alice);
    const second = await before.agent.waitForRun(1);
    second.emit(createTestChunkEvent(" signed")).end();
    await answer;
    const seen = await events;
    expect(seen.map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task AUTH_REQUIRED",
      "WORKING",
      " signed",
      "COMPLETED",
    ]);
    expect(await store.listUnfinished()).toEqual([]);
  });
});

describe("a task at INPUT_REQUIRED whose agent still runs", () => {
  it.each(["killed", "stopped in order"])("waits for its user after its server was %s [E9]", async (end) => {
    const store = Object.assign(new MemoryStore(), { isDurable: true });
    const before = createEngineFixture({ store });
    const answer = before.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    endOnAbort(await before.agent.waitForRun(0)).emit(inputRequiredTestEvent);
    const { id } = getTestResponseTask(await answer);
    await flushEventLoopForTest();
    if (end !== "killed") await before.engine.close(1000);
    const after = createProcessFixture({ store });
    await after.engine.open();
    expect(await getState(after, id)).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("can be restarted after its agent has continued without a message [E9]", async () => {
    const store = new MemoryStore();
    const agent = new ScriptedAgent({ afterRestart: "restart" });
    const before = createEngineFixture({ store, agent });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = (await agent.waitForRun(0)).emit(inputRequiredTestEvent);
    await flushEventLoopForTest();
    expect(await store.listUnfinished()).toEqual([]);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const after = createProcessFixture({ store, agent: new ScriptedAgent({ afterRestart: "restart" }) });
    await after.engine.open();
    expect((await after.agent.waitForRun(0)).run).toMatchObject({ taskId: run.run.taskId, attempt: 2 });
  });
});
