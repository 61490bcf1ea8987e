import { expect, it } from "vitest";
import type { SendMessageResponse, Task } from "../protocol/index.ts";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  type EngineFixture,
  flushEventLoopForTest,
  getTestResponseTask,
  ScriptedAgent,
  type ScriptedRun,
  workingTestEvent,
} from "./engine.fixture.ts";

interface RunningTurn extends EngineFixture {
  readonly first: Promise<SendMessageResponse>;
  readonly run: ScriptedRun;
  /** Sends a message with the signal `interrupt`. */
  readonly interrupt: (text: string) => Promise<SendMessageResponse>;
}

async function startTurn(interruptible = true): Promise<RunningTurn> {
  const agent = Object.assign(new ScriptedAgent(), { interruptible });
  const fixture = createEngineFixture({ agent, cancelGraceMs: 1000 });
  const first = fixture.engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  const run = await agent.waitForRun(0);
  run.emit(workingTestEvent, createTestChunkEvent("before", false));
  await flushEventLoopForTest();
  const interrupt = (text: string): Promise<SendMessageResponse> =>
    fixture.engine.sendMessage(createTestSendMessageRequest(text, { taskId: run.run.taskId }), alice, {
      steering: "interrupt",
    });
  return { ...fixture, first, run, interrupt };
}

it.each<[string, (run: ScriptedRun) => void]>([
  ["returns", (run) => run.end()],
  ["throws", (run) => run.fail(new Error("aborted"))],
])(
  "an interrupt ends the turn as INPUT_REQUIRED when the agent %s, and begins the next turn",
  async (_, stop) => {
    const { agent, clock, first, run, interrupt } = await startTurn();
    run.run.signal.addEventListener("abort", () => stop(run));
    const second = interrupt("instead");
    expect(getTestResponseTask(await first)).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED" },
    });
    const next = await agent.waitForRun(1);
    expect(next.run.message.parts).toEqual([{ text: "instead" }]);
    expect(next.run.task.artifacts).toMatchObject([{ parts: [{ text: "before" }] }]);
    expect(next.run.signal.aborted).toBe(false);
    next.emit(completedTestEvent).end();
    expect(getTestResponseTask(await second).status.state).toBe("TASK_STATE_COMPLETED");
    expect(clock.pendingTimerCount).toBe(0);
  },
);

it("an interrupt ignores the output of an agent that does not stop, after the grace period", async () => {
  const { agent, clock, engine, first, run, interrupt } = await startTurn();
  const second = interrupt("instead");
  await flushEventLoopForTest();
  clock.advance(999);
  await flushEventLoopForTest();
  expect(agent.runs).toHaveLength(1);
  clock.advance(1);
  expect(getTestResponseTask(await first).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  const next = await agent.waitForRun(1);
  run.emit(createTestChunkEvent("late"), completedTestEvent).end();
  next.end();
  const task = getTestResponseTask(await second);
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(JSON.stringify(task)).not.toContain("late");
  expect(await engine.getTask({ id: run.run.taskId }, alice)).toEqual(task);
});

it("an interrupt fails if the agent ends the task first", async () => {
  const { run, first, interrupt } = await startTurn();
  run.run.signal.addEventListener("abort", () => run.emit(completedTestEvent).end());
  await expect(interrupt("instead")).rejects.toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
  expect(getTestResponseTask(await first).status.state).toBe("TASK_STATE_COMPLETED");
});

it("a cancellation takes precedence over an interrupt", async () => {
  const { engine, run, interrupt } = await startTurn();
  const interrupting = interrupt("instead").catch((error: unknown) => error);
  const canceling: Promise<Task> = engine.cancelTask({ id: run.run.taskId }, alice);
  run.end();
  expect((await canceling).status.state).toBe("TASK_STATE_CANCELED");
  expect(await interrupting).toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
});

it("an agent that is not interruptible keeps its turn", async () => {
  const { engine, run, first, interrupt } = await startTurn(false);
  const { taskId } = run.run;
  await expect(interrupt("instead")).rejects.toMatchObject({
    reason: "UNSUPPORTED_OPERATION",
    message: expect.stringContaining("does not stop for a message") as unknown,
  });
  const adjustment = createTestSendMessageRequest("also", { taskId });
  await expect(engine.sendMessage(adjustment, alice, { steering: "steer" })).rejects.toMatchObject({
    reason: "UNSUPPORTED_OPERATION",
    message: expect.stringContaining("does not accept the message now") as unknown,
  });
  expect(run.run.signal.aborted).toBe(false);
  run.end();
  expect(getTestResponseTask(await first).status.state).toBe("TASK_STATE_COMPLETED");
});
