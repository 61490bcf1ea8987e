import { describe, expect, it } from "vitest";
import { A2AError, getText, type JsonObject, type Message, type Task } from "../protocol/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  bob,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  ScriptedAgent,
  getRejectionA2AErrorReasonForTest,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  getTestResponseTask,
  formatTaskEventForTest,
  workingTestEvent,
} from "./engine.fixture.ts";

/**
 * Accepts messages that start with an exclamation mark and rejects messages that start with a question mark.
 */
class SelectiveAgent extends ScriptedAgent {
  readonly accepted: { text: string; task: Task; caller: object }[] = [];

  deliver(message: Message, task: Task, caller: object): boolean {
    const text = getText(message.parts);
    if (text.startsWith("?"))
      throw A2AError.invalidParams([{ field: "message", description: "no questions" }]);
    if (!text.startsWith("!")) return false;
    this.accepted.push({ text, task, caller });
    return true;
  }
}

describe("a message for a running agent", () => {
  it("is added to the history when the agent accepts it, without an effect on streams or the turn", async () => {
    const agent = new SelectiveAgent();
    const { engine } = createEngineFixture({ agent });
    const all = engine
      .sendStreamingMessage(createTestSendMessageRequest("begin"), alice)
      .then(collectSubscriptionEventsForTest);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent, createTestChunkEvent("before ", false));
    await flushEventLoopForTest();
    const { taskId } = run.run;

    const answer = getTestResponseTask(
      await engine.sendMessage(createTestSendMessageRequest("!budget 3", { taskId }), alice),
    );
    expect(answer.status.state).toBe("TASK_STATE_WORKING");
    expect(agent.accepted.map(({ text, caller }) => [text, caller])).toEqual([["!budget 3", alice]]);

    run.emit(createTestChunkEvent("after")).end();
    expect((await all).map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task SUBMITTED",
      "WORKING",
      "before ",
      "after",
      "COMPLETED",
    ]);
    const task = await engine.getTask({ id: taskId }, alice);
    expect(task.history?.map(({ parts }) => getText(parts))).toEqual(["begin", "!budget 3"]);
    expect(agent.runs).toHaveLength(1);
  });

  it("opens a stream that ends when the running turn stops", async () => {
    const agent = new SelectiveAgent();
    const { engine } = createEngineFixture({ agent });
    void engine.sendMessage(createTestSendMessageRequest("begin"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const all = engine
      .sendStreamingMessage(createTestSendMessageRequest("!now", { taskId: run.run.taskId }), alice)
      .then(collectSubscriptionEventsForTest);
    await flushEventLoopForTest();
    run.emit(inputRequiredTestEvent).end();
    expect((await all).map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task WORKING",
      "INPUT_REQUIRED",
    ]);
  });

  it("is processed once, even if it is sent repeatedly [E10]", async () => {
    const agent = new SelectiveAgent();
    const { engine } = createEngineFixture({ agent });
    void engine.sendMessage(createTestSendMessageRequest("begin"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const same = createTestSendMessageRequest("!once", { taskId: run.run.taskId });
    await Promise.all([engine.sendMessage(same, alice), engine.sendMessage(same, alice)]);
    await engine.sendMessage(same, alice);
    expect(agent.accepted).toHaveLength(1);
    run.end();
  });

  it("is rejected when the agent does not accept it, with the agent's reason if it has one", async () => {
    const agent = new SelectiveAgent();
    const { engine } = createEngineFixture({ agent });
    void engine.sendMessage(createTestSendMessageRequest("begin"), alice);
    const run = await agent.waitForRun(0);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    const { taskId } = run.run;
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("more", { taskId }), alice),
      ),
    ).toBe("UNSUPPORTED_OPERATION");
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("?why", { taskId }), alice),
      ),
    ).toBe("INVALID_PARAMS");
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("!mine", { taskId }), bob),
      ),
    ).toBe("TASK_NOT_FOUND");
    expect(agent.accepted).toEqual([]);
    run.end();
  });

  it("is not offered to an agent that waits for its user or has ended", async () => {
    const agent = new SelectiveAgent();
    const { engine } = createEngineFixture({ agent });
    const asking = engine.sendMessage(createTestSendMessageRequest("begin"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id: taskId } = getTestResponseTask(await asking);
    const answering = engine.sendMessage(createTestSendMessageRequest("!answer", { taskId }), alice);
    (await agent.waitForRun(1)).end();
    await answering;
    expect(
      await getRejectionA2AErrorReasonForTest(
        engine.sendMessage(createTestSendMessageRequest("!late", { taskId }), alice),
      ),
    ).toBe("UNSUPPORTED_OPERATION");
    expect(agent.accepted).toEqual([]);
  });
});

describe("the metadata of a CancelTask request", () => {
  const metadata = { why: "timeout" };

  it("is available to the run before it ends", async () => {
    const { engine, agent } = createEngineFixture();
    void engine.sendMessage(createTestSendMessageRequest("begin"), alice);
    const scriptedRun = await agent.waitForRun(0);
    const { run } = scriptedRun;
    await flushEventLoopForTest();
    expect(run.cancelMetadata).toBeUndefined();
    let received: JsonObject | undefined;
    run.signal.addEventListener("abort", () => {
      received = run.cancelMetadata;
      scriptedRun.end();
    });
    await engine.cancelTask({ id: run.taskId, metadata }, alice);
    expect(received).toEqual(metadata);
  });

  it("is undefined when the server closes", async () => {
    const { engine, agent } = createEngineFixture();
    void engine.sendMessage(createTestSendMessageRequest("begin"), alice).catch(() => {});
    const found = await agent.waitForRun(0);
    found.run.signal.addEventListener("abort", () => found.end());
    await engine.close(1000);
    expect(found.run.cancelMetadata).toBeUndefined();
  });

  it("is passed to an agent whose task was waiting", async () => {
    const received: JsonObject[] = [];
    class CancelRecordingAgent extends ScriptedAgent {
      onTaskCanceled(_task: Task, _caller: object, metadata: JsonObject): void {
        received.push(metadata);
      }
    }
    const agent = new CancelRecordingAgent();
    const { engine } = createEngineFixture({ agent });
    for (const [at, cancel] of [{ metadata }, {}].entries()) {
      const asking = engine.sendMessage(createTestSendMessageRequest("begin"), alice);
      (await agent.waitForRun(at)).emit(inputRequiredTestEvent).end();
      await engine.cancelTask({ id: getTestResponseTask(await asking).id, ...cancel }, alice);
    }
    expect(received).toEqual([metadata, {}]);
  });
});
