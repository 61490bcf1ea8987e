import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { listDueTestWebhooks } from "../stores/task-event-logs.fixture.ts";
import {
  alice,
  bob,
  inputRequiredTestEvent,
  createTestChunkEvent,
  completedTestEvent,
  FakeClock,
  createEngineFixture,
  ScriptedAgent,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  flushEventLoopForTest,
  getTestResponseTask,
  formatTaskEventForTest,
  workingTestEvent,
  type EngineFixture,
} from "../engine/engine.fixture.ts";
import type { Caller, PushDeliveryReport } from "../engine/index.ts";
import type { Webhook, WebhookProgress } from "./push-store.ts";
import type { DeliveryResult, WebhookNotification } from "./notification-sender.ts";
import { Outbox, type OutboxOptions } from "./outbox.ts";
import { createEnginePushOptions } from "./push-config-operations.ts";
import { resolvePushLimits } from "./push-limits.ts";

const HOUR_MS = 3_600_000;

/** A memory store that records saved progress. */
class RecordingStore extends MemoryStore {
  readonly writes: (readonly WebhookProgress[])[] = [];
  isFailing = false;

  constructor() {
    super();
    const advance = this.pushStore.saveProgress.bind(this.pushStore);
    this.pushStore.saveProgress = async (progress) => {
      if (this.isFailing) throw new Error("the disk is full");
      this.writes.push(progress);
      await advance(progress);
    };
  }
}

/** Records deliveries as `webhook: event` and returns the configured responses. */
class FakeReceiver {
  readonly delivered: string[] = [];
  readonly attempts: WebhookNotification[] = [];
  /** Results of the next attempts per webhook. Later attempts succeed. */
  readonly queuedResults = new Map<string, (DeliveryResult | "hang")[]>();
  readonly aborted: string[] = [];
  #hanging: (() => void)[] = [];

  /** Makes the first hanging attempts fail. */
  releaseHanging(count = Infinity): void {
    for (const resolve of this.#hanging.splice(0, count)) resolve();
  }

  readonly deliver = async (
    notification: WebhookNotification,
    signal: AbortSignal,
  ): Promise<DeliveryResult> => {
    this.attempts.push(notification);
    const { id } = notification.webhook.config;
    const answer = this.queuedResults.get(id)?.shift() ?? { ok: true };
    if (answer === "hang") {
      await new Promise<void>((resolve) => {
        this.#hanging.push(resolve);
        signal.addEventListener("abort", () => resolve());
      });
      this.aborted.push(id);
      return { ok: false, reason: "aborted" };
    }
    if (answer.ok) this.delivered.push(`${id}: ${formatTaskEventForTest(notification.event.event)}`);
    return answer;
  };
}

const createFailure = (more: object = {}): DeliveryResult => ({
  ok: false,
  reason: "The receiver answered HTTP 503.",
  ...more,
});
const createFailures = (count: number): DeliveryResult[] =>
  Array.from({ length: count }, () => createFailure());

interface OutboxFixture extends EngineFixture {
  readonly store: RecordingStore;
  readonly receiver: FakeReceiver;
  readonly outbox: Outbox;
  readonly reports: PushDeliveryReport[];
}

function createOutboxFixture(
  options: Partial<OutboxOptions> = {},
  { store = new RecordingStore(), clock = new FakeClock(), receiver = new FakeReceiver() } = {},
  agent = new ScriptedAgent(),
): OutboxFixture {
  const seen: PushDeliveryReport[] = [];
  const outbox = new Outbox({
    deliver: receiver.deliver,
    clock,
    random: () => 0,
    observer: { onPush: (one) => seen.push(one) },
    ...options,
    store,
  });
  outbox.open();
  onTestFinished(async () => {
    const closed = outbox.close(0);
    clock.advance(0);
    await closed;
  });
  const push = createEnginePushOptions({
    outbox,
    store: store.pushStore,
    validateWebhook: async () => [],
  });
  return {
    ...createEngineFixture({ store, clock, push, agent, mergeChunks: false, maxSilenceMs: Infinity }),
    store,
    receiver,
    outbox,
    reports: seen,
  };
}

const createWebhookConfig = (id: string, host = "example.com"): { id: string; url: string } => ({
  id,
  url: `https://${host}/`,
});

/** Starts a task with a webhook and returns its run and task id. */
async function startTask(
  { engine, agent }: EngineFixture,
  taskPushNotificationConfig: object = createWebhookConfig("w"),
  caller: Caller = alice,
): Promise<{ run: Awaited<ReturnType<EngineFixture["agent"]["waitForRun"]>>; taskId: string }> {
  const configuration = { taskPushNotificationConfig, returnImmediately: true } as never;
  const at = agent.runs.length;
  const { id: taskId } = getTestResponseTask(
    await engine.sendMessage(createTestSendMessageRequest("hi", { configuration }), caller),
  );
  return { run: await agent.waitForRun(at), taskId };
}

describe("the outbox", () => {
  it("counts the webhooks that have not received all events", async () => {
    const it = createOutboxFixture({ limits: { maxConcurrent: 2, maxPerHost: 2 } });
    it.receiver.queuedResults.set("hangs", ["hang"]);
    it.receiver.queuedResults.set("fails", createFailures(1));
    await startTask(it, createWebhookConfig("fails", "a.example"));
    await flushEventLoopForTest();
    expect(it.outbox.pendingDeliveryCounts).toEqual({ ready: 0, sending: 0, retry: 1 });
    await startTask(it, createWebhookConfig("hangs", "b.example"));
    await startTask(it, createWebhookConfig("waits", "b.example"));
    await flushEventLoopForTest();
    expect(it.outbox.pendingDeliveryCounts).toEqual({ ready: 1, sending: 1, retry: 1 });
    it.receiver.releaseHanging();
    await flushEventLoopForTest();
    it.clock.advance(60_000);
    await flushEventLoopForTest();
    it.clock.advance(60_000);
    await flushEventLoopForTest();
    expect(it.outbox.pendingDeliveryCounts).toEqual({ ready: 0, sending: 0, retry: 0 });
  });

  it("delivers each event once, in order, as it is committed [E12, I-08]", async () => {
    const it = createOutboxFixture();
    const { run } = await startTask(it);
    run.emit(workingTestEvent, createTestChunkEvent("a"));
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["w: task SUBMITTED", "w: WORKING", "w: a"]);
    run.emit(createTestChunkEvent("b")).end();
    await flushEventLoopForTest();
    expect(it.receiver.delivered.slice(3)).toEqual(["w: b", "w: COMPLETED"]);
    expect(it.reports.map(({ seq, outcome }) => [seq, outcome])).toEqual(
      [1, 2, 3, 4, 5].map((seq) => [seq, "delivered"]),
    );
  });

  it("saves its progress periodically, not for each event [E12]", async () => {
    const it = createOutboxFixture();
    const { run, taskId } = await startTask(it);
    for (let at = 0; at < 100; at++) {
      run.emit(createTestChunkEvent(`${at} `));
      await flushEventLoopForTest(4);
    }
    expect(it.receiver.delivered).toHaveLength(101);
    expect(it.store.writes).toHaveLength(0);
    it.clock.advance(500);
    await flushEventLoopForTest();
    expect(it.store.writes).toMatchObject([[{ deliveredSeq: 101 }]]);
    run.end();
    await flushEventLoopForTest();
    it.clock.advance(500);
    await flushEventLoopForTest();
    expect(it.store.writes.slice(1)).toMatchObject([[{ deliveredSeq: 102, isFinished: true }]]);
    expect(await it.store.pushStore.get(createTestTaskScopeForCaller(alice), taskId, "w")).toMatchObject({
      deliveredSeq: 102,
    });
  });

  it.each([["ended", ["w: COMPLETED"]] as const, ["working", ["w: WORKING"]] as const])(
    "repeats no event if a slow lookup has read the webhook of a(n) %s task before its progress was saved [E12]",
    async (state, lastDelivered) => {
      const it = createOutboxFixture();
      const { run, taskId } = await startTask(it);
      await flushEventLoopForTest();
      const { pushStore } = it.store;
      const claim = pushStore.claim.bind(pushStore);
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      pushStore.claim = async (...args) => {
        const earlier = await claim(...args);
        await released;
        return earlier;
      };
      it.outbox.notifyWebhookChange(createTestTaskScopeForCaller(alice), taskId, "removed");
      if (state === "ended") run.end();
      else run.emit(workingTestEvent);
      await flushEventLoopForTest();
      it.clock.advance(500);
      await flushEventLoopForTest();
      // The task of idle webhooks leaves the memory with the second flush.
      it.clock.advance(500);
      await flushEventLoopForTest();
      release();
      await flushEventLoopForTest();
      expect(it.receiver.delivered).toEqual(["w: task SUBMITTED", ...lastDelivered]);
      run.end();
    },
  );

  it("reports an outage of the store once, and searches again until the outage is over", async () => {
    const clock = new FakeClock();
    const store = new RecordingStore();
    let isDown = true;
    let searches = 0;
    const claimDue = store.pushStore.claimDue.bind(store.pushStore);
    store.pushStore.claimDue = async (query) => {
      searches++;
      if (isDown) throw new Error("the database is down");
      return await claimDue(query);
    };
    const errors: unknown[] = [];
    createOutboxFixture({ observer: { onError: ({ error }) => errors.push(error) } }, { store, clock });
    const wait = async (): Promise<void> => {
      await flushEventLoopForTest();
      clock.advance(1000);
      await flushEventLoopForTest();
    };
    for (let second = 0; second < 5; second++) await wait();
    expect(searches).toBeGreaterThan(4);
    expect(searches).toBeLessThan(8);
    expect(errors).toHaveLength(1);
    isDown = false;
    await wait();
    const searchesUntilSuccess = searches;
    for (let second = 0; second < 5; second++) await wait();
    expect(searches).toBe(searchesUntilSuccess);
  });

  it("reports an outage of the store once for all tasks, also without webhooks", async () => {
    const clock = new FakeClock();
    const store = new RecordingStore();
    let isDown = true;
    let claims = 0;
    const claim = store.pushStore.claim.bind(store.pushStore);
    store.pushStore.claim = async (...args) => {
      claims++;
      if (isDown) throw new Error("the database is down");
      return await claim(...args);
    };
    const claimDue = store.pushStore.claimDue.bind(store.pushStore);
    store.pushStore.claimDue = (query) =>
      isDown ? Promise.reject(new Error("the database is down")) : claimDue(query);
    const errors: unknown[] = [];
    const it = createOutboxFixture(
      { observer: { onError: ({ error }) => errors.push(error) } },
      { store, clock },
    );
    for (const taskId of ["a", "b", "c"]) {
      const scope = createTestTaskScopeForCaller(alice);
      it.outbox.notifyCommit({ scope, taskId, mayHaveWebhooks: true, isRunningInStore: true });
    }
    const wait = async (): Promise<void> => {
      await flushEventLoopForTest();
      clock.advance(1000);
      await flushEventLoopForTest();
    };
    for (let second = 0; second < 5; second++) await wait();
    expect(claims).toBeGreaterThan(12);
    expect(errors).toHaveLength(1);
    isDown = false;
    await wait();
    const claimsUntilSuccess = claims;
    for (let second = 0; second < 5; second++) await wait();
    expect(claims).toBe(claimsUntilSuccess);
    expect(errors).toHaveLength(1);
  });

  it("retries progress that the store rejected", async () => {
    const it = createOutboxFixture();
    const { run } = await startTask(it);
    it.store.isFailing = true;
    run.end();
    await flushEventLoopForTest();
    it.clock.advance(500);
    await flushEventLoopForTest();
    it.store.isFailing = false;
    it.clock.advance(500);
    await flushEventLoopForTest();
    expect(it.store.writes).toMatchObject([[{ deliveredSeq: 2, isFinished: true }]]);
  });

  it("retries after a doubling delay and sends no other event in between [E12, I-07, I-08]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", createFailures(4));
    const { run } = await startTask(it);
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    const triedAt: number[] = [];
    const began = it.clock.time;
    for (let ms = 0; ms < 20_000; ms += 500) {
      const before = it.receiver.attempts.length;
      it.clock.advance(500);
      await flushEventLoopForTest(5);
      if (it.receiver.attempts.length > before) triedAt.push(it.clock.time - began);
    }
    expect(triedAt).toEqual([1000, 3000, 7000, 15_000]);
    expect(it.receiver.attempts.slice(0, 5).every(({ event }) => event.seq === 1)).toBe(true);
    expect(it.receiver.delivered).toEqual(["w: task SUBMITTED", "w: WORKING", "w: COMPLETED"]);
    expect(
      it.reports.filter(({ outcome }) => outcome === "failed").map(({ retryInMs }) => retryInMs),
    ).toEqual([1000, 2000, 4000, 8000]);
  });

  it("marks the first failure of a webhook, and the first failure after a success [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", [...createFailures(2), { ok: true }, ...createFailures(1)]);
    const { run } = await startTask(it);
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    for (let ms = 0; ms < 10_000; ms += 500) {
      it.clock.advance(500);
      await flushEventLoopForTest(5);
    }
    expect(it.receiver.delivered.at(-1)).toBe("w: COMPLETED");
    expect(it.reports.map(({ outcome, isFirstFailure }) => [outcome, isFirstFailure]).slice(0, 4)).toEqual([
      ["failed", true],
      ["failed", false],
      ["delivered", undefined],
      ["failed", true],
    ]);
  });

  it("waits as long as the receiver requests [E12, I-07]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", [createFailure({ retryAfterMs: 90_000 })]);
    await startTask(it);
    await flushEventLoopForTest();
    it.clock.advance(89_999);
    await flushEventLoopForTest();
    expect(it.receiver.attempts).toHaveLength(1);
    it.clock.advance(1);
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["w: task SUBMITTED"]);
  });

  it("stops delivering to one failing webhook after the time limit, with the reason [E12]", async () => {
    const it = createOutboxFixture({ retry: { giveUpAfterMs: HOUR_MS } });
    it.receiver.queuedResults.set("w", createFailures(1000));
    const { run, taskId } = await startTask(it);
    await it.engine.pushConfigs?.create({ taskId, ...createWebhookConfig("x") }, alice);
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    for (let ms = 0; ms < 1.25 * HOUR_MS; ms += 60_000) {
      it.clock.advance(60_000);
      await flushEventLoopForTest(5);
    }
    const tries = it.receiver.attempts.length;
    it.clock.advance(24 * HOUR_MS);
    await flushEventLoopForTest();
    expect(it.receiver.attempts).toHaveLength(tries);
    expect(it.receiver.delivered).toEqual(["x: WORKING", "x: COMPLETED"]);
    expect(it.reports.at(-1)).toMatchObject({
      outcome: "dead",
      seq: 1,
      reason: "The receiver answered HTTP 503.",
    });
    expect(await it.store.pushStore.listDeadWebhooks(10)).toMatchObject([
      {
        taskId,
        config: createWebhookConfig("w"),
        deliveredSeq: 0,
        deadLetter: { reason: "The receiver answered HTTP 503." },
      },
    ]);
    expect(await listDueTestWebhooks(it.store.pushStore)).toEqual([]);
  });

  it("keeps retrying a failing webhook when the wall clock jumps a day ahead [E12]", async () => {
    const it = createOutboxFixture({ retry: { giveUpAfterMs: HOUR_MS } });
    it.receiver.queuedResults.set("w", createFailures(3));
    await startTask(it);
    await flushEventLoopForTest();
    it.clock.wallClockOffsetMs = 24 * HOUR_MS;
    for (let ms = 0; ms < 0.5 * HOUR_MS; ms += 60_000) {
      it.clock.advance(60_000);
      await flushEventLoopForTest(5);
    }
    expect(it.receiver.delivered).toContain("w: task SUBMITTED");
    expect(it.reports.filter(({ outcome }) => outcome === "dead")).toEqual([]);
  });

  it("measures the time from the first consecutive failure, across restarts [E12]", async () => {
    const before = createOutboxFixture({ retry: { giveUpAfterMs: HOUR_MS } });
    before.receiver.queuedResults.set("w", createFailures(1000));
    await startTask(before);
    await flushEventLoopForTest();
    before.clock.advance(500);
    await flushEventLoopForTest();
    await before.outbox.close(0);
    before.clock.advance(HOUR_MS);
    const after = createOutboxFixture({ retry: { giveUpAfterMs: HOUR_MS } }, before);
    await flushEventLoopForTest();
    expect(after.reports).toMatchObject([{ outcome: "dead", seq: 1 }]);
  });

  it("stops immediately after a permanent failure and resumes when the webhook is registered again [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", [{ ok: true }, createFailure({ isPermanent: true })]);
    const { run, taskId } = await startTask(it);
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    expect(it.reports.at(-1)).toMatchObject({ outcome: "dead", seq: 2 });
    await it.engine.pushConfigs?.create({ taskId, ...createWebhookConfig("w") }, alice);
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["w: task SUBMITTED", "w: WORKING", "w: COMPLETED"]);
    expect(await it.store.pushStore.listDeadWebhooks(10)).toEqual([]);
  });

  it("delivers the remaining events in order after a restart [E12]", async () => {
    const before = createOutboxFixture();
    before.receiver.queuedResults.set("w", [{ ok: true }, ...createFailures(3)]);
    const { run } = await startTask(before);
    run.emit(workingTestEvent, createTestChunkEvent("a"), createTestChunkEvent("b")).end();
    await flushEventLoopForTest();
    before.clock.advance(500);
    await flushEventLoopForTest();
    // A killed process does not close its outbox.
    const receiver = new FakeReceiver();
    createOutboxFixture({}, { ...before, receiver });
    await flushEventLoopForTest();
    expect(before.receiver.delivered).toEqual(["w: task SUBMITTED"]);
    expect(receiver.delivered).toEqual(["w: WORKING", "w: a", "w: b", "w: COMPLETED"]);
  });

  it("repeats deliveries that were not saved when the process was killed [E12]", async () => {
    const before = createOutboxFixture();
    const { run } = await startTask(before);
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    const receiver = new FakeReceiver();
    createOutboxFixture({}, { ...before, receiver });
    await flushEventLoopForTest();
    expect(receiver.delivered).toEqual(before.receiver.delivered);
  });

  it("waits for running deliveries on close and aborts them after the grace period [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("hang", ["hang"]);
    const { taskId } = await startTask(it, createWebhookConfig("hang", "slow.example"));
    const { run } = await startTask(it, createWebhookConfig("w"));
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    const closed = it.outbox.close(2000);
    await flushEventLoopForTest();
    expect(it.receiver.aborted).toEqual([]);
    it.clock.advance(2000);
    await closed;
    expect(it.receiver.aborted).toEqual(["hang"]);
    expect(await listDueTestWebhooks(it.store.pushStore)).toMatchObject([{ taskId, deliveredSeq: 0 }]);
    expect(it.clock.pendingTimerCount).toBe(0);
  });

  it("limits concurrent deliveries, in total and per host [E12, E14]", async () => {
    const it = createOutboxFixture({ limits: { maxConcurrent: 10, maxPerHost: 2 } });
    const hosted = ["a.example", "b.example", "c.example"];
    for (const host of hosted) await startTask(it, createWebhookConfig(host, host));
    await flushEventLoopForTest();
    for (let at = 0; at < 4; at++) {
      for (const host of hosted) {
        it.receiver.queuedResults.set(`${host} ${at}`, ["hang"]);
        await startTask(it, createWebhookConfig(`${host} ${at}`, host));
      }
    }
    await flushEventLoopForTest();
    const hosts = it.receiver.attempts.slice(3).map(({ webhook: { config } }) => config.url);
    expect(hosts).toHaveLength(5);
    expect(new Set(hosts).size).toBe(3);
    expect(hosts.filter((url) => url.includes("a.example"))).toHaveLength(2);
  });

  it("keeps delivering to other receivers when failed receivers hang [I-07, E12]", async () => {
    const it = createOutboxFixture({ limits: { maxConcurrent: 4, maxPerHost: 4 } });
    for (let at = 0; at < 20; at++) {
      it.receiver.queuedResults.set(`bad ${at}`, [createFailure(), "hang"]);
      await startTask(it, createWebhookConfig(`bad ${at}`, `bad${at}.example`));
    }
    await flushEventLoopForTest();
    it.clock.advance(1000);
    await flushEventLoopForTest();
    const { run } = await startTask(it, createWebhookConfig("good", "good.example"));
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["good: task SUBMITTED", "good: WORKING", "good: COMPLETED"]);
  });

  it("keeps delivering to responsive receivers when new receivers hang [I-07, E12]", async () => {
    const it = createOutboxFixture({ limits: { maxConcurrent: 8, maxPerHost: 4 } });
    const { run } = await startTask(it, createWebhookConfig("good", "good.example"));
    await flushEventLoopForTest();
    for (let at = 0; at < 20; at++) {
      it.receiver.queuedResults.set(`new ${at}`, ["hang"]);
      await startTask(it, createWebhookConfig(`new ${at}`, `new${at}.example`));
    }
    await flushEventLoopForTest();
    expect(it.receiver.attempts).toHaveLength(1 + 2);
    run.emit(workingTestEvent).end();
    await startTask(it, createWebhookConfig("other", "good.example"));
    await flushEventLoopForTest();
    expect(it.receiver.delivered.filter((one) => one.startsWith("good"))).toEqual([
      "good: task SUBMITTED",
      "good: WORKING",
      "good: COMPLETED",
    ]);
    expect(it.receiver.delivered).toContain("other: task SUBMITTED");
    // A failed host no longer counts as responsive.
    it.receiver.queuedResults.set("failing", [createFailure()]);
    await startTask(it, createWebhookConfig("failing", "good.example"));
    await startTask(it, createWebhookConfig("late", "good.example"));
    await flushEventLoopForTest();
    expect(it.receiver.delivered).not.toContain("late: task SUBMITTED");
  });

  it.each([
    // Ports of one host count together.
    [
      "to one host",
      { maxPerSecondPerHost: 10, maxPerSecondPerOwner: Infinity },
      (at: number) => `a.example:${at + 1}`,
    ],
    [
      "of one owner",
      { maxPerSecondPerHost: Infinity, maxPerSecondPerOwner: 10 },
      (at: number) => `h${at}.example`,
    ],
  ])(
    "sends at most a fixed number of notifications per second %s, and loses none [E12, E14] [SEC-27]",
    async (_, limits, getHost) => {
      const it = createOutboxFixture({ limits });
      const runs = [];
      for (let at = 0; at < 5; at++)
        runs.push((await startTask(it, createWebhookConfig(`w${at}`, getHost(at)))).run);
      for (const run of runs) {
        for (let at = 0; at < 20; at++) run.emit(createTestChunkEvent(`${at}`));
        run.end();
      }
      const startedAt = it.clock.monotonic();
      await flushEventLoopForTest(50);
      while (it.receiver.delivered.length < 5 * 22) {
        it.clock.advance(20);
        await flushEventLoopForTest(20);
        const seconds = (it.clock.monotonic() - startedAt) / 1000;
        // Deliveries that started together may exceed the rate once, by one event each.
        expect(it.receiver.attempts.length).toBeLessThanOrEqual(10 + 10 * seconds + 5);
        expect(seconds).toBeLessThan(30);
      }
      for (let at = 0; at < 5; at++) {
        const texts = it.receiver.delivered.filter((one) => one.startsWith(`w${at}:`));
        expect(texts).toHaveLength(22);
        expect([texts[0], texts.at(-1)]).toEqual([`w${at}: task SUBMITTED`, `w${at}: COMPLETED`]);
      }
    },
  );

  it("delivers to the webhooks of one caller at once while another caller's receivers never answer [E12, E14] [SEC-40]", async () => {
    const it = createOutboxFixture({ limits: { maxConcurrent: 16 }, maxTasks: 20 });
    for (let at = 0; at < 30; at++) {
      it.receiver.queuedResults.set(`hanging ${at}`, ["hang"]);
      await startTask(it, createWebhookConfig(`hanging ${at}`, `h${at}.example`), bob);
    }
    await flushEventLoopForTest();
    const { run } = await startTask(it, createWebhookConfig("good", "good.example"));
    run.end();
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["good: task SUBMITTED", "good: COMPLETED"]);
  });

  it("does not send a webhook whose secrets cannot be decrypted, and reports the reason [E12]", async () => {
    const it = createOutboxFixture();
    const { pushStore } = it.store;
    let secretsError: string | undefined = "The secrets were encrypted with a key that is missing.";
    const addError = (webhook: Webhook): Webhook => (secretsError ? { ...webhook, secretsError } : webhook);
    const claim = pushStore.claim.bind(pushStore);
    pushStore.claim = async (...which) => {
      const { webhooks, mayNeedMore } = await claim(...which);
      return { webhooks: webhooks.map(addError), mayNeedMore };
    };
    const claimDue = pushStore.claimDue.bind(pushStore);
    pushStore.claimDue = async (query) => (await claimDue(query)).map(addError);
    const { run, taskId } = await startTask(it);
    run.end();
    await flushEventLoopForTest();
    expect(it.receiver.attempts).toEqual([]);
    expect(it.reports).toMatchObject([{ taskId, outcome: "failed", reason: secretsError }]);
    // After the operator has restored the key, the client registers nothing again.
    secretsError = undefined;
    it.clock.advance(1000);
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["w: task SUBMITTED", "w: COMPLETED"]);
  });

  it("closes in time while deliveries wait for their rate [E12]", async () => {
    const it = createOutboxFixture({ limits: { maxPerSecondPerHost: 1 } });
    const { run, taskId } = await startTask(it);
    for (let at = 0; at < 5; at++) run.emit(createTestChunkEvent(`${at}`));
    await flushEventLoopForTest();
    const attemptCount = it.receiver.attempts.length;
    const closed = it.outbox.close(100);
    it.clock.advance(100);
    await closed;
    expect(it.receiver.attempts).toHaveLength(attemptCount);
    expect(await listDueTestWebhooks(it.store.pushStore)).toMatchObject([{ taskId }]);
    expect(it.clock.pendingTimerCount).toBe(0);
  });

  it("serves more tasks than it keeps in memory, because the others wait in the store [E14, E12]", async () => {
    const it = createOutboxFixture({ maxTasks: 4 });
    for (let at = 0; at < 20; at++) it.receiver.queuedResults.set(`w${at}`, [createFailure()]);
    for (let at = 0; at < 20; at++)
      (await startTask(it, createWebhookConfig(`w${at}`))).run.emit(workingTestEvent).end();
    for (let ms = 0; ms < 200; ms++) {
      it.clock.advance(1000);
      await flushEventLoopForTest(5);
    }
    for (let at = 0; at < 20; at++) {
      expect(it.receiver.delivered.filter((one) => one.startsWith(`w${at}:`))).toEqual([
        `w${at}: task SUBMITTED`,
        `w${at}: WORKING`,
        `w${at}: COMPLETED`,
      ]);
    }
    expect(await listDueTestWebhooks(it.store.pushStore)).toEqual([]);
  });

  it("loads webhooks that overflowed during a load later [E12, E14]", async () => {
    const store = new RecordingStore();
    const due = store.pushStore.claimDue.bind(store.pushStore);
    let answer: (() => void) | undefined;
    // The query is slow and returns the state from its start.
    store.pushStore.claimDue = async (...which) => {
      const found = await due(...which);
      await new Promise<void>((resolve) => (answer = resolve));
      return found;
    };
    const it = createOutboxFixture({ maxTasks: 4 }, { store });
    for (const id of ["a", "b"]) it.receiver.queuedResults.set(id, ["hang"]);
    for (const id of ["a", "b", "c"]) (await startTask(it, createWebhookConfig(id))).run.end();
    await flushEventLoopForTest();
    store.pushStore.claimDue = due;
    answer?.();
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual([]);
    it.receiver.releaseHanging();
    for (let ms = 0; ms < 5; ms++) {
      await flushEventLoopForTest();
      it.clock.advance(1000);
    }
    expect(it.receiver.delivered.filter((one) => one.startsWith("c:"))).toEqual([
      "c: task SUBMITTED",
      "c: COMPLETED",
    ]);
  });

  it("keeps the retry of a webhook that a node with other nodes has claimed without room for it [E12, E14]", async () => {
    const store = new RecordingStore();
    Object.assign(store.pushStore, { pollIntervalMs: 1000 });
    const it = createOutboxFixture({ maxTasks: 4 }, { store });
    const wait = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        it.clock.advance(1000);
        await flushEventLoopForTest(5);
      }
    };
    it.receiver.queuedResults.set("late", [createFailure()]);
    (await startTask(it, createWebhookConfig("late"))).run.end();
    await flushEventLoopForTest(5);
    // The other webhooks of the caller fill the caller's half of the places before the retry is due.
    for (const id of ["a", "b"]) {
      it.receiver.queuedResults.set(id, ["hang"]);
      await startTask(it, createWebhookConfig(id));
    }
    await wait(10);
    expect(it.receiver.delivered).toEqual([]);
    it.receiver.releaseHanging(1);
    await wait(5);
    expect(it.receiver.delivered.filter((one) => one.startsWith("late:"))).toEqual([
      "late: task SUBMITTED",
      "late: COMPLETED",
    ]);
  });

  it("evicts idle tasks and loads their webhooks again on the next commit [E14]", async () => {
    const it = createOutboxFixture();
    const { run, taskId } = await startTask(it);
    run.emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
    for (let at = 0; at < 4; at++) {
      it.clock.advance(500);
      await flushEventLoopForTest();
    }
    expect(it.clock.pendingTimerCount).toBe(0);
    void it.engine.sendMessage(createTestSendMessageRequest("go on", { taskId }), alice);
    (await it.agent.waitForRun(1)).emit(completedTestEvent).end();
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual([
      "w: task SUBMITTED",
      "w: INPUT_REQUIRED",
      "w: WORKING",
      "w: COMPLETED",
    ]);
  });

  it("queries the store at most once for a task without webhooks, and never for a new one", async () => {
    const it = createOutboxFixture();
    let queryCount = 0;
    const claim = it.store.pushStore.claim.bind(it.store.pushStore);
    it.store.pushStore.claim = (...which) => {
      queryCount++;
      return claim(...which);
    };
    const { id: taskId } = getTestResponseTask(
      await it.engine.sendMessage(
        createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } }),
        alice,
      ),
    );
    (await it.agent.waitForRun(0))
      .emit(workingTestEvent, createTestChunkEvent("a"), createTestChunkEvent("b"), inputRequiredTestEvent)
      .end();
    await flushEventLoopForTest();
    expect(queryCount).toBe(0);
    const done = it.engine.sendMessage(createTestSendMessageRequest("go on", { taskId }), alice);
    const run = await it.agent.waitForRun(1);
    for (let at = 0; at < 10; at++) {
      run.emit(createTestChunkEvent("c"));
      await flushEventLoopForTest(5);
    }
    run.end();
    await done;
    expect(queryCount).toBe(1);
  });

  it("serves a webhook that is registered during a lookup of the task's webhooks [E12, F-13]", async () => {
    const it = createOutboxFixture({}, {}, new ScriptedAgent({ whileWorking: "queue" }));
    const { id: taskId } = getTestResponseTask(
      await it.engine.sendMessage(
        createTestSendMessageRequest("hi", { configuration: { returnImmediately: true } }),
        alice,
      ),
    );
    (await it.agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
    // The task is loaded from the store again. The lookup after its next commit finds no webhook.
    const first = it.engine.sendMessage(createTestSendMessageRequest("one", { taskId }), alice);
    const configuration = { taskPushNotificationConfig: createWebhookConfig("w"), returnImmediately: true };
    const second = it.engine.sendMessage(
      createTestSendMessageRequest("two", { taskId, configuration }),
      alice,
    );
    (await it.agent.waitForRun(1)).emit(inputRequiredTestEvent).end();
    await first;
    await second;
    (await it.agent.waitForRun(2)).emit(workingTestEvent).end();
    await flushEventLoopForTest();
    expect(await it.store.pushStore.list(createTestTaskScopeForCaller(alice), taskId)).toHaveLength(1);
    expect(it.receiver.delivered).toEqual(["w: WORKING", "w: COMPLETED"]);
  });

  it("serves a webhook of a later message from that message on, new or replaced [E12, F-13]", async () => {
    const it = createOutboxFixture();
    const { run, taskId } = await startTask(it, createWebhookConfig("a"));
    run.emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
    for (const [at, config] of [
      createWebhookConfig("b"),
      { ...createWebhookConfig("a"), token: "new" },
    ].entries()) {
      const configuration = { taskPushNotificationConfig: config, returnImmediately: true };
      void it.engine.sendMessage(createTestSendMessageRequest("go on", { taskId, configuration }), alice);
      (await it.agent.waitForRun(at + 1)).emit(createTestChunkEvent(`${at}`), inputRequiredTestEvent).end();
      await flushEventLoopForTest();
    }
    expect(it.receiver.delivered.filter((one) => one.startsWith("b:"))).toEqual([
      "b: WORKING",
      "b: 0",
      "b: INPUT_REQUIRED",
      "b: WORKING",
      "b: 1",
      "b: INPUT_REQUIRED",
    ]);
    const ofA = it.receiver.attempts.filter(({ webhook: { config } }) => config.id === "a");
    expect(
      ofA.map(
        ({ event, webhook: { config } }) => `${formatTaskEventForTest(event.event)} ${config.token ?? "old"}`,
      ),
    ).toEqual([
      "task SUBMITTED old",
      "INPUT_REQUIRED old",
      "WORKING old",
      "0 old",
      "INPUT_REQUIRED old",
      "WORKING new",
      "1 new",
      "INPUT_REQUIRED new",
    ]);
  });

  it("serves an idle webhook while another webhook of the task is being retried [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("bad", [createFailure(), "hang"]);
    const { run, taskId } = await startTask(it, createWebhookConfig("bad", "bad.example"));
    await it.engine.pushConfigs?.create({ taskId, ...createWebhookConfig("good") }, alice);
    run.emit(workingTestEvent);
    await flushEventLoopForTest();
    it.clock.advance(500);
    await flushEventLoopForTest();
    // The second attempt of the first webhook does not end. The other webhook has been released.
    it.clock.advance(500);
    await flushEventLoopForTest();
    expect(it.receiver.attempts.at(-1)?.webhook.config.id).toBe("bad");
    run.end();
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual(["good: WORKING", "good: COMPLETED"]);
  });

  it("stops the delivery to a webhook that is removed between two attempts [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", createFailures(1));
    const { taskId } = await startTask(it);
    await flushEventLoopForTest();
    expect(it.receiver.attempts).toHaveLength(1);
    await it.engine.pushConfigs?.delete({ taskId, id: "w" }, alice);
    it.clock.advance(HOUR_MS);
    await flushEventLoopForTest();
    expect(it.receiver.attempts).toHaveLength(1);
  });

  it("stops the delivery to a removed webhook of a task that keeps another webhook [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", createFailures(1));
    const { run, taskId } = await startTask(it);
    await it.engine.pushConfigs?.create({ taskId, ...createWebhookConfig("kept") }, alice);
    await flushEventLoopForTest();
    await it.engine.pushConfigs?.delete({ taskId, id: "w" }, alice);
    await flushEventLoopForTest();
    it.clock.advance(HOUR_MS);
    run.emit(workingTestEvent).end();
    await flushEventLoopForTest();
    expect(it.receiver.attempts.map(({ webhook, event }) => [webhook.config.id, event.seq])).toEqual([
      ["w", 1],
      ["kept", 2],
      ["kept", 3],
    ]);
  });

  it("resumes a dead webhook that a message registers again, even before its dead letter is saved [E12]", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", [createFailure({ isPermanent: true })]);
    const { run, taskId } = await startTask(it);
    run.emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
    const configuration = { taskPushNotificationConfig: createWebhookConfig("w"), returnImmediately: true };
    void it.engine.sendMessage(createTestSendMessageRequest("go on", { taskId, configuration }), alice);
    (await it.agent.waitForRun(1)).emit(completedTestEvent).end();
    await flushEventLoopForTest();
    it.clock.advance(500);
    await flushEventLoopForTest();
    expect(it.receiver.delivered).toEqual([
      "w: task SUBMITTED",
      "w: INPUT_REQUIRED",
      "w: WORKING",
      "w: COMPLETED",
    ]);
    expect(await it.store.pushStore.listDeadWebhooks(10)).toEqual([]);
  });

  it("stops querying the store for a task whose webhooks are all dead", async () => {
    const it = createOutboxFixture();
    it.receiver.queuedResults.set("w", [createFailure({ isPermanent: true })]);
    const { run, taskId } = await startTask(it);
    await flushEventLoopForTest();
    let queryCount = 0;
    const claim = it.store.pushStore.claim.bind(it.store.pushStore);
    it.store.pushStore.claim = (...which) => {
      queryCount++;
      return claim(...which);
    };
    for (let at = 0; at < 10; at++) {
      run.emit(createTestChunkEvent("c"));
      await flushEventLoopForTest(5);
    }
    expect(queryCount).toBe(1);
    await it.engine.pushConfigs?.create({ taskId, ...createWebhookConfig("w") }, alice);
    run.emit(inputRequiredTestEvent);
    await flushEventLoopForTest();
    expect(it.receiver.delivered.at(-1)).toBe("w: INPUT_REQUIRED");
  });

  it("sends the entire task after each event to an A2A 0.3 webhook, and pending chunks together [I-04]", async () => {
    const it = createOutboxFixture();
    const { engine, receiver } = it;
    receiver.queuedResults.set("w", [createFailure()]);
    const configuration = { taskPushNotificationConfig: createWebhookConfig("w"), returnImmediately: true };
    await engine.sendMessage(createTestSendMessageRequest("hi", { configuration }), alice, {
      version: "0.3",
    });
    (await it.agent.waitForRun(0))
      .emit(workingTestEvent, createTestChunkEvent("a"), createTestChunkEvent("b"), createTestChunkEvent("c"))
      .end();
    await flushEventLoopForTest();
    it.clock.advance(1000);
    await flushEventLoopForTest();
    const tasks = receiver.attempts.map(({ task }) => [
      task?.status.state,
      task?.artifacts?.map(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))).join(),
    ]);
    expect(tasks).toEqual([
      ["TASK_STATE_SUBMITTED", undefined],
      ["TASK_STATE_SUBMITTED", undefined],
      ["TASK_STATE_WORKING", undefined],
      ["TASK_STATE_WORKING", "abc"],
      ["TASK_STATE_COMPLETED", "abc"],
    ]);
  });

  it("delivers every event at least once and in order, despite failures and kills [E12, I-08]", async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant("say" as const) },
      { weight: 2, arbitrary: fc.constant("wait" as const) },
      { weight: 1, arbitrary: fc.constant("kill" as const) },
      { weight: 1, arbitrary: fc.constant("close" as const) },
    );
    const script = fc.record({
      steps: fc.array(step, { maxLength: 12 }),
      works: fc.infiniteStream(fc.boolean()),
    });
    await fc.assert(
      fc.asyncProperty(script, async ({ steps, works }) => {
        const store = new RecordingStore();
        const clock = new FakeClock();
        const arrived: number[] = [];
        const outboxes: { alive: boolean }[] = [];
        let failuresInRow = 0;
        let onFound: Parameters<Outbox["onWebhookFound"]>[0] = () => {};
        const start = (): Outbox => {
          const life = { alive: true };
          outboxes.push(life);
          const outbox = new Outbox({
            store,
            clock: {
              now: () => clock.now(),
              monotonic: () => clock.monotonic(),
              schedule: (ms, callback) => clock.schedule(ms, () => life.alive && callback()),
              scheduleTurn: (callback) => clock.scheduleTurn(callback),
            },
            random: () => 0.5,
            deliver: async ({ event }) => {
              if (!life.alive) return await new Promise<never>(() => {});
              // More failures in a row would delay the next attempt beyond the end of the test.
              if (works.next().value !== true && failuresInRow++ < 6) return createFailure();
              failuresInRow = 0;
              arrived.push(event.seq);
              return { ok: true };
            },
          });
          outbox.onWebhookFound((...task) => onFound(...task));
          outbox.open();
          return outbox;
        };
        let outbox = start();
        const shared = {
          limits: resolvePushLimits(),
          notifyCommit: (task: Parameters<Outbox["notifyCommit"]>[0]) => outbox.notifyCommit(task),
          onWebhookFound: (listener: typeof onFound) => void (onFound = listener),
        };
        const push = createEnginePushOptions({
          outbox: shared as never,
          store: store.pushStore,
          validateWebhook: async () => [],
        });
        const it = createEngineFixture({ store, clock, push, mergeChunks: false });
        const { run } = await startTask(it);
        let events = 1;
        for (const step of steps) {
          if (step === "say") run.emit(createTestChunkEvent(String(events++)));
          else if (step === "wait") clock.advance(700);
          else {
            const life = outboxes.at(-1) as { alive: boolean };
            if (step === "close") await outbox.close(0);
            life.alive = false;
            outbox = start();
          }
          await flushEventLoopForTest(4);
        }
        run.end();
        events++;
        for (let at = 0; at < 60 && arrived.at(-1) !== events; at++) {
          clock.advance(60_000);
          await flushEventLoopForTest(6);
        }
        const firsts = arrived.filter((seq, at) => arrived.indexOf(seq) === at);
        expect(firsts).toEqual(Array.from({ length: events }, (_, at) => at + 1));
        expect(arrived.at(-1)).toBe(events);
      }),
      { numRuns: 60 },
    );
  });
});
