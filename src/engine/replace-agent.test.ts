import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { getText, type Message } from "../protocol/index.ts";
import { SqliteStore } from "../stores/index.ts";
import {
  alice,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  workingTestEvent,
} from "./engine.fixture.ts";

class DeliveringAgent extends ScriptedAgent {
  readonly delivered: string[] = [];

  deliver(message: Message): boolean {
    this.delivered.push(getText(message.parts));
    return true;
  }
}

describe("an engine whose agent is replaced", () => {
  it("finishes the running turn with the earlier agent, and starts the next turn with the new agent", async () => {
    const earlier = new ScriptedAgent();
    const later = new ScriptedAgent();
    const { engine } = createEngineFixture({ agent: earlier });
    const first = engine.sendMessage(createTestSendMessageRequest("first"), alice);
    const running = await earlier.waitForRun(0);
    engine.replaceAgent(later);
    running.emit(createTestChunkEvent("old", false), inputRequiredTestEvent).end();
    const task = getTestResponseTask(await first);
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const second = engine.sendMessage(createTestSendMessageRequest("second", { taskId: task.id }), alice);
    (await later.waitForRun(0)).emit(createTestChunkEvent("new")).end();
    expect(getText(getTestResponseTask(await second).artifacts?.[0]?.parts ?? [])).toBe("oldnew");
    expect([earlier.runs.length, later.runs.length]).toEqual([1, 1]);
  });

  it("offers a message for a running turn to the agent that runs the turn", async () => {
    const earlier = new DeliveringAgent();
    const later = new DeliveringAgent();
    const { engine } = createEngineFixture({ agent: earlier });
    void engine.sendMessage(createTestSendMessageRequest("first"), alice);
    const running = await earlier.waitForRun(0);
    running.emit(workingTestEvent);
    await flushEventLoopForTest();
    engine.replaceAgent(later);
    const { taskId } = running.run;
    await engine.sendMessage(createTestSendMessageRequest("more", { taskId }), alice);
    expect([earlier.delivered, later.delivered]).toEqual([["more"], []]);
    running.end();
  });

  it("applies the new agent's order of turns to new turns", async () => {
    const { engine, agent } = createEngineFixture();
    const later = new ScriptedAgent({ concurrentTurns: "refuse" });
    const send = (): Promise<unknown> =>
      engine.sendMessage(createTestSendMessageRequest("x", { contextId: "c" }), alice);
    void send();
    (await agent.waitForRun(0)).emit(workingTestEvent);
    engine.replaceAgent(later);
    void send();
    (await later.waitForRun(0)).emit(workingTestEvent);
    expect(await getRejectionA2AErrorReasonForTest(send())).toBe("UNSUPPORTED_OPERATION");
  });

  it("persists a turn if the agent that runs the turn may continue after a restart", async () => {
    const store = new SqliteStore(join(await mkdtemp(join(tmpdir(), "colloquy-replace-")), "tasks.db"));
    await store.open();
    const persisting = new ScriptedAgent({ afterRestart: "restart" });
    const { engine } = createEngineFixture({ agent: persisting, store });
    const sent = engine.sendMessage(createTestSendMessageRequest("x"), alice).catch(() => {});
    const running = await persisting.waitForRun(0);
    running.emit(workingTestEvent);
    await flushEventLoopForTest();
    engine.replaceAgent(new ScriptedAgent());
    running.run.signal.addEventListener("abort", () => running.fail(new Error("stopped")));
    await engine.close(1000);
    await sent;
    const scope = { agent: "puppet", ...alice };
    const stored = await store.load(scope, running.run.taskId);
    expect(stored?.task.status.state).toBe("TASK_STATE_WORKING");
    await store.close();
  });
});
