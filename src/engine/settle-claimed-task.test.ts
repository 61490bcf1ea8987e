import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { copyTask, getText, type Task } from "../protocol/index.ts";
import type { Agent, AgentEvent, Run } from "./agent.ts";
import type { LogAppend, AppendRefusal } from "./task-store.ts";
import { Committer } from "./committer.ts";
import { Engine } from "./engine.ts";
import {
  alice,
  inputRequiredTestEvent,
  createTestChunkEvent,
  completedTestEvent,
  collectSubscriptionEventsForTest,
  FakeClock,
  createProcessFixture,
  ScriptedAgent,
  getRejectionA2AErrorReasonForTest,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  getTestResponseTask,
  formatTaskEventForTest,
  workingTestEvent,
} from "./engine.fixture.ts";

/** A store that stops responding after a number of commits, as if its process were killed. */
class CrashingStore extends MemoryStore {
  commitsLeft = Infinity;

  override commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    if (this.commitsLeft-- > 0) return super.commit(batch);
    return new Promise(() => {});
  }
}

/** A store that fails once to read the log of a task. */
class FailingReadStore extends MemoryStore {
  failingTaskId: string | undefined;

  override readEvents(
    ...request: Parameters<MemoryStore["readEvents"]>
  ): ReturnType<MemoryStore["readEvents"]> {
    if (request[1] !== this.failingTaskId) return super.readEvents(...request);
    this.failingTaskId = undefined;
    return Promise.reject(new Error("The disk is away."));
  }
}

const getArtifactText = (task: Task, id = "a"): string | undefined => {
  const artifact = task.artifacts?.find(({ artifactId }) => artifactId === id);
  return artifact && getText(artifact.parts);
};

describe.each(["restart", "resume"] as const)("an agent with afterRestart: %s", (afterRestart) => {
  const createAgent = (): ScriptedAgent => new ScriptedAgent({ afterRestart });

  it("repeats the turn of a killed process, for the same task and caller [E9]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    const request = createTestSendMessageRequest("hi", {
      configuration: {
        acceptedOutputModes: ["text/plain"],
        taskPushNotificationConfig: undefined as never,
      },
    });
    void before.engine
      .sendMessage({ ...request, metadata: { urgent: true } }, alice, { extensions: ["urn:x"] })
      .catch(() => {});
    const { run: first } = await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    expect(first.attempt).toBe(1);

    const { engine, agent: after } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const { run } = await after.waitForRun(0);
    expect(run).toMatchObject({
      taskId: first.taskId,
      contextId: first.contextId,
      attempt: 2,
      message: first.message,
      configuration: { acceptedOutputModes: ["text/plain"] },
      metadata: { urgent: true },
      extensions: ["urn:x"],
      caller: alice,
    });
    expect((await engine.getTask({ id: run.taskId }, alice)).status.state).toBe("TASK_STATE_WORKING");
  });

  it("fails the turn if the agent of the next process does not declare afterRestart [E9]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const { run } = await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    const { engine, agent: after } = createProcessFixture({ store });
    await engine.open();
    await flushEventLoopForTest();
    expect((await engine.getTask({ id: run.taskId }, alice)).status.state).toBe("TASK_STATE_FAILED");
    expect(after.runs).toHaveLength(0);
  });

  it("repeats the turn in the mode of its request, streaming or not [E9]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    void before.engine.sendMessage(createTestSendMessageRequest("whole"), alice).catch(() => {});
    await before.engine.sendStreamingMessage(createTestSendMessageRequest("streamed"), alice);
    await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    const { engine, agent: after } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    await after.waitForRun(1);
    const modes = after.runs.map(({ run }) => [getText(run.message.parts), run.isStreaming]);
    expect(Object.fromEntries(modes)).toEqual({ whole: false, streamed: true });
  });

  it("answers a client that sends its message again [E9, E10]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    const request = createTestSendMessageRequest("hi");
    void before.engine.sendMessage(request, alice).catch(() => {});
    await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    const { engine, agent: after } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const answer = engine.sendMessage(request, alice);
    (await after.waitForRun(0)).emit(createTestChunkEvent("done", false)).end();
    const task = getTestResponseTask(await answer);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactText(task)).toBe("done");
    expect(after.runs).toHaveLength(1);
  });

  it("repeats a later turn of a task, but no turn that waits for its user [E9]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    const first = before.engine.sendMessage(createTestSendMessageRequest("one"), alice);
    (await before.agent.waitForRun(0))
      .emit(createTestChunkEvent("which? ", false), inputRequiredTestEvent)
      .end();
    const { id } = getTestResponseTask(await first);
    const waiting = createProcessFixture({ store, agent: createAgent() });
    await waiting.engine.open();
    expect(waiting.agent.runs).toHaveLength(0);

    void waiting.engine
      .sendMessage(createTestSendMessageRequest("two", { taskId: id }), alice)
      .catch(() => {});
    await waiting.agent.waitForRun(0);
    await flushEventLoopForTest();
    const { engine, agent: after } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const { run } = await after.waitForRun(0);
    expect(getText(run.message.parts)).toBe("two");
    expect(run.task.history?.map(({ parts }) => getText(parts))).toEqual(["one", "which?", "two"]);
    expect(run.task.artifacts).toHaveLength(1);
  });

  it("starts a limited number of times, however the process ends [E9, E14]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const { run } = await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    const attempts: number[] = [];
    for (let at = 0; at < 4; at++) {
      const { engine, agent: after } = createProcessFixture({
        store,
        agent: createAgent(),
        limits: { turnAttempts: 3 },
      });
      await engine.open();
      attempts.push(...after.runs.map((again) => again.run.attempt));
    }
    expect(attempts).toEqual([2, 3]);
    const { status } = await createProcessFixture({ store }).engine.getTask({ id: run.taskId }, alice);
    expect(status.state).toBe("TASK_STATE_FAILED");
    expect(getText(status.message?.parts ?? [])).toContain("stopped in each of 3 attempts");
    expect(await store.listUnfinished()).toEqual([]);
  });

  it("does not fail together with a turn that kills each process [E17]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    const texts = ["a", "b", "poison", "c", "d"];
    for (const text of texts)
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    await before.agent.waitForRun(4);
    await flushEventLoopForTest();
    const idsByText = new Map(before.agent.runs.map(({ run }) => [getText(run.message.parts), run.taskId]));
    let deaths = 0;
    for (let isAlive = false; !isAlive && deaths < 10;) {
      const { engine, agent } = createProcessFixture({ store, agent: createAgent() });
      await engine.open();
      await flushEventLoopForTest();
      isAlive = true;
      for (let at = 0; isAlive && at < agent.runs.length; at++) {
        const scripted = agent.runs[at];
        // A process that dies continues none of its runs.
        isAlive = !agent.runs.some(({ run }) => getText(run.message.parts) === "poison");
        if (!isAlive) deaths++;
        else scripted?.end();
        await flushEventLoopForTest();
      }
    }
    const { engine } = createProcessFixture({ store });
    const states = await Promise.all(
      texts.map(
        async (text) => (await engine.getTask({ id: idsByText.get(text) ?? "" }, alice)).status.state,
      ),
    );
    expect(states).toEqual(
      texts.map((text) => (text === "poison" ? "TASK_STATE_FAILED" : "TASK_STATE_COMPLETED")),
    );
    expect(deaths).toBe(5);
  });

  it("does not wait for older turns before a turn that kills each process fails [E17]", async () => {
    const store = new MemoryStore();
    let lastId = 0;
    const generateId = (): string => String(++lastId).padStart(4, "0");
    const before = createProcessFixture({ store, agent: createAgent(), generateId });
    const texts = ["a", "b", "c", "poison"];
    for (const text of texts)
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    const { run: poison } = await before.agent.waitForRun(3);
    await flushEventLoopForTest();
    // Each process dies as soon as the poison runs. The other turns never end, and no time passes. One process runs all
    // turns, one a group with the poison, three the poison alone, and one fails the poison.
    let last = before;
    for (let process = 0; process < 6; process++) {
      last = createProcessFixture({ store, agent: createAgent() });
      await last.engine.open();
      await flushEventLoopForTest();
    }
    // The waiting turns can be read.
    const tasks = await Promise.all(
      before.agent.runs.map(({ run }) => last.engine.getTask({ id: run.taskId }, alice)),
    );
    const failed = tasks.filter(({ status }) => status.state === "TASK_STATE_FAILED");
    expect(failed.map(({ id }) => id)).toEqual([poison.taskId]);
  });

  it("fails only the turn that kills each process, although a longer turn started alone before it [E17]", async () => {
    const store = new MemoryStore();
    let lastId = 0;
    const generateId = (): string => String(++lastId).padStart(4, "0");
    const before = createProcessFixture({ store, agent: createAgent(), generateId });
    for (const text of ["poison", "long"])
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    // Each process dies when the poison runs. The long turn never ends.
    for (let process = 0; process < 6; process++) {
      const { engine, agent, clock } = createProcessFixture({ store, agent: createAgent() });
      await engine.open();
      await flushEventLoopForTest();
      const isDead = agent.runs.some(({ run }) => getText(run.message.parts) === "poison");
      if (!isDead) clock.advance(2500);
      await flushEventLoopForTest();
    }
    const last = createProcessFixture({ store, agent: createAgent() });
    await last.engine.open();
    const tasks = await Promise.all(
      before.agent.runs.map(({ run }) => last.engine.getTask({ id: run.taskId }, alice)),
    );
    expect(tasks.map(({ status }) => status.state)).toEqual(["TASK_STATE_FAILED", "TASK_STATE_WORKING"]);
  });

  it("starts after a turn that ended alone, although a reader waits for the next message of its task [E2, E17]", async () => {
    const store = new MemoryStore();
    let lastId = 0;
    const generateId = (): string => String(++lastId).padStart(4, "0");
    const before = createProcessFixture({ store, agent: createAgent(), generateId });
    for (const text of ["next", "asks"])
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    const second = createProcessFixture({ store, agent: createAgent() });
    await second.engine.open();
    await second.agent.waitForRun(1);
    await flushEventLoopForTest();
    const { engine, agent } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const asks = await agent.waitForRun(0);
    const reader = await engine.subscribeToTask({ id: asks.run.taskId }, alice);
    asks.emit(inputRequiredTestEvent);
    await flushEventLoopForTest();
    // The task has no more commits.
    asks.end();
    await flushEventLoopForTest();
    expect(agent.runs.map(({ run }) => getText(run.message.parts))).toEqual(["asks", "next"]);
    reader.close();
  });

  it("starts 2.5 s after a turn that is alone and that writes during each commit [E17]", async () => {
    const store = new MemoryStore();
    let lastId = 0;
    const generateId = (): string => String(++lastId).padStart(4, "0");
    const before = createProcessFixture({ store, agent: createAgent(), generateId });
    for (const text of ["next", "writes"])
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    const second = createProcessFixture({ store, agent: createAgent() });
    await second.engine.open();
    await second.agent.waitForRun(1);
    await flushEventLoopForTest();
    const { engine, agent, clock } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const writes = await agent.waitForRun(0);
    const commit = store.commit.bind(store);
    store.commit = async (batch) => {
      writes.emit(createTestChunkEvent("x"));
      await flushEventLoopForTest();
      return await commit(batch);
    };
    writes.emit(createTestChunkEvent("x", false));
    await flushEventLoopForTest();
    clock.advance(2500);
    await agent.waitForRun(1);
    expect(agent.runs.map(({ run }) => getText(run.message.parts))).toEqual(["writes", "next"]);
    expect((await engine.getTask({ id: writes.run.taskId }, alice)).status.state).toBe("TASK_STATE_WORKING");
    writes.end();
  });

  it("can be canceled at once while it waits for other turns whose processes died [E17]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    for (const text of ["one", "two"])
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    const second = createProcessFixture({ store, agent: createAgent() });
    await second.engine.open();
    await second.agent.waitForRun(1);
    await flushEventLoopForTest();
    const warnings: string[] = [];
    const observer = { onWarning: ({ message }: { message: string }) => void warnings.push(message) };
    const third = createProcessFixture({ store, agent: createAgent(), observer });
    await third.engine.open();
    const { run: running } = await third.agent.waitForRun(0);
    const [waiting = ""] = before.agent.runs
      .map(({ run }) => run.taskId)
      .filter((id) => id !== running.taskId);
    expect(third.engine.waitingTurnCounts.recovery).toBe(1);
    expect(warnings).toEqual([expect.stringContaining("1 tasks start in groups")]);
    const canceled = await third.engine.cancelTask({ id: waiting }, alice);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(third.engine.waitingTurnCounts.recovery).toBe(0);
    expect(third.agent.runs).toHaveLength(1);
  });

  it("runs once per turn, even if recovery fails and is repeated [E9]", async () => {
    const store = new FailingReadStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    for (const text of ["one", "two"])
      void before.engine.sendMessage(createTestSendMessageRequest(text), alice).catch(() => {});
    const { run: second } = await before.agent.waitForRun(1);
    await flushEventLoopForTest();
    store.failingTaskId = second.taskId;
    const { engine, agent: after, clock, errors } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    expect(errors).toMatchObject([{ message: "The disk is away." }]);
    expect(await getRejectionA2AErrorReasonForTest(engine.cancelTask({ id: second.taskId }, alice))).toBe(
      "UNAVAILABLE",
    );
    clock.advance(100);
    await flushEventLoopForTest();
    expect(after.runs.map(({ run }) => [getText(run.message.parts), run.attempt])).toEqual([
      ["one", 2],
      ["two", 2],
    ]);
  });

  it.each([
    ["runs", { runs: 1 }],
    ["bytes of messages", { unfinishedMessageBytes: 250 }],
  ])("does not exceed the limit of %s: further tasks wait for room [E9, E14]", async (_, limits) => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const reported: unknown[] = [];
    const before = createProcessFixture({ store, agent: createAgent(), clock });
    const texts = ["one", "two", "three"];
    for (const text of texts)
      void before.engine.sendMessage(createTestSendMessageRequest(text.padEnd(50)), alice).catch(() => {});
    await before.agent.waitForRun(2);
    await flushEventLoopForTest();
    const observer = { onError: (report: unknown) => void reported.push(report) };
    const { engine, agent: after } = createProcessFixture({
      store,
      agent: createAgent(),
      clock,
      limits,
      observer,
    });
    await engine.open();
    for (const count of [1, 2, 3]) {
      await flushEventLoopForTest();
      expect(after.runs).toHaveLength(count);
      after.runs[count - 1]?.end();
      await flushEventLoopForTest();
      clock.advance(1000);
    }
    await flushEventLoopForTest();
    expect(await store.listUnfinished()).toEqual([]);
    expect(after.runs.map(({ run }) => getText(run.message.parts).trim()).toSorted()).toEqual(
      texts.toSorted(),
    );
    expect(after.runs.map(({ run }) => run.attempt)).toEqual([2, 2, 2]);
    for (const { run } of after.runs)
      expect((await engine.getTask({ id: run.taskId }, alice)).status.state).toBe("TASK_STATE_COMPLETED");
    expect(reported).toEqual([]);
  });

  it("fails a task that is larger than the limit, because no other task can make room for it [E9, E14]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    void before.engine.sendMessage(createTestSendMessageRequest("x".repeat(1000)), alice).catch(() => {});
    const { run } = await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    const limits = { unfinishedMessageBytes: 250 };
    const { engine } = createProcessFixture({ store, agent: createAgent(), limits });
    await engine.open();
    expect((await engine.getTask({ id: run.taskId }, alice)).status.state).toBe("TASK_STATE_FAILED");
  });

  it("continues all tasks that the earlier process has admitted, also beyond a caller's share [E9, E14]", async () => {
    const store = new MemoryStore();
    const limits = { runs: 4 };
    const before = createProcessFixture({ store, agent: createAgent(), limits });
    // The networks of anonymous callers are not stored, so all tasks have the same caller after the restart.
    for (const anonymousNetwork of ["192.0.2.1", "192.0.2.1", "192.0.2.2"])
      void before.engine
        .sendMessage(createTestSendMessageRequest("hi"), { tenant: "", principal: "", anonymousNetwork })
        .catch(() => {});
    await before.agent.waitForRun(2);
    await flushEventLoopForTest();
    const after = createProcessFixture({ store, agent: createAgent(), limits });
    await after.engine.open();
    await flushEventLoopForTest();
    expect(after.agent.runs).toHaveLength(3);
  });

  it("can be canceled after the restart, and the earlier process can no longer write [E8, E9]", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: createAgent() });
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const dead = await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    const { engine, agent: after } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const again = await after.waitForRun(0);
    again.run.signal.addEventListener("abort", () => again.end());
    const late = before.engine.subscribeToTask({ id: dead.run.taskId }, alice);
    dead.emit(createTestChunkEvent("late"));
    await expect(collectSubscriptionEventsForTest(await late)).rejects.toMatchObject({
      reason: "UNAVAILABLE",
    });
    await engine.cancelTask({ id: again.run.taskId }, alice);
    await flushEventLoopForTest();
    const { status, artifacts } = await engine.getTask({ id: again.run.taskId }, alice);
    expect(status.state).toBe("TASK_STATE_CANCELED");
    expect(artifacts).toBeUndefined();
    expect(await store.listUnfinished()).toEqual([]);
  });

  it("leaves its task to the next server when the store is durable [E9, E15]", async () => {
    const store = Object.assign(new MemoryStore(), { isDurable: true });
    const before = createProcessFixture({ store, agent: createAgent() });
    const request = createTestSendMessageRequest("hi");
    const answer = before.engine.sendMessage(request, alice);
    const run = await before.agent.waitForRun(0);
    run.run.signal.addEventListener("abort", () => run.end());
    await flushEventLoopForTest();
    await before.engine.close(1000);
    expect(await getRejectionA2AErrorReasonForTest(answer)).toBe("UNAVAILABLE");
    const { engine, agent: after } = createProcessFixture({ store, agent: createAgent() });
    await engine.open();
    const repeated = engine.sendMessage(request, alice);
    (await after.waitForRun(0)).end();
    expect(getTestResponseTask(await repeated)).toMatchObject({
      id: run.run.taskId,
      status: { state: "TASK_STATE_COMPLETED" },
    });
  });

  it("fails when its server closes and the store is not durable", async () => {
    const { engine, agent } = createProcessFixture({ agent: createAgent() });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.run.signal.addEventListener("abort", () => run.end());
    await engine.close(1000);
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_FAILED");
  });
});

describe("the input of a repeated run", () => {
  it("is the task at the start of the turn for restart, and the current task for resume [E9]", async () => {
    for (const [afterRestart, seen] of [
      ["restart", undefined],
      ["resume", "half"],
    ] as const) {
      const store = new MemoryStore();
      const before = createProcessFixture({ store, agent: new ScriptedAgent({ afterRestart }) });
      void before.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
      (await before.agent.waitForRun(0)).emit(workingTestEvent, createTestChunkEvent("half", false));
      await flushEventLoopForTest();
      const { engine, agent } = createProcessFixture({
        store,
        agent: new ScriptedAgent({ afterRestart }),
      });
      await engine.open();
      const { run } = await agent.waitForRun(0);
      expect(getArtifactText(run.task)).toBe(seen);
      expect(getArtifactText(await engine.getTask({ id: run.taskId }, alice))).toBe("half");
    }
  });

  it("contains the messages that the agent accepted during the turn [E9]", async () => {
    const taking = (): ScriptedAgent =>
      Object.assign(new ScriptedAgent({ afterRestart: "restart" }), { deliver: () => true });
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: taking() });
    void before.engine.sendMessage(createTestSendMessageRequest("one"), alice).catch(() => {});
    const { run } = await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    await before.engine.sendMessage(createTestSendMessageRequest("two", { taskId: run.taskId }), alice);
    const { engine, agent } = createProcessFixture({ store, agent: taking() });
    await engine.open();
    const again = (await agent.waitForRun(0)).run;
    expect(getText(again.message.parts)).toBe("one");
    expect(again.task.history?.map(({ parts }) => getText(parts))).toEqual(["one", "two"]);
  });

  it("contains no webhook secrets, scopes, or claims", async () => {
    const store = new MemoryStore();
    const before = createProcessFixture({ store, agent: new ScriptedAgent({ afterRestart: "restart" }) });
    const caller = { ...alice, scopes: ["all"], claims: { sub: "alice" }, choseTenant: true };
    void before.engine.sendMessage(createTestSendMessageRequest("hi"), caller).catch(() => {});
    await before.agent.waitForRun(0);
    await flushEventLoopForTest();
    expect(await store.listUnfinished()).toMatchObject([{ turn: { seq: 1, attempt: 1, choseTenant: true } }]);
    expect(JSON.stringify(await store.listUnfinished())).not.toMatch(/scopes|claims/);
  });
});

describe("an artifact of a restarted turn", () => {
  it("is the content at the start of the turn plus the output of the last attempt [E9]", async () => {
    const store = new MemoryStore();
    const agents = (): ScriptedAgent => new ScriptedAgent({ afterRestart: "restart" });
    const before = createProcessFixture({ store, agent: agents() });
    const first = before.engine.sendMessage(createTestSendMessageRequest("one"), alice);
    (await before.agent.waitForRun(0))
      .emit(createTestChunkEvent("log: ", false), inputRequiredTestEvent)
      .end();
    const { id } = getTestResponseTask(await first);
    void before.engine
      .sendMessage(createTestSendMessageRequest("two", { taskId: id }), alice)
      .catch(() => {});
    (await before.agent.waitForRun(1)).emit(
      createTestChunkEvent("half"),
      createTestChunkEvent("new, half", false, "b"),
    );
    await flushEventLoopForTest();
    const { engine, agent } = createProcessFixture({ store, agent: agents() });
    await engine.open();
    const run = await agent.waitForRun(0);
    // An agent may also append to an artifact that it has not started.
    run
      .emit(
        createTestChunkEvent("whole"),
        createTestChunkEvent("."),
        createTestChunkEvent("new", true, "b"),
        createTestChunkEvent(", whole", true, "b"),
      )
      .end();
    await flushEventLoopForTest();
    const task = await engine.getTask({ id }, alice);
    expect(getArtifactText(task)).toBe("log: whole.");
    expect(getArtifactText(task, "b")).toBe("new, whole");
  });
});

/**
 * Writes a report in pieces after the existing content. With `resume`, it continues after the recorded
 * content.
 */
function createReportAgent(afterRestart: "restart" | "resume", pieces: readonly string[]): Agent {
  return {
    afterRestart,
    describe: () => ({ name: "reporter", description: "Reports" }),
    async *execute({ task }: Run): AsyncGenerator<AgentEvent, void> {
      yield workingTestEvent;
      yield { artifact: { artifactId: "found", parts: [{ data: pieces.length }] } };
      const recorded = task.artifacts?.find(({ artifactId }) => artifactId === "a");
      let known = recorded ? getText(recorded.parts).length : 0;
      let isBegun = recorded !== undefined;
      for (const piece of pieces) {
        if (known >= piece.length) {
          known -= piece.length;
          continue;
        }
        yield createTestChunkEvent(piece, isBegun);
        isBegun = true;
        await flushEventLoopForTest(1);
      }
      yield completedTestEvent;
    },
  };
}

describe("processes that are killed at any commit, repeatedly", () => {
  it.each(["restart", "resume"] as const)(
    "end with one complete report in a log without gaps: %s [E9, E1]",
    async (afterRestart) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.stringMatching(/^[a-z]{3}$/), { minLength: 1, maxLength: 8 }),
          // At least one commit for the message and one for the attempt.
          fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
          async (pieces, deaths) => {
            const store = new CrashingStore();
            const live = (commits: number): Engine => {
              store.commitsLeft = commits;
              void store.open();
              const clock = new FakeClock();
              return new Engine({
                agent: createReportAgent(afterRestart, pieces),
                agentId: "puppet",
                store,
                committer: new Committer(store, clock),
                clock,
                mergeChunks: false,
              });
            };
            const request = createTestSendMessageRequest("report");
            void live(deaths[0] ?? Infinity)
              .sendMessage(request, alice)
              .catch(() => {});
            await flushEventLoopForTest(40);
            for (const commits of deaths.slice(1)) {
              void live(commits)
                .open()
                .catch(() => {});
              await flushEventLoopForTest(40);
            }
            const last = live(Infinity);
            await last.open();
            // The client sends the same message again.
            const { id, ...task } = getTestResponseTask(await last.sendMessage(request, alice));
            expect(task.status.state).toBe("TASK_STATE_COMPLETED");
            expect(getArtifactText({ id, ...task })).toBe(pieces.join(""));
            expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual(["found", "a"]);
            const log = await store.readEvents(createTestTaskScopeForCaller(alice), id, 0, {
              events: 1000,
              maxBytes: 1e6,
            });
            expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
            expect(log.filter(({ event }) => formatTaskEventForTest(event) === "COMPLETED")).toHaveLength(1);
            expect(copyTask(await last.getTask({ id }, alice))).toEqual({ id, ...task });
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
