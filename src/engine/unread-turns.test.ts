import { describe, expect, it } from "vitest";
import { getText, type Task } from "../protocol/index.ts";
import {
  alice,
  completedTestEvent,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  type EngineFixture,
  type EngineFixtureOptions,
  flushEventLoopForTest,
  inputRequiredTestEvent,
  ScriptedAgent,
  type ScriptedRun,
  workingTestEvent,
} from "./engine.fixture.ts";
import type { PushConfigOperations } from "./push-notifications.ts";
import type { ClientConnection } from "./unread-turns.ts";

const SECOND_MS = 1000;

/** A connection that the test closes. */
class TestConnection implements ClientConnection {
  readonly #callbacks = new Set<() => void>();

  onDisconnect(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  close(): void {
    for (const callback of this.#callbacks) callback();
  }

  get callbackCount(): number {
    return this.#callbacks.size;
  }
}

interface UnreadFixture extends EngineFixture {
  /** Advances the clock in steps of a second, and resolves with the state of the first task. */
  readonly readAfter: (seconds: number) => Promise<string>;
  readonly start: (
    returnImmediately?: boolean,
    client?: ClientConnection,
  ) => Promise<{ run: ScriptedRun; answer: Promise<unknown> }>;
  readonly stream: () => Promise<{ run: ScriptedRun; close: () => void }>;
}

function createUnreadFixture(options: EngineFixtureOptions = {}): UnreadFixture {
  const fixture = createEngineFixture({ agent: new ScriptedAgent({ whenUnread: "cancel" }), ...options });
  const { engine, agent, clock } = fixture;
  return {
    ...fixture,
    async readAfter(seconds) {
      for (let at = 0; at < seconds; at++) {
        clock.advance(SECOND_MS);
        await flushEventLoopForTest(3);
      }
      const task: Task = await engine.getTask({ id: agent.runs[0]?.run.taskId ?? "" }, alice);
      const text = getText(task.status.message?.parts ?? []);
      return `${task.status.state.slice("TASK_STATE_".length)} ${text}`.trim();
    },
    async start(returnImmediately = false, client) {
      const request = createTestSendMessageRequest("hi", { configuration: { returnImmediately } });
      const answer = engine.sendMessage(request, alice, {}, client);
      const run = (await agent.waitForRun(agent.runs.length)).emit(workingTestEvent);
      await flushEventLoopForTest();
      return { run, answer };
    },
    async stream() {
      const opening = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
      const run = (await agent.waitForRun(0)).emit(workingTestEvent);
      const subscription = await opening;
      await flushEventLoopForTest();
      return { run, close: () => subscription.close() };
    },
  };
}

const CANCELED = "CANCELED The server canceled the task, because no client waits for it (whenUnread).";

describe('an agent with whenUnread: "cancel"', () => {
  it("is canceled with a reason 30 seconds after the last stream has closed [E24]", async () => {
    const { stream, readAfter, clock } = createUnreadFixture();
    const { run, close } = await stream();
    run.run.signal.addEventListener("abort", () => run.end());
    expect(await readAfter(300)).toBe("WORKING");
    close();
    expect(await readAfter(29)).toBe("WORKING");
    expect(run.run.signal.aborted).toBe(false);
    expect(await readAfter(1)).toBe(CANCELED);
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("is canceled after the client of a blocking SendMessage has disconnected, also if it ignores the signal [E24]", async () => {
    const client = new TestConnection();
    const { start, readAfter } = createUnreadFixture({ cancelGraceMs: 2 * SECOND_MS });
    const { run, answer } = await start(false, client);
    expect(await readAfter(100)).toBe("WORKING");
    client.close();
    expect(await readAfter(30)).toBe("WORKING");
    expect(run.run.signal.aborted).toBe(true);
    expect(await readAfter(2)).toBe(CANCELED);
    expect(await answer).toMatchObject({ task: { status: { state: "TASK_STATE_CANCELED" } } });
    expect(client.callbackCount).toBe(0);
  });

  it("continues if a client returns in time, and while one of several clients waits [E2]", async () => {
    const { engine, stream, readAfter } = createUnreadFixture();
    const { run, close } = await stream();
    const subscribe = async (): Promise<() => void> => {
      const subscription = await engine.subscribeToTask({ id: run.run.taskId }, alice);
      return () => subscription.close();
    };
    close();
    expect(await readAfter(29)).toBe("WORKING");
    const [closeSecond, closeThird] = [await subscribe(), await subscribe()];
    closeSecond();
    expect(await readAfter(100)).toBe("WORKING");
    closeThird();
    closeThird();
    run.emit(createTestChunkEvent("x", false), completedTestEvent).end();
    expect(await readAfter(30)).toBe("COMPLETED");
  });

  it("continues if no client has ever waited for its turn [E2]", async () => {
    const { start, readAfter, clock } = createUnreadFixture();
    const { run } = await start(true);
    expect(await readAfter(300)).toBe("WORKING");
    run.emit(completedTestEvent).end();
    expect(await readAfter(1)).toBe("COMPLETED");
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("continues in a later turn that no client has waited for, although the client of an earlier turn has left [E2]", async () => {
    const { engine, agent, stream, readAfter } = createUnreadFixture();
    const { run, close } = await stream();
    close();
    run.emit(inputRequiredTestEvent).end();
    expect(await readAfter(10)).toContain("INPUT_REQUIRED");
    const { taskId } = run.run;
    const next = createTestSendMessageRequest("more", { taskId, configuration: { returnImmediately: true } });
    await engine.sendMessage(next, alice);
    (await agent.waitForRun(1)).emit(workingTestEvent);
    expect(await readAfter(300)).toBe("WORKING");
  });

  it("continues in a polled turn that follows a question, which its client has read [E2]", async () => {
    const { engine, agent, start, readAfter } = createUnreadFixture();
    const { run, answer } = await start();
    run.emit(inputRequiredTestEvent).end();
    await answer;
    const { taskId } = run.run;
    const next = createTestSendMessageRequest("more", { taskId, configuration: { returnImmediately: true } });
    await engine.sendMessage(next, alice);
    (await agent.waitForRun(1)).emit(workingTestEvent);
    expect(await readAfter(300)).toBe("WORKING");
  });

  it("keeps a question that it asks while the server looks for a webhook [E2]", async () => {
    const listed = Promise.withResolvers<object>();
    const push = {
      outbox: { notifyCommit: () => {}, onWebhookFound: () => {}, searchAllWebhooks: async () => {} },
      createConfigOperations: () => ({ list: () => listed.promise }) as unknown as PushConfigOperations,
    };
    const { stream, readAfter } = createUnreadFixture({ push });
    const { run, close } = await stream();
    close();
    expect(await readAfter(30)).toBe("WORKING");
    run.emit(inputRequiredTestEvent);
    await flushEventLoopForTest();
    listed.resolve({ configs: [] });
    await flushEventLoopForTest();
    expect(run.run.signal.aborted).toBe(false);
    run.end();
    expect(await readAfter(100)).toContain("INPUT_REQUIRED");
  });

  it("continues while its question waits for an answer within the turn, and is canceled later [E24]", async () => {
    const { stream, readAfter } = createUnreadFixture();
    const { run, close } = await stream();
    run.run.signal.addEventListener("abort", () => run.end());
    run.emit({ status: { state: "TASK_STATE_AUTH_REQUIRED" } });
    close();
    expect(await readAfter(300)).toBe("AUTH_REQUIRED");
    run.emit(workingTestEvent);
    expect(await readAfter(30)).toBe(CANCELED);
  });

  it("continues if its task has a webhook, and asks again if the store fails [E12]", async () => {
    let failures = 1;
    let configs: object[] = [{}];
    const list = (): Promise<object> =>
      failures-- > 0 ? Promise.reject(new Error("store")) : Promise.resolve({ configs });
    const push = {
      outbox: { notifyCommit: () => {}, onWebhookFound: () => {}, searchAllWebhooks: async () => {} },
      createConfigOperations: () => ({ list }) as unknown as PushConfigOperations,
    };
    const { stream, engine, readAfter } = createUnreadFixture({ push });
    const { run, close } = await stream();
    run.run.signal.addEventListener("abort", () => run.end());
    close();
    expect(await readAfter(30)).toBe("WORKING");
    expect(failures).toBe(0);
    expect(await readAfter(300)).toBe("WORKING");
    configs = [];
    const subscription = await engine.subscribeToTask({ id: run.run.taskId }, alice);
    subscription.close();
    expect(await readAfter(30)).toBe(CANCELED);
  });

  it("leaves no timer in a closed engine", async () => {
    const { engine, stream, clock } = createUnreadFixture();
    const { run, close } = await stream();
    run.run.signal.addEventListener("abort", () => run.end());
    close();
    await engine.close(SECOND_MS);
    expect(clock.pendingTimerCount).toBe(0);
  });
});

describe("an agent without whenUnread", () => {
  it("starts no timer for its readers, and continues without them [E2] [E25]", async () => {
    const { engine, agent, clock } = createEngineFixture();
    const client = new TestConnection();
    void engine.sendMessage(createTestSendMessageRequest("hi"), alice, {}, client);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    const subscription = await engine.subscribeToTask({ id: run.run.taskId }, alice);
    const timerCount = clock.pendingTimerCount;
    subscription.close();
    expect(client.callbackCount).toBe(0);
    expect(clock.pendingTimerCount).toBe(timerCount);
    clock.advance(900 * SECOND_MS);
    expect(run.run.signal.aborted).toBe(false);
  });
});
