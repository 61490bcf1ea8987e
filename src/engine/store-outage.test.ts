import { describe, expect, it } from "vitest";
import type { Message } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  type FakeClock,
  flushEventLoopForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
  ScriptedAgent,
  type EngineFixture,
} from "./engine.fixture.ts";
import type { StoreHealth, StoreState, StoreStateChange } from "./store-health.ts";
import type { AppendRefusal, LogAppend } from "./task-store.ts";

/** A store whose state the test sets. In a state other than healthy, each commit rejects. */
class UnhealthyTestStore extends MemoryStore {
  #listeners = new Set<(change: StoreStateChange) => void>();
  #state: StoreState = "healthy";
  commitCount = 0;
  /** If true, a commit in state `failed` stores the batch and rejects nevertheless, like a failed sync. */
  storesInDoubt = false;

  readonly health: StoreHealth = ((store: UnhealthyTestStore) => ({
    get state() {
      return store.#state;
    },
    onChange(listener: (change: StoreStateChange) => void) {
      store.#listeners.add(listener);
      return () => void store.#listeners.delete(listener);
    },
  }))(this);

  setState(state: StoreState): void {
    const previousState = this.#state;
    this.#state = state;
    for (const listener of this.#listeners) listener({ store: this.name, state, previousState });
  }

  /** Fails the next commit and changes the state at the same time, like a fault of the disk. */
  failNextCommit: StoreState | undefined;

  override async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    this.commitCount++;
    if (this.failNextCommit) {
      this.setState(this.failNextCommit);
      this.failNextCommit = undefined;
    }
    if (this.#state === "healthy") return super.commit(batch);
    if (this.storesInDoubt) await super.commit(batch);
    throw new Error(`the store is ${this.#state}`);
  }
}

/** Starts a turn whose task is stored. */
async function startStoredTurn(
  options: Parameters<typeof createEngineFixture>[0] = {},
): Promise<EngineFixture & { store: UnhealthyTestStore; answer: Promise<object> }> {
  const store = new UnhealthyTestStore();
  const fixture = createEngineFixture({ ...options, store });
  const answer = fixture.engine.sendMessage(createTestSendMessageRequest("go"), alice);
  answer.catch(() => {});
  await fixture.agent.waitForRun(0);
  await flushEventLoopForTest();
  return { ...fixture, store, answer };
}

/** Creates a task that waits for its user. */
async function createWaitingTask(): Promise<EngineFixture & { store: UnhealthyTestStore; taskId: string }> {
  const fixture = await startStoredTurn();
  fixture.agent.runs[0]?.emit(inputRequiredTestEvent).end();
  return { ...fixture, taskId: getTestResponseTask(await fixture.answer).id };
}

/** Expects that the requests wait for a second and are then rejected. */
async function expectAnswersWithinOneSecond(answers: Promise<unknown>[], clock: FakeClock): Promise<void> {
  const outcomes: unknown[] = answers.map(() => "waits");
  for (const [at, answer] of answers.entries()) answer.catch((error: unknown) => (outcomes[at] = error));
  await flushEventLoopForTest();
  clock.advance(999);
  await flushEventLoopForTest();
  expect(outcomes).toEqual(answers.map(() => "waits"));
  clock.advance(1);
  await flushEventLoopForTest();
  expect(outcomes).toEqual(answers.map(() => expect.objectContaining(unavailable)));
}

const unavailable = { reason: "UNAVAILABLE", retryAfter: 2 };

describe.each(["full", "failing", "failed"] as const)("while the store is %s", (state) => {
  it("a new message is refused at once, without a commit [E17]", async () => {
    const { engine, store } = createEngineFixture({ store: new UnhealthyTestStore() }) as EngineFixture & {
      store: UnhealthyTestStore;
    };
    store.setState(state);
    await expect(engine.sendMessage(createTestSendMessageRequest("go"), alice)).rejects.toMatchObject(
      unavailable,
    );
    await expect(
      engine.sendStreamingMessage(createTestSendMessageRequest("go"), alice),
    ).rejects.toMatchObject(unavailable);
    expect(store.commitCount).toBe(0);
  });

  it("the events of a running agent wait, and are stored once the store is healthy [E17]", async () => {
    const { agent, store, clock, engine, answer } = await startStoredTurn();
    store.failNextCommit = state;
    agent.runs[0]?.emit(createTestChunkEvent("a", false));
    await flushEventLoopForTest();
    const commits = store.commitCount;
    agent.runs[0]?.emit(createTestChunkEvent("b"), completedTestEvent).end();
    for (let second = 0; second < 30; second++) {
      clock.advance(1000);
      await flushEventLoopForTest(5);
    }
    expect(store.commitCount).toBe(commits);
    store.setState("healthy");
    const { id } = getTestResponseTask(await answer);
    expect(await engine.getTask({ id }, alice)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "ab" }] }],
    });
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("a message that was accepted just before the fault receives an error after a time limit [E17]", async () => {
    const { engine, store, clock } = createEngineFixture({
      store: new UnhealthyTestStore(),
    }) as EngineFixture & {
      store: UnhealthyTestStore;
    };
    store.failNextCommit = state;
    let outcome: unknown = "waits";
    engine
      .sendMessage(createTestSendMessageRequest("go"), alice)
      .catch((error: unknown) => (outcome = error));
    await flushEventLoopForTest();
    clock.advance(999);
    await flushEventLoopForTest();
    expect(outcome).toBe("waits");
    clock.advance(1);
    await flushEventLoopForTest();
    expect(outcome).toMatchObject(unavailable);
  });

  it("a message to a waiting task that discovers the fault is answered within a second, and its turn starts once [E17, E10]", async () => {
    const { engine, store, clock, agent, taskId } = await createWaitingTask();
    store.failNextCommit = state;
    const request = createTestSendMessageRequest("this", { taskId });
    const answers = [
      engine.sendMessage(request, alice),
      engine.sendMessage({ ...request, configuration: { returnImmediately: true } }, alice),
      engine.sendStreamingMessage(request, alice),
    ];
    await expectAnswersWithinOneSecond(answers, clock);
    // The message still waits for the store.
    const again = engine.sendMessage(request, alice);
    store.setState("healthy");
    (await agent.waitForRun(1)).emit(completedTestEvent).end();
    expect(getTestResponseTask(await again).status.state).toBe("TASK_STATE_COMPLETED");
    expect(getTestResponseTask(await engine.sendMessage(request, alice)).id).toBe(taskId);
    expect(agent.runs).toHaveLength(2);
    expect(clock.pendingTimerCount).toBe(0);
    expect(engine.isTaskInUse({ agent: "puppet", ...alice }, taskId)).toBe(false);
  });

  it("a cancellation of a waiting task that discovers the fault is answered within a second [E17, E8]", async () => {
    const { engine, store, clock, taskId } = await createWaitingTask();
    store.failNextCommit = state;
    await expectAnswersWithinOneSecond([engine.cancelTask({ id: taskId }, alice)], clock);
    store.setState("healthy");
    expect((await engine.cancelTask({ id: taskId }, alice)).status.state).toBe("TASK_STATE_CANCELED");
  });

  it("a cancellation of a waiting task during the fault is refused at once, and changes nothing [E17, E8]", async () => {
    const { engine, store, taskId } = await createWaitingTask();
    store.setState(state);
    await expect(engine.cancelTask({ id: taskId }, alice)).rejects.toMatchObject(unavailable);
    store.setState("healthy");
    await flushEventLoopForTest();
    expect((await engine.getTask({ id: taskId }, alice)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("a cancellation of a running turn reaches the agent, and is answered within a second [E17, E8]", async () => {
    const { engine, store, clock, agent, answer } = await startStoredTurn();
    store.setState(state);
    const run = agent.runs[0];
    const id = run?.run.taskId ?? "";
    const canceled = engine.cancelTask({ id }, alice);
    await flushEventLoopForTest();
    expect(run?.run.signal.aborted).toBe(true);
    run?.end();
    await expectAnswersWithinOneSecond([canceled], clock);
    store.setState("healthy");
    expect((await engine.cancelTask({ id }, alice)).status.state).toBe("TASK_STATE_CANCELED");
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_CANCELED");
  });

  it("a message that waits for a running turn is answered within a second, and is stored once [E17, E10]", async () => {
    const queueing = new ScriptedAgent({ whileWorking: "queue" });
    const { engine, store, clock, agent } = await startStoredTurn({ agent: queueing });
    const taskId = agent.runs[0]?.run.taskId ?? "";
    store.failNextCommit = state;
    const more = createTestSendMessageRequest("more", { taskId, configuration: { returnImmediately: true } });
    await expectAnswersWithinOneSecond([engine.sendMessage(more, alice)], clock);
    const again = engine.sendMessage(more, alice);
    store.setState("healthy");
    await again;
    agent.runs[0]?.emit(inputRequiredTestEvent).end();
    (await agent.waitForRun(1)).emit(completedTestEvent).end();
    await flushEventLoopForTest();
    expect((await engine.getTask({ id: taskId }, alice)).status.state).toBe("TASK_STATE_COMPLETED");
    expect(agent.runs).toHaveLength(2);
  });

  it("a message for the running agent is answered within a second, and is delivered once [E17, E10]", async () => {
    const delivered: string[] = [];
    const delivering = Object.assign(new ScriptedAgent(), {
      deliver: ({ messageId }: Message) => delivered.push(messageId) > 0,
    });
    const { engine, store, clock, agent } = await startStoredTurn({ agent: delivering });
    const taskId = agent.runs[0]?.run.taskId ?? "";
    store.failNextCommit = state;
    const more = createTestSendMessageRequest("more", { taskId });
    await expectAnswersWithinOneSecond([engine.sendMessage(more, alice)], clock);
    store.setState("healthy");
    expect(getTestResponseTask(await engine.sendMessage(more, alice)).history).toHaveLength(2);
    expect(delivered).toEqual([more.message.messageId]);
    agent.runs[0]?.emit(completedTestEvent).end();
    await flushEventLoopForTest();
    expect(engine.isTaskInUse({ agent: "puppet", ...alice }, taskId)).toBe(false);
  });

  it("a server that closes waits no longer than its grace period", async () => {
    const { agent, store, clock, engine, answer } = await startStoredTurn();
    store.failNextCommit = state;
    agent.runs[0]?.emit(createTestChunkEvent("a", false));
    await flushEventLoopForTest();
    const closed = engine.close(500);
    for (let step = 0; step < 6; step++) {
      await flushEventLoopForTest();
      clock.advance(100);
    }
    await closed;
    await expect(answer).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });
});

describe("after a failed sync", () => {
  it("an append that the reopened log contains counts as stored [E17, E1]", async () => {
    const { agent, store, answer } = await startStoredTurn();
    store.storesInDoubt = true;
    store.failNextCommit = "failed";
    agent.runs[0]?.emit(createTestChunkEvent("a", false));
    await flushEventLoopForTest();
    agent.runs[0]?.emit(createTestChunkEvent("b"), completedTestEvent).end();
    store.setState("healthy");
    const task = getTestResponseTask(await answer);
    expect(task).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "ab" }] }],
    });
    const scope = { agent: "puppet", ...alice };
    expect((await store.load(scope, task.id))?.task).toEqual(task);
  });

  it("a message that the reopened log contains starts one task [E17, E10]", async () => {
    const agent = new ScriptedAgent();
    const { store, engine } = createEngineFixture({
      agent,
      store: new UnhealthyTestStore(),
    }) as EngineFixture & {
      store: UnhealthyTestStore;
    };
    store.storesInDoubt = true;
    store.failNextCommit = "failed";
    const answer = engine.sendMessage(createTestSendMessageRequest("go"), alice);
    (await agent.waitForRun(0)).emit(completedTestEvent).end();
    await flushEventLoopForTest();
    store.setState("healthy");
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    expect((await engine.listTasks({}, alice)).totalSize).toBe(1);
  });

  it("a queued message that the reopened queue contains counts as stored, and the running turn continues [E17, E10]", async () => {
    const agent = new ScriptedAgent({ whileWorking: "queue" });
    const { store, engine, answer } = await startStoredTurn({ agent });
    const taskId = agent.runs[0]?.run.taskId ?? "";
    store.storesInDoubt = true;
    store.failNextCommit = "failed";
    const more = createTestSendMessageRequest("more", { taskId, configuration: { returnImmediately: true } });
    const queued = engine.sendMessage(more, alice);
    queued.catch(() => {});
    await flushEventLoopForTest();
    store.setState("healthy");
    await queued;
    agent.runs[0]?.emit(inputRequiredTestEvent).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    (await agent.waitForRun(1)).emit(completedTestEvent).end();
    await flushEventLoopForTest();
    expect(await engine.getTask({ id: taskId }, alice)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      history: [{ parts: [{ text: "go" }] }, { parts: [{ text: "which?" }] }, { parts: [{ text: "more" }] }],
    });
    expect(agent.runs).toHaveLength(2);
  });
});
