import { describe, expect, it } from "vitest";
import { getText } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import type { AgentEvent } from "./agent.ts";
import type { TaskStore } from "./task-store.ts";
import {
  alice,
  inputRequiredTestEvent,
  bob,
  createTestChunkEvent,
  completedTestEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  ScriptedAgent,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
} from "./engine.fixture.ts";

/** A memory store that serializes every event when it is committed, like a store on disk. */
const createSerializingStore = (): TaskStore => Object.assign(new MemoryStore(), { usesSnapshots: true });

const cyclicObject: { self?: unknown } = {};
cyclicObject.self = cyclicObject;
const createPartEvent = (content: unknown): AgentEvent =>
  ({ artifact: { artifactId: "a", parts: [content] } }) as AgentEvent;
const invalidEvents: [string, unknown][] = [
  ["a number that JSON cannot represent", createPartEvent({ data: 1n })],
  ["a cycle", createPartEvent({ data: cyclicObject })],
  ["a function", createPartEvent({ data: () => 1 })],
  ["a part that is null", createPartEvent(null)],
  ["a part without content", createPartEvent({})],
  ["text that is not a string", createPartEvent({ text: 5 })],
  ["metadata that is not JSON", { ...workingTestEvent, metadata: { n: 1n } }],
  ["a chunk's metadata that is not JSON", { ...createTestChunkEvent("x"), metadata: { n: 1n } }],
  [
    "an artifact's metadata that is not JSON",
    { artifact: { artifactId: "a", parts: [{ text: "x" }], metadata: cyclicObject } },
  ],
  [
    "a message that is not JSON",
    { status: { state: "TASK_STATE_WORKING", message: { parts: [{ data: 1n }] } } },
  ],
  ["an unknown state", { status: { state: "message" } }],
  ["a member name of Object.prototype as state", { status: { state: "constructor" } }],
  ["a string", "hello"],
];

describe("an agent that yields", () => {
  it.each(invalidEvents)("%s fails only its own task, with a reason [E14, F-18]", async (_, event) => {
    const { engine, agent } = createEngineFixture({ store: createSerializingStore() });
    const answers = [
      engine.sendMessage(createTestSendMessageRequest("a"), alice),
      engine.sendMessage(createTestSendMessageRequest("b"), alice),
    ];
    (await agent.waitForRun(0)).emit(event as AgentEvent).end();
    (await agent.waitForRun(1)).emit(createTestChunkEvent("fine", false)).end();
    const [bad, good] = (await Promise.all(answers)).map(getTestResponseTask);
    expect(bad?.status.state).toBe("TASK_STATE_FAILED");
    expect(getText(bad?.status.message?.parts ?? [])).toContain("invalid event");
    expect(good?.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("unserializable data fails only the commit of its own task", async () => {
    const { engine, agent, errors } = createEngineFixture({ store: createSerializingStore() });
    const answers = [
      engine.sendMessage(createTestSendMessageRequest("a"), alice),
      engine.sendMessage(createTestSendMessageRequest("b"), alice),
    ];
    let looked = false;
    const once = {
      toJSON(): string {
        if (looked) throw new Error("too large by now");
        looked = true;
        return "x";
      },
    };
    (await agent.waitForRun(0)).emit(createPartEvent({ data: once })).end();
    (await agent.waitForRun(1)).end();
    expect(await getRejectionA2AErrorReasonForTest(answers[0] as Promise<unknown>)).toBe("UNAVAILABLE");
    expect(getTestResponseTask((await answers[1]) as object).status.state).toBe("TASK_STATE_COMPLETED");
    expect(errors).toHaveLength(1);
  });

  it.each(invalidEvents)(
    "%s as its first event does not keep a slot of the run limit [E14]",
    async (_, event) => {
      const agent = new ScriptedAgent({ respondsWith: "either" });
      const { engine } = createEngineFixture({ agent, limits: { runs: 1 } });
      const answer = engine.sendMessage(createTestSendMessageRequest("a"), alice);
      (await agent.waitForRun(0)).emit(event as AgentEvent).end();
      expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_FAILED");
      const next = engine.sendMessage(createTestSendMessageRequest("b"), alice);
      (await agent.waitForRun(1)).end();
      expect(getTestResponseTask(await next).status.state).toBe("TASK_STATE_COMPLETED");
    },
  );
});

describe("an agent that answers without a task", () => {
  it.each([
    ["throws while it is left", () => Promise.reject(new Error("cleanup"))],
    ["never finishes leaving", () => new Promise<never>(() => {})],
  ])("and then %s has still sent its reply", async (_, leave) => {
    const agent = new ScriptedAgent({ respondsWith: "either" });
    const next = (): Promise<IteratorResult<AgentEvent>> =>
      Promise.resolve({ done: false, value: { message: { parts: [{ text: "hi" }] } } });
    agent.execute = () => ({ [Symbol.asyncIterator]: () => ({ next, return: leave }) });
    const { engine } = createEngineFixture({ agent });
    expect(await engine.sendMessage(createTestSendMessageRequest("a"), alice)).toMatchObject({
      message: { parts: [{ text: "hi" }] },
    });
  });

  it.each([
    ["a part without content", { parts: [{}] }],
    ["no parts", {}],
  ])("with %s has not sent a reply", async (_, message) => {
    const agent = new ScriptedAgent({ respondsWith: "either" });
    const { engine } = createEngineFixture({ agent, limits: { runs: 1 } });
    for (const at of [0, 1]) {
      const answer = getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("a"), alice),
      );
      (await agent.waitForRun(at)).emit({ message } as AgentEvent).end();
      expect(await answer).toBe("INVALID_AGENT_RESPONSE");
    }
  });

  it("is stopped when the server closes before its first event [E15]", async () => {
    const agent = new ScriptedAgent({ respondsWith: "either" });
    const { engine, clock } = createEngineFixture({ agent });
    const answer = getRejectionA2AErrorReasonForTest(
      engine.sendMessage(createTestSendMessageRequest("a"), alice),
    );
    const run = await agent.waitForRun(0);
    const closed = engine.close(1000);
    expect(run.run.signal.aborted).toBe(true);
    clock.advance(1000);
    await closed;
    // The caller does not wait for an agent that ignores the signal.
    expect(await answer).toBe("UNAVAILABLE");
    run.emit({ message: { parts: [{ text: "too late" }] } });
    await flushEventLoopForTest();
    expect(run.isReturned).toBe(true);
  });
});

describe("concurrent requests", () => {
  async function asking(): Promise<ReturnType<typeof createEngineFixture> & { id: string }> {
    const set = createEngineFixture();
    const answer = set.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await set.agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    await flushEventLoopForTest();
    return { ...set, id };
  }

  it("share one active task, even if one of them fails [E11]", async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { engine, agent, id } = await asking();
      const refused = getRejectionA2AErrorReasonForTest(
        engine.subscribeToTask({ id }, alice, { resumeAfterSeq: 99 }),
      );
      for (let at = 0; at < ticks; at++) await Promise.resolve();
      const answer = engine.sendMessage(createTestSendMessageRequest("blue", { taskId: id }), alice);
      expect(await refused).toBe("INVALID_PARAMS");
      const run = await agent.waitForRun(1);
      await flushEventLoopForTest();
      const canceled = engine.cancelTask({ id }, alice);
      await flushEventLoopForTest();
      expect(run.run.signal.aborted).toBe(true);
      run.end();
      expect((await canceled).status.state).toBe("TASK_STATE_CANCELED");
      expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_CANCELED");
    }
  });

  it("to follow a task receive later events, even if one of them fails [E3]", async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { engine, agent, id } = await asking();
      const refused = getRejectionA2AErrorReasonForTest(
        engine.subscribeToTask({ id }, alice, { resumeAfterSeq: 99 }),
      );
      for (let at = 0; at < ticks; at++) await Promise.resolve();
      const stream = await engine.subscribeToTask({ id }, alice);
      await refused;
      const seen = collectSubscriptionEventsForTest(stream);
      const answer = engine.sendMessage(createTestSendMessageRequest("blue", { taskId: id }), alice);
      (await agent.waitForRun(1)).end();
      await answer;
      await flushEventLoopForTest();
      stream.close();
      expect((await seen).map(({ event }) => formatTaskEventForTest(event)).at(-1)).toBe("COMPLETED");
    }
  });

  it("to continue a task result in one turn and one rejection [E11]", async () => {
    const { engine, agent, id } = await asking();
    const answers = ["red", "blue"].map((text) =>
      engine.sendMessage(createTestSendMessageRequest(text, { taskId: id }), alice),
    );
    (await agent.waitForRun(1)).end();
    const reasons = await Promise.all(answers.map(getRejectionA2AErrorReasonForTest));
    expect(reasons.toSorted()).toEqual(["UNSUPPORTED_OPERATION", "nothing"]);
    expect(agent.runs).toHaveLength(2);
  });
});

describe("a slot of the stream limit", () => {
  it("is released when the resume point is rejected [E14]", async () => {
    const { engine, agent } = createEngineFixture({ limits: { streams: 1 } });
    const task = getTestResponseTask(
      await engine.sendMessage(
        createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } }),
        alice,
      ),
    );
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.subscribeToTask({ id: task.id }, alice, { resumeAfterSeq: 99 }),
      ),
    ).toBe("INVALID_PARAMS");
    const stream = await engine.subscribeToTask({ id: task.id }, alice);
    (await agent.waitForRun(0)).end();
    expect((await collectSubscriptionEventsForTest(stream)).length).toBeGreaterThan(1);
  });
});

describe("the end of a stream", () => {
  it("of a repeated message is where its turn stopped, from every resume point [E4, E10, G-04]", async () => {
    const { engine, agent } = createEngineFixture();
    const first = createTestSendMessageRequest("hi");
    const answer = engine.sendMessage(first, alice);
    (await agent.waitForRun(0)).emit(workingTestEvent, inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    const again = async (after?: number): Promise<string[]> =>
      (
        await collectSubscriptionEventsForTest(
          await engine.sendStreamingMessage(first, alice, { resumeAfterSeq: after }),
        )
      ).map(({ event }) => formatTaskEventForTest(event));
    expect(await again(0)).toEqual(["task SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    expect(await again(2)).toEqual(["INPUT_REQUIRED"]);
    expect(await again(3)).toEqual([]);
    const second = engine.sendMessage(createTestSendMessageRequest("blue", { taskId: id }), alice);
    const run = await agent.waitForRun(1);
    await flushEventLoopForTest();
    expect(await again(2)).toEqual(["INPUT_REQUIRED"]);
    expect(await again(3)).toEqual([]);
    run.end();
    await second;
    expect(await again(0)).toEqual(["task SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    expect(await again(3)).toEqual([]);
    expect(await again(5)).toEqual([]);
  });

  it("does not answer a message while the agent continues without input [F-02]", async () => {
    const { engine, agent } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    run.emit({ status: { state: "TASK_STATE_AUTH_REQUIRED" } }, workingTestEvent);
    await flushEventLoopForTest();
    run.emit(createTestChunkEvent("done", false)).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("a store that fails for one task", () => {
  it("does not delay other tasks while that task is retried [E14]", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    let victim = "";
    store.commit = (batch) =>
      batch.some(({ taskId }) => taskId === victim) ? Promise.reject(new Error("no")) : commit(batch);
    const { engine, agent } = createEngineFixture({ store });
    const immediately = { configuration: { returnImmediately: true } };
    victim = getTestResponseTask(
      await engine.sendMessage(createTestSendMessageRequest("a", immediately), alice),
    ).id;
    const other = engine.sendMessage(createTestSendMessageRequest("b"), bob);
    (await agent.waitForRun(0)).emit(workingTestEvent);
    (await agent.waitForRun(1)).emit(workingTestEvent);
    await flushEventLoopForTest();
    agent.runs[1]?.emit(completedTestEvent).end();
    // No time passes, so the other task does not wait for the retry.
    expect(getTestResponseTask(await other).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("close", () => {
  it("rejects messages that wait for the current turn [E15]", async () => {
    const agent = new ScriptedAgent({ whileWorking: "queue" });
    const { engine } = createEngineFixture({ agent });
    const first = engine.sendMessage(createTestSendMessageRequest("a"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const [task] = (await engine.listTasks({}, alice)).tasks;
    const second = getRejectionA2AErrorReasonForTest(
      engine.sendMessage(createTestSendMessageRequest("b", { taskId: task?.id as string }), alice),
    );
    await flushEventLoopForTest();
    run.emit(inputRequiredTestEvent).end();
    const closed = engine.close(1000);
    await closed;
    await first;
    expect(await second).toBe("UNAVAILABLE");
    expect(agent.runs).toHaveLength(1);
  });
});

describe("an observer", () => {
  it("that fails asynchronously does not affect tasks", async () => {
    const later = (): unknown => Promise.reject(new Error("the log is full"));
    const { engine, agent } = createEngineFixture({ observer: { onEvent: later } });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    (await agent.waitForRun(0)).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    await flushEventLoopForTest();
  });
});
