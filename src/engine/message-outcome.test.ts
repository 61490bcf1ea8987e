import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { A2AError, getText, type Message, type Task } from "../protocol/index.ts";
import { WAIT_WITHIN_TURN_MS } from "./message-response.ts";
import type { AgentEvent } from "./agent.ts";
import {
  alice,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  formatTaskEventForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  workingTestEvent,
  type EngineFixture,
  type ScriptedRun,
} from "./engine.fixture.ts";

const authRequiredTestEvent: AgentEvent = { status: { state: "TASK_STATE_AUTH_REQUIRED" } };

/** An agent that takes every message during its turn. */
class DeliveringAgent extends ScriptedAgent {
  readonly delivered: string[] = [];

  deliver({ parts }: Message): boolean {
    this.delivered.push(getText(parts));
    return true;
  }
}

const AGENTS = {
  deliver: () => new DeliveringAgent(),
  queue: () => new ScriptedAgent({ whileWorking: "queue" }),
  refuse: () => new ScriptedAgent({ whileWorking: "refuse" }),
} as const;
type AgentPolicy = keyof typeof AGENTS;

/** Events of the first turn, and whether the turn ends after them. */
const FIRST_TURNS = {
  works: { events: [workingTestEvent], ends: false },
  "waits for input within its turn": { events: [inputRequiredTestEvent], ends: false },
  "waits for authorization within its turn": { events: [authRequiredTestEvent], ends: false },
  "waits for input": { events: [inputRequiredTestEvent], ends: true },
  "waits for authorization": { events: [authRequiredTestEvent], ends: true },
  "has ended": { events: [], ends: true },
  "has lost its turn": { events: [workingTestEvent], ends: false },
} as const;
type Situation = keyof typeof FIRST_TURNS;

/** The outcome for an agent that takes messages during a turn, queues messages, and refuses messages. */
const EXPECTED_OUTCOMES: Record<Situation, Record<AgentPolicy, string>> = {
  works: { deliver: "delivered", queue: "queued", refuse: "UNSUPPORTED_OPERATION" },
  "waits for input within its turn": { deliver: "queued", queue: "queued", refuse: "queued" },
  "waits for authorization within its turn": { deliver: "delivered", queue: "queued", refuse: "queued" },
  "waits for input": { deliver: "started", queue: "started", refuse: "started" },
  "waits for authorization": { deliver: "started", queue: "started", refuse: "started" },
  "has ended": {
    deliver: "UNSUPPORTED_OPERATION",
    queue: "UNSUPPORTED_OPERATION",
    refuse: "UNSUPPORTED_OPERATION",
  },
  "has lost its turn": { deliver: "UNAVAILABLE", queue: "UNAVAILABLE", refuse: "UNAVAILABLE" },
};

interface TaskInSituation extends EngineFixture {
  readonly run: ScriptedRun;
  readonly taskId: string;
}

async function createTaskInSituation(situation: Situation, policy: AgentPolicy): Promise<TaskInSituation> {
  const store = new MemoryStore();
  const fixture = createEngineFixture({ store, agent: AGENTS[policy]() });
  void fixture.engine.sendMessage(createTestSendMessageRequest("begin"), alice);
  const run = await fixture.agent.waitForRun(0);
  const { events, ends } = FIRST_TURNS[situation];
  run.emit(...events);
  if (ends) run.end();
  await flushEventLoopForTest();
  const { taskId } = run.run;
  if (situation !== "has lost its turn") return { ...fixture, run, taskId };
  return { ...createEngineFixture({ store, agent: AGENTS[policy]() }), run, taskId };
}

/** Starts to send a message. `answer` returns the answer as soon as there is one. */
function sendToTask(
  { engine, taskId }: TaskInSituation,
  returnImmediately: boolean,
): { readonly getAnswer: () => Task | A2AError | undefined } {
  let answer: Task | A2AError | undefined;
  const request = createTestSendMessageRequest("here is my token", {
    taskId,
    configuration: { returnImmediately },
  });
  const awaitAnswer = async (): Promise<void> => {
    try {
      answer = getTestResponseTask(await engine.sendMessage(request, alice));
    } catch (error) {
      answer = error as A2AError;
    }
  };
  void awaitAnswer();
  return { getAnswer: () => answer };
}

async function observeOutcome(
  { agent, store, taskId }: TaskInSituation,
  answer?: Task | A2AError,
): Promise<string> {
  if (answer instanceof A2AError) return answer.reason;
  if (agent instanceof DeliveringAgent && agent.delivered.length > 0) return "delivered";
  const stored = await store.load(createTestTaskScopeForCaller(alice), taskId);
  if (stored?.queuedTurns?.length === 1) return "queued";
  return agent.runs.length === 2 ? "started" : "lost";
}

const CELLS = (Object.keys(FIRST_TURNS) as Situation[]).flatMap((situation) =>
  (Object.keys(AGENTS) as AgentPolicy[]).map((policy) => ({
    situation,
    policy,
    expected: EXPECTED_OUTCOMES[situation][policy],
  })),
);

describe.each(CELLS)(
  "a message to a task that $situation, for the policy $policy",
  ({ situation, policy, expected }) => {
    it(`is ${expected} and answered at once with returnImmediately [F-02]`, async () => {
      const task = await createTaskInSituation(situation, policy);
      const { getAnswer } = sendToTask(task, true);
      // No time passes.
      await flushEventLoopForTest();
      const answer = getAnswer();
      expect(await observeOutcome(task, answer)).toBe(expected);
      if (answer instanceof A2AError)
        expect(answer.retryAfter).toBe(expected === "UNAVAILABLE" ? 1 : undefined);
      else expect(answer?.id).toBe(task.taskId);
    });

    it(`is ${expected} and answered when its turn stops without returnImmediately [F-02]`, async () => {
      const task = await createTaskInSituation(situation, policy);
      const { getAnswer } = sendToTask(task, false);
      await flushEventLoopForTest();
      expect(await observeOutcome(task, getAnswer())).toBe(expected);
      if (expected !== "queued" && expected !== "started") {
        expect(getAnswer()).toBeDefined();
        return;
      }
      expect(getAnswer()).toBeUndefined();
      task.clock.advance(WAIT_WITHIN_TURN_MS - 1);
      await flushEventLoopForTest();
      expect(getAnswer()).toBeUndefined();
      if (expected === "queued") task.run.emit(inputRequiredTestEvent).end();
      (await task.agent.waitForRun(1)).end();
      await flushEventLoopForTest();
      expect(getAnswer()).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
    });
  },
);

describe("a message that waits for a turn that waits for its user", () => {
  it.each(["queue", "refuse"] as const)(
    "is answered with the current task after a second, and processed later, for the policy %s",
    async (policy) => {
      const task = await createTaskInSituation("waits for authorization within its turn", policy);
      const { getAnswer } = sendToTask(task, false);
      await flushEventLoopForTest();
      task.clock.advance(WAIT_WITHIN_TURN_MS);
      await flushEventLoopForTest();
      expect(getAnswer()).toMatchObject({ status: { state: "TASK_STATE_AUTH_REQUIRED" } });
      task.run.end();
      const { run } = await task.agent.waitForRun(1);
      expect(getText(run.message.parts)).toBe("here is my token");
    },
  );

  it("is answered if the running turn begins to wait after the message has arrived", async () => {
    const task = await createTaskInSituation("works", "queue");
    const { getAnswer } = sendToTask(task, false);
    await flushEventLoopForTest();
    task.clock.advance(10 * WAIT_WITHIN_TURN_MS);
    await flushEventLoopForTest();
    expect(getAnswer()).toBeUndefined();
    task.run.emit(authRequiredTestEvent);
    await flushEventLoopForTest();
    task.clock.advance(WAIT_WITHIN_TURN_MS - 1);
    task.run.emit(createTestChunkEvent("still waiting"));
    await flushEventLoopForTest();
    expect(getAnswer()).toBeUndefined();
    task.clock.advance(1);
    await flushEventLoopForTest();
    expect(getAnswer()).toMatchObject({ status: { state: "TASK_STATE_AUTH_REQUIRED" } });
  });

  it("has a stream that begins with its turn", async () => {
    const task = await createTaskInSituation("works", "queue");
    const request = createTestSendMessageRequest("more", { taskId: task.taskId });
    const stream = await task.engine.sendStreamingMessage(request, alice);
    const events = collectSubscriptionEventsForTest(stream);
    await flushEventLoopForTest();
    task.run.emit(createTestChunkEvent("first turn"), inputRequiredTestEvent).end();
    (await task.agent.waitForRun(1)).emit(createTestChunkEvent(" second turn"), inputRequiredTestEvent).end();
    expect((await events).map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task WORKING",
      " second turn",
      "INPUT_REQUIRED",
    ]);
    expect(stream.isComplete).toBe(true);
  });

  it("has a stream that consists of the current task if the running turn keeps waiting", async () => {
    const task = await createTaskInSituation("waits for authorization within its turn", "queue");
    const request = createTestSendMessageRequest("here is my token", { taskId: task.taskId });
    const stream = await task.engine.sendStreamingMessage(request, alice);
    const events = collectSubscriptionEventsForTest(stream);
    await flushEventLoopForTest();
    task.clock.advance(WAIT_WITHIN_TURN_MS);
    expect((await events).map(({ event }) => formatTaskEventForTest(event))).toEqual(["task AUTH_REQUIRED"]);
    expect(stream.isComplete).toBe(true);
  });

  it("has a stream that its reader can close before the turn begins", async () => {
    const task = await createTaskInSituation("works", "queue");
    const request = createTestSendMessageRequest("more", { taskId: task.taskId });
    const stream = await task.engine.sendStreamingMessage(request, alice);
    const next = stream.next();
    stream.close();
    expect(await next).toBeUndefined();
    expect(stream.isComplete).toBe(false);
    task.run.emit(inputRequiredTestEvent).end();
    expect(getText((await task.agent.waitForRun(1)).run.message.parts)).toBe("more");
  });
});
