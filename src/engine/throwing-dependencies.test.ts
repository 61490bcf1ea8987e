import { describe, expect, it } from "vitest";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createTestSendMessageRequest,
  type EngineFixtureOptions,
  flushEventLoopForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
} from "./engine.fixture.ts";
import { generateUuidV7 } from "./id-generator.ts";
import type { RunSpan } from "./observer.ts";

function fail(): never {
  throw new Error("thrown by a dependency");
}

const span: RunSpan = { traceparent: "t", run: (work) => work(), end() {} };

describe("run tracing that throws", () => {
  it.each<[string, EngineFixtureOptions["runTracing"]]>([
    ["at the start of a run", { startRun: fail }],
    ["at the end of a run", { startRun: () => ({ ...span, end: fail }) }],
  ])("%s affects neither a first turn nor a queued turn [E2]", async (_name, runTracing) => {
    const agent = new ScriptedAgent({ whileWorking: "queue" });
    const { engine, errors } = createEngineFixture({ agent, runTracing, limits: { runs: 4 } });
    const first = engine.sendMessage(createTestSendMessageRequest("first"), alice);
    const { run } = await agent.waitForRun(0);
    await flushEventLoopForTest();
    const second = engine.sendMessage(createTestSendMessageRequest("second", { taskId: run.taskId }), alice);
    await flushEventLoopForTest();
    agent.runs[0]?.emit(inputRequiredTestEvent).end();
    expect(getTestResponseTask(await first).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    (await agent.waitForRun(1)).emit(completedTestEvent).end();
    expect(getTestResponseTask(await second).status.state).toBe("TASK_STATE_COMPLETED");
    expect(errors.length).toBeGreaterThan(0);
    for (let at = 2; at < 8; at++) {
      const next = engine.sendMessage(createTestSendMessageRequest("next"), alice);
      (await agent.waitForRun(at)).end();
      expect(getTestResponseTask(await next).status.state).toBe("TASK_STATE_COMPLETED");
    }
  });
});

describe("an id generator that throws", () => {
  // The calls in order: the task, the context, and the messages of the agent.
  it.each([1, 2, 3, 4, 5, 6])(
    "in call %i occupies no slot and leaves no task without an agent [E14]",
    async (call) => {
      let calls = 0;
      const generateId = (): string => (++calls === call ? fail() : generateUuidV7());
      const agent = new ScriptedAgent();
      const { engine, clock } = createEngineFixture({ agent, generateId, limits: { runs: 2 } });
      await engine.open();
      for (let at = 0; at < 6; at++) {
        const runCount = agent.runs.length;
        const answer = engine.sendMessage(createTestSendMessageRequest("go"), alice);
        answer.catch(() => {});
        await flushEventLoopForTest(5);
        agent.runs[runCount]?.emit({
          status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: "…" }] } },
        });
        agent.runs[runCount]?.fail(new Error("the agent fails"));
        await flushEventLoopForTest(5);
        clock.advance(6000);
        await flushEventLoopForTest(5);
        await Promise.allSettled([answer]);
      }
      const { tasks } = await engine.listTasks({}, alice);
      expect(tasks.length).toBeGreaterThanOrEqual(5);
      for (const { status } of tasks) expect(status.state).toBe("TASK_STATE_FAILED");
      await engine.close(0);
    },
  );
});

describe("an abort listener of an agent that throws", () => {
  it("is reported, and affects neither the other listeners nor the process [E2]", async () => {
    const { engine, agent, errors } = createEngineFixture();
    const answer = engine.sendMessage(createTestSendMessageRequest("go"), alice);
    const scripted = await agent.waitForRun(0);
    const { signal, taskId } = scripted.run;
    await flushEventLoopForTest();
    signal.addEventListener("abort", fail);
    signal.addEventListener("abort", fail);
    const failLater = (): unknown => Promise.reject(new Error("thrown by a dependency"));
    signal.addEventListener("abort", failLater, { once: true });
    signal.addEventListener("abort", { handleEvent: fail });
    Object.assign(signal, { onabort: fail });
    const events: unknown[] = [];
    const listener = (event: Event): unknown => events.push(event.target);
    signal.addEventListener("abort", listener);
    const removed = (): never => expect.fail("called after its removal");
    signal.addEventListener("abort", removed);
    signal.removeEventListener("abort", removed);
    const canceled = engine.cancelTask({ id: taskId }, alice);
    await flushEventLoopForTest();
    scripted.end();
    expect((await canceled).status.state).toBe("TASK_STATE_CANCELED");
    await answer;
    expect(events).toEqual([signal]);
    expect(errors.map(String)).toEqual(Array(4).fill("Error: thrown by a dependency"));
  });
});
