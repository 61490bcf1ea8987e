import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { getText, type SendMessageRequest, type Task } from "../protocol/index.ts";
import type { AppendRefusal, LogAppend } from "./task-store.ts";
import { DISCARDED_MESSAGE_IDS_METADATA_KEY } from "./to-task-event.ts";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createProcessFixture,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  workingTestEvent,
  type EngineFixture,
  type EngineFixtureOptions,
  type ScriptedRun,
} from "./engine.fixture.ts";

interface TaskWithTurn extends EngineFixture {
  readonly run: ScriptedRun;
  readonly taskId: string;
  /** Sends a message to the task with `returnImmediately`, which queues the message. */
  readonly queueMessage: (text: string) => Promise<SendMessageRequest>;
}

async function createTaskWithTurn(
  store = new MemoryStore(),
  options: ConstructorParameters<typeof ScriptedAgent>[0] = {},
  engineOptions: EngineFixtureOptions = {},
): Promise<TaskWithTurn> {
  const agent = new ScriptedAgent({ whileWorking: "queue", ...options });
  const fixture = createEngineFixture({ store, agent, ...engineOptions });
  fixture.engine.sendMessage(createTestSendMessageRequest("begin"), alice).catch(() => {});
  const run = await agent.waitForRun(0);
  run.emit(workingTestEvent);
  await flushEventLoopForTest();
  const { taskId } = run.run;
  const queueMessage = async (text: string): Promise<SendMessageRequest> => {
    const request = createTestSendMessageRequest(text, {
      taskId,
      configuration: { returnImmediately: true },
    });
    await fixture.engine.sendMessage(request, alice);
    return request;
  };
  return { ...fixture, run, taskId, queueMessage };
}

/** Opens the store in a new engine, as the next server process does. */
async function restartEngine(
  store: MemoryStore,
  options: ConstructorParameters<typeof ScriptedAgent>[0] = {},
): Promise<EngineFixture> {
  const agent = new ScriptedAgent({ whileWorking: "queue", ...options });
  const fixture = createProcessFixture({ store, agent });
  await fixture.engine.open();
  return fixture;
}

const getRunText = ({ run }: ScriptedRun): string => getText(run.message.parts);
const getHistoryTexts = ({ history = [] }: Task): string[] => history.map(({ parts }) => getText(parts));

/** Answers each run with a question, and returns the texts of the messages that started the runs. */
async function finishTurns(agent: ScriptedAgent, from: number, count: number): Promise<string[]> {
  const texts: string[] = [];
  for (let at = from; at < from + count; at++) {
    const run = await agent.waitForRun(at);
    texts.push(getRunText(run));
    run.emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
  }
  return texts;
}

describe("queued messages", () => {
  it("are processed once each, in order, and are part of the history from their turn on [E11]", async () => {
    const { engine, run, agent, taskId, queueMessage } = await createTaskWithTurn();
    for (const text of ["one", "two", "three"]) await queueMessage(text);
    expect(getHistoryTexts(await engine.getTask({ id: taskId }, alice))).toEqual(["begin"]);
    run.emit(inputRequiredTestEvent).end();
    expect(await finishTurns(agent, 1, 3)).toEqual(["one", "two", "three"]);
    expect(agent.runs).toHaveLength(4);
    const task = await engine.getTask({ id: taskId }, alice);
    expect(getHistoryTexts(task)).toEqual(["begin", "which?", "one", "which?", "two", "which?", "three"]);
    expect(task.metadata).toBeUndefined();
  });

  it.each(["restart", "resume"] as const)(
    "follow the interrupted turn in order after a restart with afterRestart %s [E9, E11]",
    async (afterRestart) => {
      const store = new MemoryStore();
      const before = await createTaskWithTurn(store, { afterRestart });
      for (const text of ["one", "two"]) await before.queueMessage(text);

      const { agent, engine } = await restartEngine(store, { afterRestart });
      expect(await finishTurns(agent, 0, 3)).toEqual(["begin", "one", "two"]);
      expect(agent.runs.map(({ run }) => run.attempt)).toEqual([2, 1, 1]);
      expect(getHistoryTexts(await engine.getTask({ id: before.taskId }, alice)).at(-1)).toBe("two");
      expect(await store.turns.listQueued()).toEqual([]);
    },
  );

  it("keep their request, and lose the caller's claims, in a restart [E9]", async () => {
    const store = new MemoryStore();
    const { engine, taskId } = await createTaskWithTurn(store, { afterRestart: "restart" });
    const configuration = { returnImmediately: true, acceptedOutputModes: ["text/plain"] };
    const request = {
      ...createTestSendMessageRequest("one", { taskId, configuration }),
      metadata: { urgent: true },
    };
    await engine.sendMessage(request, { ...alice, claims: { admin: true } }, { extensions: ["urn:x"] });
    const { agent } = await restartEngine(store, { afterRestart: "restart" });
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { run } = await agent.waitForRun(1);
    expect(run).toMatchObject({
      caller: alice,
      configuration,
      metadata: { urgent: true },
      extensions: ["urn:x"],
      attempt: 1,
    });
    expect(run.caller).toEqual(alice);
  });

  it("start after a restart between two turns, even if interrupted turns fail [E9]", async () => {
    const store = new MemoryStore();
    const { run, queueMessage, taskId } = await createTaskWithTurn(store);
    await queueMessage("one");
    // The process is killed after the commit of the question.
    const commit = store.commit.bind(store);
    let isKilled = false;
    store.commit = async (batch) => {
      if (isKilled) return await new Promise<never>(() => {});
      isKilled = batch.some(({ status }) => status.state === "TASK_STATE_INPUT_REQUIRED");
      return await commit(batch);
    };
    run.emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
    store.commit = commit;
    expect((await store.load(createTestTaskScopeForCaller(alice), taskId))?.queuedTurns).toHaveLength(1);

    const { agent, engine } = await restartEngine(store);
    (await agent.waitForRun(0)).end();
    await flushEventLoopForTest();
    expect(getRunText(agent.runs[0]!)).toBe("one");
    expect((await engine.getTask({ id: taskId }, alice)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("are deduplicated while they wait, after a restart, and after their turn [E10]", async () => {
    const store = new MemoryStore();
    const { engine, queueMessage } = await createTaskWithTurn(store, { afterRestart: "restart" });
    const request = await queueMessage("one");
    await engine.sendMessage(request, alice);
    const changed = { ...request, message: { ...request.message, parts: [{ text: "other" }] } };
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(changed, alice))).toBe(
      "INVALID_PARAMS",
    );

    const next = await restartEngine(store, { afterRestart: "restart" });
    expect(await getRejectionA2AErrorReasonForTest(next.engine.sendMessage(changed, alice))).toBe(
      "INVALID_PARAMS",
    );
    await next.engine.sendMessage(request, alice);
    const { configuration: _, ...blocking } = request;
    const answer = next.engine.sendMessage(blocking, alice);
    await flushEventLoopForTest();
    expect(await finishTurns(next.agent, 0, 2)).toEqual(["begin", "one"]);
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    await next.engine.sendMessage(request, alice);
    expect(next.agent.runs).toHaveLength(2);
  });

  it("wait until the server has recovered the interrupted turn of their task [E9]", async () => {
    const store = new MemoryStore();
    const before = await createTaskWithTurn(store, { afterRestart: "restart" });
    const request = await before.queueMessage("one");
    // This engine has not recovered the tasks of the store.
    const agent = new ScriptedAgent({ whileWorking: "queue", afterRestart: "restart" });
    const { engine } = createProcessFixture({ store, agent });
    const canceled = engine.cancelTask({ id: before.taskId }, alice);
    expect(await getRejectionA2AErrorReasonForTest(canceled)).toBe("UNAVAILABLE");
    await flushEventLoopForTest();
    expect(agent.runs).toHaveLength(0);
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(request, alice))).toBe("UNAVAILABLE");
    await engine.open();
    expect(await finishTurns(agent, 0, 2)).toEqual(["begin", "one"]);
  });

  it("are listed in the answer to CancelTask and discarded [E8]", async () => {
    const store = new MemoryStore();
    const { engine, run, taskId, queueMessage, agent } = await createTaskWithTurn(store);
    run.run.signal.addEventListener("abort", () => run.end());
    const first = await queueMessage("one");
    const waiting = createTestSendMessageRequest("two", { taskId });
    const answer = getRejectionA2AErrorReasonForTest(engine.sendMessage(waiting, alice));
    await flushEventLoopForTest();
    const canceled = await engine.cancelTask({ id: taskId }, alice);
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    const discarded = [first.message.messageId, waiting.message.messageId];
    expect(canceled.metadata).toEqual({ [DISCARDED_MESSAGE_IDS_METADATA_KEY]: discarded });
    expect(await answer).toBe("UNSUPPORTED_OPERATION");
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(first, alice))).toBe(
      "UNSUPPORTED_OPERATION",
    );
    expect(await store.turns.listQueued()).toEqual([]);
    expect(agent.runs).toHaveLength(1);
  });

  it("are listed in the task that the agent ends before their turn", async () => {
    const { engine, run, taskId, queueMessage } = await createTaskWithTurn();
    const { message } = await queueMessage("one");
    run.emit(completedTestEvent).end();
    await flushEventLoopForTest();
    const task = await engine.getTask({ id: taskId }, alice);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(task.metadata).toEqual({ [DISCARDED_MESSAGE_IDS_METADATA_KEY]: [message.messageId] });
  });

  it("are listed in the task that fails after a restart [E9]", async () => {
    const store = new MemoryStore();
    const { taskId, queueMessage } = await createTaskWithTurn(store);
    const request = await queueMessage("one");
    const { engine, agent } = await restartEngine(store);
    const task = await engine.getTask({ id: taskId }, alice);
    expect(task.status.state).toBe("TASK_STATE_FAILED");
    expect(task.metadata).toEqual({ [DISCARDED_MESSAGE_IDS_METADATA_KEY]: [request.message.messageId] });
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(request, alice))).toBe(
      "UNSUPPORTED_OPERATION",
    );
    expect(agent.runs).toHaveLength(0);
    expect(await store.turns.listQueued()).toEqual([]);
  });

  it("stay in a durable store when the server closes, and their senders may retry [E15]", async () => {
    const store = Object.assign(new MemoryStore(), { isDurable: true });
    const before = await createTaskWithTurn(store, { afterRestart: "restart" });
    const request = createTestSendMessageRequest("one", { taskId: before.taskId });
    const answer = getRejectionA2AErrorReasonForTest(before.engine.sendMessage(request, alice));
    await flushEventLoopForTest();
    before.run.run.signal.addEventListener("abort", () => before.run.end());
    await before.engine.close(1000);
    expect(await answer).toBe("UNAVAILABLE");

    const { engine, agent } = await restartEngine(store, { afterRestart: "restart" });
    const retried = engine.sendMessage(request, alice);
    await flushEventLoopForTest();
    expect(await finishTurns(agent, 0, 2)).toEqual(["begin", "one"]);
    expect(getTestResponseTask(await retried).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(agent.runs).toHaveLength(2);
  });

  it("are bounded in number, also after a restart [E14]", async () => {
    const store = new MemoryStore();
    const options = { afterRestart: "restart" } as const;
    const limits = { limits: { queuedTurns: 2 } };
    const before = await createTaskWithTurn(store, options, limits);
    await before.queueMessage("one");
    await before.queueMessage("two");
    expect(await getRejectionA2AErrorReasonForTest(before.queueMessage("three"))).toBe("RESOURCE_EXHAUSTED");
    const agent = new ScriptedAgent({ whileWorking: "queue", ...options });
    const { engine } = createProcessFixture({ store, agent, ...limits });
    await engine.open();
    await agent.waitForRun(0);
    const third = createTestSendMessageRequest("three", { taskId: before.taskId });
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(third, alice))).toBe(
      "RESOURCE_EXHAUSTED",
    );
  });

  it("are accepted only if the store has them [E1]", async () => {
    const store = new MemoryStore();
    const { clock, engine, taskId } = await createTaskWithTurn(store);
    store.commit = () => Promise.reject(new Error("The disk is full."));
    const request = createTestSendMessageRequest("one", {
      taskId,
      configuration: { returnImmediately: true },
    });
    const answer = getRejectionA2AErrorReasonForTest(engine.sendMessage(request, alice));
    for (let at = 0; at < 10; at++) {
      await flushEventLoopForTest();
      clock.advance(4000);
    }
    expect(await answer).toBe("UNAVAILABLE");
  });

  it("start again without a restart after the store has failed at the start of their turn [E17]", async () => {
    const store = new MemoryStore();
    const { clock, engine, agent, run, queueMessage } = await createTaskWithTurn(store);
    await engine.open();
    await queueMessage("one");
    const commit = store.commit.bind(store);
    let isDown = false;
    store.commit = (batch) => {
      const isQuestion = batch.some(({ status }) => status.state === "TASK_STATE_INPUT_REQUIRED");
      if (isDown && !isQuestion) return Promise.reject(new Error("The disk is full."));
      isDown ||= isQuestion;
      return commit(batch);
    };
    run.emit(inputRequiredTestEvent).end();
    for (let passed = 0; passed < 10_000; passed += 500) {
      await flushEventLoopForTest();
      clock.advance(500);
    }
    store.commit = commit;
    for (let passed = 0; passed < 5000; passed += 500) {
      await flushEventLoopForTest();
      clock.advance(500);
    }
    await flushEventLoopForTest();
    expect(getRunText(agent.runs.at(-1)!)).toBe("one");
    expect(await store.turns.listQueued()).toEqual([]);
  });

  it("are lost or repeated by no kill between two commits [E1, E9, E11]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 12 }), async (commitsBeforeKill) => {
        const store = new MemoryStore();
        const options = { afterRestart: "resume" } as const;
        const { run, agent, queueMessage, taskId } = await createTaskWithTurn(store, options);
        const kill = killStoreAfter(store, commitsBeforeKill);
        const accepted: string[] = [];
        const queued = ["one", "two", "three"].map((text) =>
          queueMessage(text).then(
            () => accepted.push(text),
            () => {},
          ),
        );
        await flushEventLoopForTest();
        run.emit(inputRequiredTestEvent).end();
        for (let at = 1; at <= 3; at++) {
          await flushEventLoopForTest();
          agent.runs[at]?.emit(inputRequiredTestEvent).end();
        }
        await flushEventLoopForTest();
        kill.revive();
        const next = await restartEngine(store, options);
        for (let at = 0; at < 4; at++) {
          await flushEventLoopForTest();
          next.agent.runs[at]?.emit(inputRequiredTestEvent).end();
        }
        await flushEventLoopForTest();
        const task = await next.engine.getTask({ id: taskId }, alice);
        const processed = getHistoryTexts(task).filter((text) => text !== "which?" && text !== "begin");
        expect(processed).toEqual(["one", "two", "three"].slice(0, processed.length));
        expect(processed).toEqual(expect.arrayContaining(accepted));
        expect(await store.turns.listQueued()).toEqual([]);
        void queued;
      }),
      { numRuns: 40 },
    );
  });
});

/** Makes the store ignore commits after a number of commits, as if its process were killed. */
function killStoreAfter(store: MemoryStore, commits: number): { readonly revive: () => void } {
  const commit = store.commit.bind(store);
  let left = commits;
  store.commit = (batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> =>
    left-- > 0 ? commit(batch) : new Promise(() => {});
  return {
    revive: () => {
      store.commit = commit;
    },
  };
}
