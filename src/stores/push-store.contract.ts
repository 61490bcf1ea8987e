import { beforeEach, describe, expect, it } from "vitest";
import type { TaskScope, WebhookRegistration } from "../engine/index.ts";
import type { ClaimedWebhooks, PushStore, Webhook } from "../webhooks/index.ts";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestStatusEvent,
  listDueTestWebhooks,
} from "./task-event-logs.fixture.ts";
import type { TestStore } from "./test-store.fixture.ts";

export function createTestWebhookRegistration(
  id: string,
  more: Partial<WebhookRegistration["config"]> = {},
): WebhookRegistration {
  return { config: { id, taskId: "t", url: `https://example.com/${id}`, ...more }, version: "1.0" };
}

const getPushConfigIdsForTest = (webhooks: readonly Webhook[] | undefined): string[] | undefined =>
  webhooks?.map(({ config }) => config.id);

/**
 * Defines the contract tests for webhooks. `getStore` returns the open, empty store of the running test.
 * `append` commits an append to that store.
 */
export function definePushStoreContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
  describe("a webhook", () => {
    let store: TestStore;
    let push: PushStore;

    beforeEach(async () => {
      store = getStore();
      expect(store.pushStore).toBeDefined();
      push = store.pushStore;
      await append("t", 0, [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "a")]);
    });

    async function put(id: string, scope: TaskScope = aliceTestTaskScope): Promise<Webhook> {
      const webhook = await push.put(scope, "t", createTestWebhookRegistration(id));
      expect(webhook).toBeDefined();
      return webhook as Webhook;
    }

    it("is stored unchanged and starts after the existing events [I-01, I-02]", async () => {
      const registration = createTestWebhookRegistration("w", {
        token: "t0k€n",
        authentication: { scheme: "Bearer", credentials: "secret" },
      });
      const webhook = await push.put(aliceTestTaskScope, "t", { ...registration, version: "0.3" });
      expect(webhook).toEqual({
        ...registration,
        version: "0.3",
        key: webhook?.key,
        scope: aliceTestTaskScope,
        taskId: "t",
        deliveredSeq: 2,
      });
      expect(await push.get(aliceTestTaskScope, "t", "w")).toEqual(webhook);
      expect(await push.list(aliceTestTaskScope, "t")).toEqual([webhook]);
      expect(await listDueTestWebhooks(push)).toEqual([]);
    });

    it("is listed with others in the order of registration [I-01]", async () => {
      for (const id of ["c", "a", "b"]) await put(id);
      await put("a");
      expect(getPushConfigIdsForTest(await push.list(aliceTestTaskScope, "t"))).toEqual(["c", "a", "b"]);
    });

    it("requires a task of the same scope [I-03, E13]", async () => {
      await put("w");
      for (const [scope, taskId] of [
        [aliceTestTaskScope, "u"],
        [bobTestTaskScope, "t"],
        [{ ...aliceTestTaskScope, agent: "other" }, "t"],
      ] as const) {
        expect(await push.put(scope, taskId, createTestWebhookRegistration("w"))).toBeUndefined();
        expect(await push.get(scope, taskId, "w")).toBeUndefined();
        expect(await push.list(scope, taskId)).toBeUndefined();
        expect(await push.remove(scope, taskId, "w")).toBe(false);
      }
      expect(getPushConfigIdsForTest(await push.list(aliceTestTaskScope, "t"))).toEqual(["w"]);
    });

    it("with the same id in another scope is another webhook [E13]", async () => {
      await append("t", 0, [createTestSubmittedTaskEvent("t")], { scope: bobTestTaskScope });
      const webhook = await put("w");
      const otherWebhook = await put("w", bobTestTaskScope);
      expect(otherWebhook.key).not.toBe(webhook.key);
      await push.remove(bobTestTaskScope, "t", "w");
      expect(await push.get(aliceTestTaskScope, "t", "w")).toEqual(webhook);
      expect(await push.list(bobTestTaskScope, "t")).toEqual([]);
    });

    it("is removed permanently, and removing it again succeeds [I-03]", async () => {
      const first = await put("w");
      expect(await push.remove(aliceTestTaskScope, "t", "w")).toBe(true);
      expect(await push.remove(aliceTestTaskScope, "t", "w")).toBe(true);
      expect(await push.get(aliceTestTaskScope, "t", "w")).toBeUndefined();
      await append("t", 2, [createTestChunkEvent("t", "b")]);
      expect(await listDueTestWebhooks(push)).toEqual([]);
      const second = await put("w");
      expect(second).toMatchObject({ deliveredSeq: 3 });
      expect(second.key).toBeGreaterThan(first.key);
      await push.saveProgress([{ key: first.key, deliveredSeq: 1, isFinished: true }]);
      expect(await push.get(aliceTestTaskScope, "t", "w")).toEqual(second);
    });

    it("is registered, replaced, and removed by concurrent requests in their order [I-01, I-03]", async () => {
      const results = await Promise.all([
        ...Array.from({ length: 100 }, (_, n) => put(`w${n}`)),
        push.put(bobTestTaskScope, "t", createTestWebhookRegistration("w")),
        push.put(aliceTestTaskScope, "t", createTestWebhookRegistration("w1", { token: "new" })),
        push.remove(aliceTestTaskScope, "t", "w2"),
        push.remove(bobTestTaskScope, "t", "w3"),
      ]);
      const [replaced] = results.slice(101) as [Webhook];
      expect(results.slice(100)).toEqual([undefined, replaced, true, false]);
      expect(replaced).toMatchObject({ key: (results[1] as Webhook).key, config: { token: "new" } });
      const ids = Array.from({ length: 100 }, (_, n) => `w${n}`).filter((id) => id !== "w2");
      expect(getPushConfigIdsForTest(await push.list(aliceTestTaskScope, "t"))).toEqual(ids);
    });

    it("is due while the log has undelivered events [E12]", async () => {
      const { key } = await put("w");
      await append("t", 2, [createTestChunkEvent("t", "b"), createTestChunkEvent("t", "c")]);
      expect(await listDueTestWebhooks(push)).toEqual([await push.get(aliceTestTaskScope, "t", "w")]);
      await push.saveProgress([{ key, deliveredSeq: 3, isFinished: false }]);
      expect(await listDueTestWebhooks(push)).toMatchObject([{ key, deliveredSeq: 3 }]);
      await push.saveProgress([{ key, deliveredSeq: 4, isFinished: false }]);
      expect(await listDueTestWebhooks(push)).toEqual([]);
      await append("t", 4, [createTestStatusEvent("t", "TASK_STATE_COMPLETED")]);
      expect(await listDueTestWebhooks(push)).toMatchObject([{ key, deliveredSeq: 4 }]);
      await push.saveProgress([{ key, deliveredSeq: 5, isFinished: true }]);
      expect(await listDueTestWebhooks(push)).toEqual([]);
      expect(await push.get(aliceTestTaskScope, "t", "w")).toMatchObject({ deliveredSeq: 5 });
    });

    it("never moves back in the log", async () => {
      const { key } = await put("w");
      await push.saveProgress([{ key, deliveredSeq: 1, isFinished: false }]);
      expect(await push.get(aliceTestTaskScope, "t", "w")).toMatchObject({ deliveredSeq: 2 });
    });

    it("is claimed again after its retry is due, or at once after a new registration [E12]", async () => {
      const { key } = await put("w");
      await append("t", 2, [createTestChunkEvent("t", "b")]);
      const failure = {
        key,
        deliveredSeq: 2,
        isFinished: false,
        failingSince: 5,
        failedAttempts: 3,
        isReleased: true,
      };
      const claim = (now: number): Promise<ClaimedWebhooks> => push.claim(aliceTestTaskScope, "t", now);
      const claimDue = async (search: "due" | "all", now: number): Promise<Webhook[]> =>
        await push.claimDue({ search, after: 0, limit: 10, now });
      expect(await claim(0)).toMatchObject({ webhooks: [{ key, deliveredSeq: 2 }], mayNeedMore: true });
      await push.saveProgress([{ ...failure, dueAt: 2000 }]);
      expect(await claim(1999)).toEqual({ webhooks: [], mayNeedMore: false });
      expect(await claimDue("due", 1999)).toEqual([]);
      expect(await claimDue("all", 1999)).toEqual([]);
      expect(await push.findRetries(1999)).toEqual({ count: 1, nextAt: 2000 });
      expect(await push.findRetries(2000)).toEqual({ count: 0 });
      expect(await claimDue("due", 2000)).toMatchObject([{ key, failedAttempts: 3, failingSince: 5 }]);
      expect(await claim(2000)).toMatchObject({ webhooks: [{ key }], mayNeedMore: true });
      await push.saveProgress([{ ...failure, dueAt: 3000 }]);
      await put("w");
      expect(await push.findRetries(0)).toEqual({ count: 0 });
      const { webhooks } = await claim(0);
      expect(webhooks).toMatchObject([{ key, deliveredSeq: 2 }]);
      expect(webhooks[0]).not.toHaveProperty("failedAttempts");
    });

    it("is claimed with the other webhooks of its task that have undelivered events [E12]", async () => {
      const claim = (taskId: string): Promise<ClaimedWebhooks> => push.claim(aliceTestTaskScope, taskId, 0);
      expect(await claim("missing")).toEqual({ webhooks: [], mayNeedMore: false });
      expect(await claim("t")).toEqual({ webhooks: [], mayNeedMore: false });
      const { key } = await put("a");
      await put("b");
      expect(await claim("t")).toEqual({ webhooks: [], mayNeedMore: true });
      await append("t", 2, [createTestChunkEvent("t", "b")]);
      await push.saveProgress([{ key, deliveredSeq: 3, isFinished: false, isReleased: true }]);
      expect(getPushConfigIdsForTest([...(await claim("t")).webhooks])).toEqual(["b"]);
    });

    it("is due in pages by its key", async () => {
      for (const id of ["a", "b", "c", "d", "e"]) await put(id);
      await append("t", 2, [createTestChunkEvent("t", "b")]);
      await push.remove(aliceTestTaskScope, "t", "b");
      const pages: (string[] | undefined)[] = [];
      for (let after = 0; ;) {
        const page = await listDueTestWebhooks(push, after, 2);
        if (page.length === 0) break;
        pages.push(getPushConfigIdsForTest(page));
        after = page.at(-1)?.key ?? 0;
      }
      expect(pages).toEqual([
        ["a", "c"],
        ["d", "e"],
      ]);
    });

    it("records the time of the first failure until a delivery succeeds [E12]", async () => {
      const { key } = await put("w");
      await push.saveProgress([{ key, deliveredSeq: 2, isFinished: false, failingSince: 1_790_000_000_000 }]);
      expect(await push.get(aliceTestTaskScope, "t", "w")).toMatchObject({ failingSince: 1_790_000_000_000 });
      await push.saveProgress([{ key, deliveredSeq: 3, isFinished: false }]);
      expect(await push.get(aliceTestTaskScope, "t", "w")).not.toHaveProperty("failingSince");
    });

    it("that is dead has a reason and is not due until it is registered again [E12]", async () => {
      const { key } = await put("a");
      const other = await put("b");
      await append("t", 2, [createTestStatusEvent("t", "TASK_STATE_COMPLETED")]);
      const dead = { at: 1_790_000_000_000, reason: "answered 410" };
      // Only a process that has claimed a webhook can record its failure.
      await listDueTestWebhooks(push);
      await push.saveProgress([
        { key, deliveredSeq: 2, isFinished: false, failingSince: 5, deadLetter: dead },
        { key: other.key, deliveredSeq: 2, isFinished: false, deadLetter: { ...dead, reason: "other" } },
      ]);
      expect(await listDueTestWebhooks(push)).toEqual([]);
      expect(await push.get(aliceTestTaskScope, "t", "a")).toMatchObject({
        deadLetter: dead,
        failingSince: 5,
      });
      expect(getPushConfigIdsForTest(await push.listDeadWebhooks(10))).toEqual(["b", "a"]);
      expect(getPushConfigIdsForTest(await push.listDeadWebhooks(1))).toEqual(["b"]);
      const again = await put("a");
      expect(again).toEqual({
        ...createTestWebhookRegistration("a"),
        key,
        scope: aliceTestTaskScope,
        taskId: "t",
        deliveredSeq: 2,
      });
      expect(getPushConfigIdsForTest(await push.listDeadWebhooks(10))).toEqual(["b"]);
      expect(await listDueTestWebhooks(push)).toEqual([again]);
    });

    it("can be registered with a new task and receives all of its events [F-13]", async () => {
      const webhooks = [createTestWebhookRegistration("w"), createTestWebhookRegistration("x")];
      await append("u", 0, [createTestSubmittedTaskEvent("u"), createTestChunkEvent("u", "a")], { webhooks });
      expect(await push.list(aliceTestTaskScope, "u")).toMatchObject([
        { ...createTestWebhookRegistration("w"), taskId: "u", deliveredSeq: 0 },
        { ...createTestWebhookRegistration("x"), taskId: "u", deliveredSeq: 0 },
      ]);
      expect(getPushConfigIdsForTest(await listDueTestWebhooks(push))).toEqual(["w", "x"]);
    });

    it("can be registered with a later message and receives its events [F-13]", async () => {
      await put("w");
      await append("t", 2, [createTestChunkEvent("t", "b")]);
      const webhooks = [
        createTestWebhookRegistration("w", { token: "new" }),
        createTestWebhookRegistration("x"),
      ];
      await append("t", 3, [createTestChunkEvent("t", "c")], { webhooks });
      expect(await push.list(aliceTestTaskScope, "t")).toMatchObject([
        { config: { id: "w", token: "new" }, deliveredSeq: 2 },
        { config: { id: "x" }, deliveredSeq: 3 },
      ]);
    });

    it("is not registered by a rejected append [F-13]", async () => {
      const webhooks = [createTestWebhookRegistration("w")];
      expect(
        await store.commit([createTestLogAppend("t", 1, [createTestChunkEvent("t", "late")], { webhooks })]),
      ).toEqual(["conflict"]);
      expect(await push.list(aliceTestTaskScope, "t")).toEqual([]);
    });

    it("counts among the undelivered webhooks of its scope until its delivery has ended", async () => {
      await append("u", 0, [createTestSubmittedTaskEvent("u")]);
      const first = await put("a");
      await put("a");
      await put("b");
      await push.put(aliceTestTaskScope, "u", createTestWebhookRegistration("c"));
      expect(await push.countUndelivered?.(aliceTestTaskScope, 100)).toBe(3);
      expect(await push.countUndelivered?.(aliceTestTaskScope, 2)).toBe(2);
      expect(await push.countUndelivered?.(bobTestTaskScope, 100)).toBe(0);
      await push.saveProgress([{ key: first.key, deliveredSeq: 2, isFinished: true }]);
      await push.remove(aliceTestTaskScope, "t", "b");
      expect(await push.countUndelivered?.(aliceTestTaskScope, 100)).toBe(1);
    });

    it("of a finished task is stored and not due [I-02]", async () => {
      await append("t", 2, [createTestStatusEvent("t", "TASK_STATE_COMPLETED")]);
      const webhook = await put("w");
      expect(await push.get(aliceTestTaskScope, "t", "w")).toEqual(webhook);
      expect(await listDueTestWebhooks(push)).toEqual([]);
    });
  });
}
