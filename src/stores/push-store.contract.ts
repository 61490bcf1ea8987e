import { beforeEach, describe, expect, it } from "vitest";
import type { PushStore, TaskScope, TaskStore, Webhook, WebhookRegistration } from "../engine/index.ts";
import {
  aliceScope,
  createAppend,
  createSubmittedTaskEvent,
  bobScope,
  createChunkEvent,
  createStatusEvent,
} from "./task-event-logs.fixture.ts";

export function createWebhookRegistration(
  id: string,
  more: Partial<WebhookRegistration["config"]> = {},
): WebhookRegistration {
  return { config: { id, taskId: "t", url: `https://example.com/${id}`, ...more }, version: "1.0" };
}

const getPushConfigIds = (webhooks: readonly Webhook[] | undefined): string[] | undefined =>
  webhooks?.map(({ config }) => config.id);

/**
 * Defines the contract tests for webhooks. `getStore` returns the open, empty store of the running test.
 * `append` commits an append to that store.
 */
export function definePushStoreContract(
  getStore: () => TaskStore,
  append: (...args: Parameters<typeof createAppend>) => Promise<void>,
): void {
  describe("a webhook", () => {
    let store: TaskStore;
    let push: PushStore;

    beforeEach(async () => {
      store = getStore();
      expect(store.pushStore).toBeDefined();
      push = store.pushStore as PushStore;
      await append("t", 0, [createSubmittedTaskEvent("t"), createChunkEvent("t", "a")]);
    });

    async function put(id: string, scope: TaskScope = aliceScope): Promise<Webhook> {
      const webhook = await push.put(scope, "t", createWebhookRegistration(id));
      expect(webhook).toBeDefined();
      return webhook as Webhook;
    }

    it("is stored unchanged and starts after the existing events [I-01, I-02]", async () => {
      const registration = createWebhookRegistration("w", {
        token: "t0k€n",
        authentication: { scheme: "Bearer", credentials: "secret" },
      });
      const webhook = await push.put(aliceScope, "t", { ...registration, version: "0.3" });
      expect(webhook).toEqual({
        ...registration,
        version: "0.3",
        key: webhook?.key,
        scope: aliceScope,
        taskId: "t",
        deliveredSeq: 2,
      });
      expect(await push.get(aliceScope, "t", "w")).toEqual(webhook);
      expect(await push.list(aliceScope, "t")).toEqual([webhook]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([]);
    });

    it("is listed with others in the order of registration [I-01]", async () => {
      for (const id of ["c", "a", "b"]) await put(id);
      await put("a");
      expect(getPushConfigIds(await push.list(aliceScope, "t"))).toEqual(["c", "a", "b"]);
    });

    it("requires a task of the same scope [I-03, E13]", async () => {
      await put("w");
      for (const [scope, taskId] of [
        [aliceScope, "u"],
        [bobScope, "t"],
        [{ ...aliceScope, agent: "other" }, "t"],
      ] as const) {
        expect(await push.put(scope, taskId, createWebhookRegistration("w"))).toBeUndefined();
        expect(await push.get(scope, taskId, "w")).toBeUndefined();
        expect(await push.list(scope, taskId)).toBeUndefined();
        expect(await push.remove(scope, taskId, "w")).toBe(false);
      }
      expect(getPushConfigIds(await push.list(aliceScope, "t"))).toEqual(["w"]);
    });

    it("with the same id in another scope is another webhook [E13]", async () => {
      await append("t", 0, [createSubmittedTaskEvent("t")], { scope: bobScope });
      const webhook = await put("w");
      const otherWebhook = await put("w", bobScope);
      expect(otherWebhook.key).not.toBe(webhook.key);
      await push.remove(bobScope, "t", "w");
      expect(await push.get(aliceScope, "t", "w")).toEqual(webhook);
      expect(await push.list(bobScope, "t")).toEqual([]);
    });

    it("is removed permanently, and removing it again succeeds [I-03]", async () => {
      const first = await put("w");
      expect(await push.remove(aliceScope, "t", "w")).toBe(true);
      expect(await push.remove(aliceScope, "t", "w")).toBe(true);
      expect(await push.get(aliceScope, "t", "w")).toBeUndefined();
      await append("t", 2, [createChunkEvent("t", "b")]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([]);
      const second = await put("w");
      expect(second).toMatchObject({ deliveredSeq: 3 });
      expect(second.key).toBeGreaterThan(first.key);
      await push.saveProgress([{ key: first.key, deliveredSeq: 1, isFinished: true }]);
      expect(await push.get(aliceScope, "t", "w")).toEqual(second);
    });

    it("is due while the log has undelivered events [E12]", async () => {
      const { key } = await put("w");
      await append("t", 2, [createChunkEvent("t", "b"), createChunkEvent("t", "c")]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([await push.get(aliceScope, "t", "w")]);
      await push.saveProgress([{ key, deliveredSeq: 3, isFinished: false }]);
      expect(await push.listDueWebhooks(0, 10)).toMatchObject([{ key, deliveredSeq: 3 }]);
      await push.saveProgress([{ key, deliveredSeq: 4, isFinished: false }]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([]);
      await append("t", 4, [createStatusEvent("t", "TASK_STATE_COMPLETED")]);
      expect(await push.listDueWebhooks(0, 10)).toMatchObject([{ key, deliveredSeq: 4 }]);
      await push.saveProgress([{ key, deliveredSeq: 5, isFinished: true }]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([]);
      expect(await push.get(aliceScope, "t", "w")).toMatchObject({ deliveredSeq: 5 });
    });

    it("never moves back in the log", async () => {
      const { key } = await put("w");
      await push.saveProgress([{ key, deliveredSeq: 1, isFinished: false }]);
      expect(await push.get(aliceScope, "t", "w")).toMatchObject({ deliveredSeq: 2 });
    });

    it("is due in pages by its key", async () => {
      for (const id of ["a", "b", "c", "d", "e"]) await put(id);
      await append("t", 2, [createChunkEvent("t", "b")]);
      await push.remove(aliceScope, "t", "b");
      const pages: (string[] | undefined)[] = [];
      for (let after = 0; ;) {
        const page = await push.listDueWebhooks(after, 2);
        if (page.length === 0) break;
        pages.push(getPushConfigIds(page));
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
      expect(await push.get(aliceScope, "t", "w")).toMatchObject({ failingSince: 1_790_000_000_000 });
      await push.saveProgress([{ key, deliveredSeq: 3, isFinished: false }]);
      expect(await push.get(aliceScope, "t", "w")).not.toHaveProperty("failingSince");
    });

    it("that is dead has a reason and is not due until it is registered again [E12]", async () => {
      const { key } = await put("a");
      const other = await put("b");
      await append("t", 2, [createStatusEvent("t", "TASK_STATE_COMPLETED")]);
      const dead = { at: 1_790_000_000_000, reason: "answered 410" };
      await push.saveProgress([
        { key, deliveredSeq: 2, isFinished: false, failingSince: 5, deadLetter: dead },
        { key: other.key, deliveredSeq: 2, isFinished: false, deadLetter: { ...dead, reason: "other" } },
      ]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([]);
      expect(await push.get(aliceScope, "t", "a")).toMatchObject({ deadLetter: dead, failingSince: 5 });
      expect(getPushConfigIds(await push.listDeadWebhooks(10))).toEqual(["b", "a"]);
      expect(getPushConfigIds(await push.listDeadWebhooks(1))).toEqual(["b"]);
      const again = await put("a");
      expect(again).toEqual({
        ...createWebhookRegistration("a"),
        key,
        scope: aliceScope,
        taskId: "t",
        deliveredSeq: 2,
      });
      expect(getPushConfigIds(await push.listDeadWebhooks(10))).toEqual(["b"]);
      expect(await push.listDueWebhooks(0, 10)).toEqual([again]);
    });

    it("can be registered with a new task and receives all of its events [F-13]", async () => {
      const webhooks = [createWebhookRegistration("w"), createWebhookRegistration("x")];
      await append("u", 0, [createSubmittedTaskEvent("u"), createChunkEvent("u", "a")], { webhooks });
      expect(await push.list(aliceScope, "u")).toMatchObject([
        { ...createWebhookRegistration("w"), taskId: "u", deliveredSeq: 0 },
        { ...createWebhookRegistration("x"), taskId: "u", deliveredSeq: 0 },
      ]);
      expect(getPushConfigIds(await push.listDueWebhooks(0, 10))).toEqual(["w", "x"]);
    });

    it("can be registered with a later message and receives its events [F-13]", async () => {
      await put("w");
      await append("t", 2, [createChunkEvent("t", "b")]);
      const webhooks = [createWebhookRegistration("w", { token: "new" }), createWebhookRegistration("x")];
      await append("t", 3, [createChunkEvent("t", "c")], { webhooks });
      expect(await push.list(aliceScope, "t")).toMatchObject([
        { config: { id: "w", token: "new" }, deliveredSeq: 2 },
        { config: { id: "x" }, deliveredSeq: 3 },
      ]);
    });

    it("is not registered by a rejected append [F-13]", async () => {
      const webhooks = [createWebhookRegistration("w")];
      expect(
        await store.commit([createAppend("t", 1, [createChunkEvent("t", "late")], { webhooks })]),
      ).toEqual(["conflict"]);
      expect(await push.list(aliceScope, "t")).toEqual([]);
    });

    it("of a finished task is stored and not due [I-02]", async () => {
      await append("t", 2, [createStatusEvent("t", "TASK_STATE_COMPLETED")]);
      const webhook = await put("w");
      expect(await push.get(aliceScope, "t", "w")).toEqual(webhook);
      expect(await push.listDueWebhooks(0, 10)).toEqual([]);
    });
  });
}
