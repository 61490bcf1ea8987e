import { beforeEach, describe, expect, it } from "vitest";
import type { PushStore, Scope, TaskStore, Webhook, WebhookRegistration } from "../engine/index.ts";
import { alice, append, birth, bob, chunk, status } from "./logs.contract.ts";

export function registration(
  id: string,
  more: Partial<WebhookRegistration["config"]> = {},
): WebhookRegistration {
  return { config: { id, taskId: "t", url: `https://example.com/${id}`, ...more }, version: "1.0" };
}

const ids = (webhooks: readonly Webhook[] | undefined): string[] | undefined =>
  webhooks?.map(({ config }) => config.id);

/** What a store promises about webhooks. `storeOf` gives the store of the running test: open and empty. */
export function pushContract(storeOf: () => TaskStore): void {
  describe("a webhook", () => {
    let store: TaskStore;
    let push: PushStore;

    beforeEach(async () => {
      store = storeOf();
      expect(store.push).toBeDefined();
      push = store.push as PushStore;
      expect(await store.commit([append("t", 0, [birth("t"), chunk("t", "a")])])).toEqual([undefined]);
    });

    async function put(id: string, scope: Scope = alice): Promise<Webhook> {
      const webhook = await push.put(scope, "t", registration(id));
      expect(webhook).toBeDefined();
      return webhook as Webhook;
    }

    it("is kept as it was registered, and begins behind what there is [I-01, I-02]", async () => {
      const given = registration("w", {
        token: "t0k€n",
        authentication: { scheme: "Bearer", credentials: "secret" },
      });
      const webhook = await push.put(alice, "t", { ...given, version: "0.3" });
      expect(webhook).toEqual({
        ...given,
        version: "0.3",
        key: webhook?.key,
        scope: alice,
        taskId: "t",
        delivered: 2,
      });
      expect(await push.get(alice, "t", "w")).toEqual(webhook);
      expect(await push.list(alice, "t")).toEqual([webhook]);
      expect(await push.due(0, 10)).toEqual([]);
    });

    it("is one of several, in the order of their registration [I-01]", async () => {
      for (const id of ["c", "a", "b"]) await put(id);
      await put("a");
      expect(ids(await push.list(alice, "t"))).toEqual(["c", "a", "b"]);
    });

    it("needs a task, of the same scope [I-03, E13]", async () => {
      await put("w");
      for (const [scope, taskId] of [
        [alice, "u"],
        [bob, "t"],
        [{ ...alice, agent: "other" }, "t"],
      ] as const) {
        expect(await push.put(scope, taskId, registration("w"))).toBeUndefined();
        expect(await push.get(scope, taskId, "w")).toBeUndefined();
        expect(await push.list(scope, taskId)).toBeUndefined();
        expect(await push.remove(scope, taskId, "w")).toBe(false);
      }
      expect(ids(await push.list(alice, "t"))).toEqual(["w"]);
    });

    it("of the same name in another scope is another webhook [E13]", async () => {
      await store.commit([append("t", 0, [birth("t")], { scope: bob })]);
      const mine = await put("w");
      const his = await put("w", bob);
      expect(his.key).not.toBe(mine.key);
      await push.remove(bob, "t", "w");
      expect(await push.get(alice, "t", "w")).toEqual(mine);
      expect(await push.list(bob, "t")).toEqual([]);
    });

    it("is removed for good, and again without complaint [I-03]", async () => {
      const first = await put("w");
      expect(await push.remove(alice, "t", "w")).toBe(true);
      expect(await push.remove(alice, "t", "w")).toBe(true);
      expect(await push.get(alice, "t", "w")).toBeUndefined();
      await store.commit([append("t", 2, [chunk("t", "b")])]);
      expect(await push.due(0, 10)).toEqual([]);
      const second = await put("w");
      expect(second).toMatchObject({ delivered: 3 });
      expect(second.key).toBeGreaterThan(first.key);
      await push.advance([{ key: first.key, delivered: 1, finished: true }]);
      expect(await push.get(alice, "t", "w")).toEqual(second);
    });

    it("is due once the log is longer than what was delivered, until it is not [E12]", async () => {
      const { key } = await put("w");
      await store.commit([append("t", 2, [chunk("t", "b"), chunk("t", "c")])]);
      expect(await push.due(0, 10)).toEqual([await push.get(alice, "t", "w")]);
      await push.advance([{ key, delivered: 3, finished: false }]);
      expect(await push.due(0, 10)).toMatchObject([{ key, delivered: 3 }]);
      await push.advance([{ key, delivered: 4, finished: false }]);
      expect(await push.due(0, 10)).toEqual([]);
      await store.commit([append("t", 4, [status("t", "TASK_STATE_COMPLETED")])]);
      expect(await push.due(0, 10)).toMatchObject([{ key, delivered: 4 }]);
      await push.advance([{ key, delivered: 5, finished: true }]);
      expect(await push.due(0, 10)).toEqual([]);
      expect(await push.get(alice, "t", "w")).toMatchObject({ delivered: 5 });
    });

    it("never goes back in the log", async () => {
      const { key } = await put("w");
      await push.advance([{ key, delivered: 1, finished: false }]);
      expect(await push.get(alice, "t", "w")).toMatchObject({ delivered: 2 });
    });

    it("is due in pages by its key", async () => {
      for (const id of ["a", "b", "c", "d", "e"]) await put(id);
      await store.commit([append("t", 2, [chunk("t", "b")])]);
      await push.remove(alice, "t", "b");
      const pages: (string[] | undefined)[] = [];
      for (let after = 0; ;) {
        const page = await push.due(after, 2);
        if (page.length === 0) break;
        pages.push(ids(page));
        after = page.at(-1)?.key ?? 0;
      }
      expect(pages).toEqual([
        ["a", "c"],
        ["d", "e"],
      ]);
    });

    it("remembers since when it fails, until it does not [E12]", async () => {
      const { key } = await put("w");
      await push.advance([{ key, delivered: 2, finished: false, failingSince: 1_790_000_000_000 }]);
      expect(await push.get(alice, "t", "w")).toMatchObject({ failingSince: 1_790_000_000_000 });
      await push.advance([{ key, delivered: 3, finished: false }]);
      expect(await push.get(alice, "t", "w")).not.toHaveProperty("failingSince");
    });

    it("that is dead is due no more and tells why, until it is registered again [E12]", async () => {
      const { key } = await put("a");
      const other = await put("b");
      await store.commit([append("t", 2, [status("t", "TASK_STATE_COMPLETED")])]);
      const dead = { at: 1_790_000_000_000, reason: "answered 410" };
      await push.advance([
        { key, delivered: 2, finished: false, failingSince: 5, dead },
        { key: other.key, delivered: 2, finished: false, dead: { ...dead, reason: "other" } },
      ]);
      expect(await push.due(0, 10)).toEqual([]);
      expect(await push.get(alice, "t", "a")).toMatchObject({ dead, failingSince: 5 });
      expect(ids(await push.dead(10))).toEqual(["b", "a"]);
      expect(ids(await push.dead(1))).toEqual(["b"]);
      const again = await put("a");
      expect(again).toEqual({ ...registration("a"), key, scope: alice, taskId: "t", delivered: 2 });
      expect(ids(await push.dead(10))).toEqual(["b"]);
      expect(await push.due(0, 10)).toEqual([again]);
    });

    it("may come with a task's birth, and is owed all of it [F-13]", async () => {
      const webhooks = [registration("w"), registration("x")];
      expect(await store.commit([append("u", 0, [birth("u"), chunk("u", "a")], { webhooks })])).toEqual([
        undefined,
      ]);
      expect(await push.list(alice, "u")).toMatchObject([
        { ...registration("w"), taskId: "u", delivered: 0 },
        { ...registration("x"), taskId: "u", delivered: 0 },
      ]);
      expect(ids(await push.due(0, 10))).toEqual(["w", "x"]);
    });

    it("may come with a later message, and is owed what came with it [F-13]", async () => {
      await put("w");
      await store.commit([append("t", 2, [chunk("t", "b")])]);
      const webhooks = [registration("w", { token: "new" }), registration("x")];
      await store.commit([append("t", 3, [chunk("t", "c")], { webhooks })]);
      expect(await push.list(alice, "t")).toMatchObject([
        { config: { id: "w", token: "new" }, delivered: 2 },
        { config: { id: "x" }, delivered: 3 },
      ]);
    });

    it("is not registered by an append that is refused [F-13]", async () => {
      const webhooks = [registration("w")];
      expect(await store.commit([append("t", 1, [chunk("t", "late")], { webhooks })])).toEqual(["conflict"]);
      expect(await push.list(alice, "t")).toEqual([]);
    });

    it("of a task that has ended is kept, and owed nothing [I-02]", async () => {
      await store.commit([append("t", 2, [status("t", "TASK_STATE_COMPLETED")])]);
      const webhook = await put("w");
      expect(await push.get(alice, "t", "w")).toEqual(webhook);
      expect(await push.due(0, 10)).toEqual([]);
    });
  });
}
