import { describe, expect, it } from "vitest";
import { getText, type Task } from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  type EngineFixture,
  flushEventLoopForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  type ScriptedRun,
  workingTestEvent,
} from "./engine.fixture.ts";
import { assertValidTurnLimits, type TurnLimits } from "./turn-limits.ts";

const MINUTE_MS = 60_000;
const GRACE_MS = 1000;

interface LimitedTurn extends EngineFixture {
  readonly run: ScriptedRun;
  readonly warnings: string[];
  readonly answer: Promise<Task>;
  /** Advances the clock as in a process without pauses, and resolves with the task. */
  readonly readAfter: (ms: number) => Promise<Task>;
}

/** Starts a turn whose agent reports that it is working. */
async function startTurn(
  limits: TurnLimits,
  agentOptions: Pick<Agent, "whileWorking" | "concurrentTurns" | keyof TurnLimits> = {},
): Promise<LimitedTurn> {
  const warnings: string[] = [];
  const fixture = createEngineFixture({
    ...limits,
    agent: new ScriptedAgent(agentOptions),
    cancelGraceMs: GRACE_MS,
    observer: { onWarning: ({ message }) => warnings.push(message), onAgentCall: () => {} },
  });
  const { engine, agent, clock } = fixture;
  const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice).then(getTestResponseTask);
  const run = (await agent.waitForRun(0)).emit(workingTestEvent);
  await flushEventLoopForTest();
  const readAfter = async (ms: number): Promise<Task> => {
    for (let rest = ms; rest > 0; rest -= 500) clock.advance(Math.min(rest, 500));
    await flushEventLoopForTest();
    return await engine.getTask({ id: run.run.taskId }, alice);
  };
  return { ...fixture, run, warnings, answer, readAfter };
}

const readStatus = ({ status }: Task): string =>
  `${status.state.slice("TASK_STATE_".length)} ${getText(status.message?.parts ?? [])}`.trim();

const SILENT_TURN =
  "The server stopped the agent, because it showed no progress for 1 minute (maxSilenceMs).";
const LONG_TURN =
  "The server stopped the agent, because its turn was not finished after 90 seconds (maxTurnMs).";

describe("the limit on the silence of an agent", () => {
  it("fails the task of an agent that ignores the signal, after the grace period [E24]", async () => {
    const { run, answer, readAfter, warnings, clock } = await startTurn({ maxSilenceMs: MINUTE_MS });
    expect(readStatus(await readAfter(MINUTE_MS - 1))).toBe("WORKING");
    expect(run.run.signal.aborted).toBe(false);
    expect(readStatus(await readAfter(1))).toBe("WORKING");
    expect(run.run.signal.reason).toMatchObject({ name: "TimeoutError", message: SILENT_TURN });
    expect(warnings).toEqual([SILENT_TURN]);
    expect(readStatus(await readAfter(GRACE_MS))).toBe(`FAILED ${SILENT_TURN}`);
    expect(readStatus(await answer)).toBe(`FAILED ${SILENT_TURN}`);
    run.emit(createTestChunkEvent("late", false), completedTestEvent).end();
    expect(readStatus(await readAfter(0))).toBe(`FAILED ${SILENT_TURN}`);
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("fails the task of an agent that obeys the signal at once [E24]", async () => {
    const { run, readAfter } = await startTurn({ maxSilenceMs: MINUTE_MS });
    run.run.signal.addEventListener("abort", () => run.fail(run.run.signal.reason));
    expect(readStatus(await readAfter(MINUTE_MS))).toBe(`FAILED ${SILENT_TURN}`);
  });

  it("keeps the result of an agent that ends its task within the grace period", async () => {
    const { run, readAfter } = await startTurn({ maxSilenceMs: MINUTE_MS });
    run.run.signal.addEventListener("abort", () => run.emit(completedTestEvent).end());
    expect(readStatus(await readAfter(MINUTE_MS))).toBe("COMPLETED");
  });

  it("has a default of 30 minutes", async () => {
    const { readAfter } = await startTurn({});
    expect(readStatus(await readAfter(30 * MINUTE_MS - 1))).toBe("WORKING");
    await readAfter(1);
    expect(readStatus(await readAfter(GRACE_MS))).toMatch(/^FAILED .* for 30 minutes/);
  });

  it("of an agent takes precedence over the limit of the engine", async () => {
    const { run, readAfter } = await startTurn({ maxSilenceMs: MINUTE_MS }, { maxSilenceMs: Infinity });
    await readAfter(120 * MINUTE_MS);
    expect(run.run.signal.aborted).toBe(false);
  });

  const progress: Record<string, (run: ScriptedRun) => unknown> = {
    "an event": (run) => run.emit(createTestChunkEvent("x", false)),
    "run.progress": ({ run }) => run.progress(),
    "a finished step": ({ run }) => run.once("step", () => 1),
    "a reported call": ({ run }) => run.reportCall?.({ kind: "model", model: "m", durationMs: 1 }),
  };
  it.each(Object.keys(progress))("starts again with %s [E24]", async (name) => {
    const { run, readAfter } = await startTurn({ maxSilenceMs: MINUTE_MS });
    await readAfter(MINUTE_MS - 1);
    await progress[name]?.(run);
    await flushEventLoopForTest();
    await readAfter(MINUTE_MS - 1);
    expect(run.run.signal.aborted).toBe(false);
    await readAfter(1);
    expect(run.run.signal.aborted).toBe(true);
  });

  it.each(["sleep", "suspend"] as const)("does not count the time of %s [E24]", async (name) => {
    const { run, readAfter } = await startTurn({ maxSilenceMs: MINUTE_MS });
    const pause = run.run[name]("pause", 5 * MINUTE_MS);
    await flushEventLoopForTest();
    await readAfter(5 * MINUTE_MS);
    await pause;
    await readAfter(MINUTE_MS - 1);
    expect(run.run.signal.aborted).toBe(false);
    await readAfter(1);
    expect(run.run.signal.aborted).toBe(true);
  });

  it("does not count the time until the user answers, while the agent is still running [E24]", async () => {
    const { run, readAfter, engine } = await startTurn({ maxSilenceMs: MINUTE_MS });
    run.emit(inputRequiredTestEvent);
    await flushEventLoopForTest();
    await readAfter(60 * MINUTE_MS);
    expect(run.run.signal.aborted).toBe(false);
    void engine.sendMessage(createTestSendMessageRequest("this", { taskId: run.run.taskId }), alice);
    await flushEventLoopForTest();
    await readAfter(MINUTE_MS - 1);
    expect(run.run.signal.aborted).toBe(false);
    await readAfter(1);
    expect(run.run.signal.aborted).toBe(true);
  });

  it("counts the time after a question if a message already waits for the end of the turn [E24]", async () => {
    const { run, readAfter, engine } = await startTurn(
      { maxSilenceMs: MINUTE_MS },
      { whileWorking: "queue" },
    );
    void engine.sendMessage(createTestSendMessageRequest("more", { taskId: run.run.taskId }), alice);
    await flushEventLoopForTest();
    run.emit(inputRequiredTestEvent);
    await readAfter(0);
    await readAfter(MINUTE_MS);
    expect(run.run.signal.aborted).toBe(true);
  });

  it("starts again with a WORKING status that repeats the state of the task [E24]", async () => {
    const { run, readAfter, engine, agent } = await startTurn({ maxSilenceMs: MINUTE_MS });
    run.emit(inputRequiredTestEvent).end();
    const { id: taskId } = await readAfter(0);
    void engine.sendMessage(createTestSendMessageRequest("this", { taskId }), alice);
    const next = await agent.waitForRun(1);
    for (let minute = 0; minute < 3; minute++) {
      await readAfter(MINUTE_MS - 1);
      next.emit(workingTestEvent);
      await flushEventLoopForTest();
    }
    expect(next.run.signal.aborted).toBe(false);
  });

  it("does not count a pause of the process, in which events may have arrived", async () => {
    const { run, readAfter, clock } = await startTurn({ maxSilenceMs: MINUTE_MS });
    clock.advance(10 * MINUTE_MS);
    expect(run.run.signal.aborted).toBe(false);
    run.emit(createTestChunkEvent("x", false));
    await flushEventLoopForTest();
    await readAfter(250);
    expect(run.run.signal.aborted).toBe(false);
    await readAfter(MINUTE_MS);
    expect(run.run.signal.aborted).toBe(true);
  });

  it("ends the turn of a silent agent in a process that is always late [E24]", async () => {
    const { run, clock } = await startTurn({ maxSilenceMs: MINUTE_MS });
    clock.advance(2 * MINUTE_MS);
    expect(run.run.signal.aborted).toBe(false);
    clock.advance(2000);
    expect(run.run.signal.aborted).toBe(true);
  });

  it("lets the next turn of the context begin [E24]", async () => {
    const { run, readAfter, engine, agent } = await startTurn(
      { maxSilenceMs: MINUTE_MS },
      { concurrentTurns: "queue" },
    );
    const { contextId } = run.run;
    const next = engine.sendMessage(createTestSendMessageRequest("next", { contextId }), alice);
    await readAfter(MINUTE_MS);
    await readAfter(GRACE_MS);
    (await agent.waitForRun(1)).end();
    expect(readStatus(getTestResponseTask(await next))).toBe("COMPLETED");
  });

  it("does not prevent a cancellation within the grace period [E8, E24]", async () => {
    const { run, readAfter, engine } = await startTurn({ maxSilenceMs: MINUTE_MS });
    await readAfter(MINUTE_MS);
    const canceling = engine.cancelTask({ id: run.run.taskId }, alice);
    await flushEventLoopForTest();
    await readAfter(GRACE_MS);
    expect(readStatus(await canceling)).toBe("CANCELED");
  });

  it.each(["ignores", "obeys"])(
    "fails the task of an agent without a first event that %s the signal [E24]",
    async (reaction) => {
      const agent = new ScriptedAgent({ respondsWith: "either" });
      const { engine, clock } = createEngineFixture({
        agent,
        maxSilenceMs: MINUTE_MS,
        cancelGraceMs: GRACE_MS,
      });
      const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
      const run = await agent.waitForRun(0);
      if (reaction === "obeys")
        run.run.signal.addEventListener("abort", () => run.fail(run.run.signal.reason));
      clock.advance(MINUTE_MS);
      await flushEventLoopForTest();
      clock.advance(GRACE_MS);
      await flushEventLoopForTest();
      expect(readStatus(getTestResponseTask(await answer))).toBe(`FAILED ${SILENT_TURN}`);
      expect(clock.pendingTimerCount).toBe(0);
    },
  );
});

it("keeps the result of an agent whose first event follows within the grace period [E24]", async () => {
  const agent = new ScriptedAgent({ respondsWith: "either" });
  const { engine, clock } = createEngineFixture({ agent, maxSilenceMs: MINUTE_MS, cancelGraceMs: GRACE_MS });
  const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
  const run = await agent.waitForRun(0);
  run.run.signal.addEventListener("abort", () =>
    run.emit(createTestChunkEvent("part", false), completedTestEvent).end(),
  );
  clock.advance(MINUTE_MS);
  await flushEventLoopForTest();
  expect(readStatus(getTestResponseTask(await answer))).toBe("COMPLETED");
});

describe("the limit on the time of a turn", () => {
  it("fails the task of an agent that shows progress without an end [E24]", async () => {
    const { run, readAfter } = await startTurn({ maxTurnMs: 90_000 });
    for (let second = 0; second < 89; second++) {
      run.run.progress();
      expect(readStatus(await readAfter(1000))).toBe("WORKING");
    }
    await readAfter(1000);
    expect(readStatus(await readAfter(GRACE_MS))).toBe(`FAILED ${LONG_TURN}`);
  });

  it("does not count the time of sleep", async () => {
    const { run, readAfter } = await startTurn({ maxTurnMs: 90_000 });
    await readAfter(60_000);
    const pause = run.run.sleep("pause", MINUTE_MS);
    await flushEventLoopForTest();
    await readAfter(MINUTE_MS);
    await pause;
    await readAfter(29_999);
    expect(run.run.signal.aborted).toBe(false);
    await readAfter(1);
    expect(run.run.signal.aborted).toBe(true);
  });
});

it.each([0, -1, Number.NaN, "1m"])("a limit of %j is an error that names the option", (value) => {
  expect(() => assertValidTurnLimits({ maxTurnMs: value as number }, "createServer")).toThrow(
    `"maxTurnMs" of createServer is ${JSON.stringify(value)}; use a positive number of milliseconds, or Infinity.`,
  );
});
