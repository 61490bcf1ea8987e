import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import type { Webhook } from "../../webhooks/index.ts";
import { createTestWebhookRegistration } from "../push-store.contract.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const { url, reason } = await findTestDatabase();
const scope = aliceTestTaskScope;

describe.skipIf(reason)("the lease on a webhook", () => {
  let first: PostgresStore;
  let second: PostgresStore;
  let taskCount = 0;
  let taskId: string;

  beforeEach(async () => {
    taskId = `t${++taskCount}`;
    [first, second] = [new PostgresStore(url), new PostgresStore(url)];
    await Promise.all([first.open(), second.open()]);
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE; TRUNCATE colloquy.push");
  });

  afterEach(() => Promise.all([first.close(), second.close()]));

  const now = 1_790_000_000_000;
  const claim = ({ pushStore }: PostgresStore): ReturnType<PostgresStore["pushStore"]["claim"]> =>
    pushStore.claim(scope, taskId, now);
  const claimIds = async (store: PostgresStore): Promise<string[]> =>
    (await claim(store)).webhooks.map(({ config }) => config.id);
  const claimDueIds = async ({ pushStore }: PostgresStore, search: "due" | "all"): Promise<string[]> =>
    (await pushStore.claimDue({ search, after: 0, limit: 10, now })).map(({ config }) => config.id);
  const isHeld = async ({ pushStore }: PostgresStore, key: number): Promise<boolean | undefined> =>
    await pushStore.isHeld?.(key);

  /** Creates a task with the webhook `w` and an undelivered event. */
  async function createTask(options: object = {}): Promise<Webhook> {
    const webhooks = [createTestWebhookRegistration("w")];
    const events = [createTestSubmittedTaskEvent(taskId)];
    await first.commit([createTestLogAppend(taskId, 0, events, { webhooks, ...options })]);
    return (await first.pushStore.get(scope, taskId, "w")) as Webhook;
  }

  const endFirstNode = (): Promise<unknown> =>
    runTestSql(url, "DELETE FROM colloquy.node").then(() => second.turns.renew());

  it("belongs to the node that registers the webhook with a message, until the node stops [E12, E21]", async () => {
    const { key } = await createTask();
    expect(await claim(second)).toEqual({ webhooks: [], mayNeedMore: true });
    expect(await claimDueIds(second, "all")).toEqual([]);
    expect(await isHeld(first, key)).toBe(true);
    await endFirstNode();
    expect(await claimDueIds(second, "due")).toEqual(["w"]);
    expect(await isHeld(first, key)).toBe(false);
    expect(await isHeld(second, key)).toBe(true);
  });

  it("can be claimed after its release, and its old holder can save no progress [E12, E21]", async () => {
    const { key } = await createTask();
    const release = { key, deliveredSeq: 0, isFinished: false, isReleased: true };
    await second.pushStore.saveProgress([release]);
    expect(await claimIds(second)).toEqual([]);
    await first.pushStore.saveProgress([release]);
    expect(await claimIds(second)).toEqual(["w"]);
    await first.pushStore.saveProgress([{ key, deliveredSeq: 1, isFinished: true }]);
    expect(await second.pushStore.get(scope, taskId, "w")).toMatchObject({ deliveredSeq: 0 });
    await second.pushStore.saveProgress([{ key, deliveredSeq: 1, isFinished: true }]);
    expect(await claim(second)).toEqual({ webhooks: [], mayNeedMore: false });
  });

  it("is lost if another node replaces the webhook, whose configuration is then outdated [I-01]", async () => {
    const { key } = await createTask();
    await first.pushStore.put(
      scope,
      taskId,
      createTestWebhookRegistration("w", { url: "https://a.example" }),
    );
    expect(await isHeld(first, key)).toBe(true);
    await second.pushStore.put(
      scope,
      taskId,
      createTestWebhookRegistration("w", { url: "https://b.example" }),
    );
    expect(await isHeld(first, key)).toBe(false);
    expect((await claim(first)).webhooks).toMatchObject([{ config: { url: "https://b.example" } }]);
  });

  it("belongs to the node of the running turn, which finds webhooks of other nodes [E12, E21]", async () => {
    await createTask({ hasRunningTurn: true, webhooks: [] });
    await second.pushStore.put(scope, taskId, createTestWebhookRegistration("late"));
    expect(await claim(second)).toEqual({ webhooks: [], mayNeedMore: true });
    expect(await claimDueIds(first, "due")).toEqual([]);
    await first.commit([createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "x")])]);
    expect(await claimDueIds(second, "due")).toEqual([]);
    expect(await claimDueIds(first, "due")).toEqual(["late"]);
  });

  it("of a task whose last commit follows a silence is found at once, although another node registered the webhook [E12, E21]", async () => {
    await createTask({ hasRunningTurn: true, webhooks: [] });
    await second.pushStore.put(scope, taskId, createTestWebhookRegistration("late"));
    const end = createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "x")], {
      hasRunningTurn: false,
    });
    await first.commit([end]);
    expect(await claimDueIds(first, "due")).toEqual(["late"]);
  });

  it("can be claimed while the turn of its task has no node, for example because it is suspended [E12]", async () => {
    const { key } = await createTask({ hasRunningTurn: true });
    const retry = { key, deliveredSeq: 0, isFinished: false, isReleased: true, failedAttempts: 1 };
    await first.pushStore.saveProgress([{ ...retry, failingSince: now - 1000, dueAt: now - 1 }]);
    expect(await claimDueIds(second, "due")).toEqual([]);
    await runTestSql(url, `UPDATE colloquy.task SET lease_node = NULL WHERE task_id = '${taskId}'`);
    expect(await claimDueIds(second, "due")).toEqual(["w"]);
  });

  it("ends with a new registration on another node, which keeps no failure of the earlier one [I-01]", async () => {
    const { key } = await createTask();
    await second.pushStore.put(
      scope,
      taskId,
      createTestWebhookRegistration("w", { url: "https://b.example" }),
    );
    const progress = { key, deliveredSeq: 0, isFinished: false, isReleased: true };
    await first.pushStore.saveProgress([{ ...progress, deadLetter: { at: now, reason: "gone" } }]);
    await first.pushStore.saveProgress([
      { ...progress, failingSince: now, failedAttempts: 3, dueAt: now + 60_000 },
    ]);
    expect(await second.pushStore.get(scope, taskId, "w")).not.toHaveProperty("deadLetter");
    expect(await claimIds(second)).toEqual(["w"]);
  });

  it("has one holder, even if nodes claim due webhooks at the same time [E21]", async () => {
    const ids = Array.from({ length: 30 }, (_, at) => `w${String(at).padStart(2, "0")}`);
    await createTask({ webhooks: ids.map((id) => createTestWebhookRegistration(id)) });
    await first.close();
    const third = new PostgresStore(url);
    await third.open();
    try {
      const claims = await Promise.all(
        [second, third, second, third].map((store) =>
          store.pushStore.claimDue({ search: "all", after: 0, limit: 20, now }),
        ),
      );
      const holders = new Map<number, number>();
      for (const [at, webhooks] of claims.entries())
        for (const { key } of webhooks) {
          expect(holders.get(key) ?? at % 2).toBe(at % 2);
          holders.set(key, at % 2);
        }
      expect(holders.size).toBeGreaterThanOrEqual(20);
    } finally {
      await third.close();
    }
  });
});
