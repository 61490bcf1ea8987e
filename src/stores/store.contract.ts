import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Append, ListQuery, Scope, TaskStore } from "../engine/index.ts";
import { snapshot, TASK_STATES, text, type TaskEvent } from "../protocol/index.ts";
import {
  alice,
  append,
  at,
  birth,
  bob,
  chunk,
  cut,
  cutLogs,
  folded,
  question,
  status,
} from "./logs.contract.ts";
import { pushContract } from "./push.contract.ts";

const EVERYTHING = { events: 1000, maxBytes: 1_000_000 };

/** Commits one append that must be done. */
export async function commitOne(store: TaskStore, one: Append): Promise<void> {
  expect(await store.commit([one])).toEqual([undefined]);
}

/** The ids of alice's tasks that match. */
async function idsOf(store: TaskStore, query: Partial<ListQuery> = {}): Promise<string[]> {
  return (await store.list(alice, { limit: 100, ...query })).tasks.map(({ id }) => id);
}

/** The ids on every page of alice's list, each page asked for behind the last task of the one before. */
async function pagesOf(
  store: TaskStore,
  query: Partial<ListQuery>,
  between: (page: number) => Promise<void> = async () => {},
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: ListQuery["after"];
  for (;;) {
    const page = await store.list(alice, { limit: 3, ...query, ...(after && { after }) });
    pages.push(page.tasks.map(({ id }) => id));
    const last = page.tasks.at(-1);
    if (!page.more || !last) return pages;
    after = { timestamp: last.status.timestamp as string, taskId: last.id };
    await between(pages.length);
  }
}

/** What every store promises to the engine. `make` gives a new, empty store that is not open yet. */
export function storeContract(name: string, make: () => TaskStore): void {
  describe(`${name} as a task store`, () => {
    let store: TaskStore;

    beforeEach(async () => {
      store = make();
      await store.open();
    });

    afterEach(() => store.close());

    pushContract(() => store);

    describe("a log", () => {
      it("is read back as it was appended, numbered from 1 without a gap [E1]", async () => {
        const log = [birth("t"), status("t", "TASK_STATE_WORKING"), chunk("t", "a"), chunk("t", "b")];
        await commitOne(store, append("t", 0, log.slice(0, 2)));
        await commitOne(store, append("t", 2, log.slice(2)));
        const events = await store.read(alice, "t", 0, EVERYTHING);
        expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
        expect(events.map(({ event }) => event)).toEqual(log);
        expect(events.map(({ json }) => json)).toEqual(log.map((event) => JSON.stringify(event)));
        expect(await store.load(alice, "t")).toEqual({ task: folded(log), seq: 4 });
      });

      it("may grow by several appends of one batch, and by many tasks at once", async () => {
        const batch = [
          append("a", 0, [birth("a")]),
          append("b", 0, [birth("b"), status("b", "TASK_STATE_COMPLETED")]),
          append("a", 1, [status("a", "TASK_STATE_WORKING"), chunk("a", "x")]),
        ];
        expect(await store.commit(batch)).toEqual([undefined, undefined, undefined]);
        expect(await store.load(alice, "a")).toMatchObject({
          seq: 3,
          task: { artifacts: [{ parts: [{ text: "x" }] }] },
        });
        expect(await store.load(alice, "b")).toMatchObject({
          seq: 2,
          task: { status: { state: "TASK_STATE_COMPLETED" } },
        });
      });

      it("of an unknown task is no task and no events", async () => {
        expect(await store.load(alice, "t")).toBeUndefined();
        expect(await store.read(alice, "t", 0, EVERYTHING)).toEqual([]);
      });

      it("loads a task that the caller may change without changing the store's", async () => {
        const log = [birth("t"), chunk("t", "a")];
        await commitOne(store, append("t", 0, log));
        const loaded = await store.load(alice, "t");
        if (loaded) {
          loaded.task.artifacts?.[0]?.parts.push(text("mine"));
          loaded.task.status = { state: "TASK_STATE_FAILED" };
        }
        expect(await store.load(alice, "t")).toEqual({ task: folded(log), seq: 2 });
      });

      it("loads as the fold of its events, however they were cut into appends and batches [E1]", async () => {
        let count = 0;
        const batchSizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 41, maxLength: 41 });
        await fc.assert(
          fc.asyncProperty(cutLogs("t"), batchSizes, async (pieces, sizes) => {
            const id = `task-${++count}`;
            const log: TaskEvent[] = [];
            for (const batch of cut(pieces, sizes)) {
              const appends = batch.map((events) => {
                const one = append(id, log.length, events);
                log.push(...events);
                return one;
              });
              expect(await store.commit(appends)).toEqual(appends.map(() => undefined));
              expect(await store.load(alice, id)).toEqual({ task: folded(log), seq: log.length });
            }
            for (let after = 0; after <= log.length; after++) {
              const tail = await store.read(alice, id, after, EVERYTHING);
              expect(tail.map(({ event }) => event)).toEqual(log.slice(after));
            }
          }),
          { numRuns: 60 },
        );
      });

      it("is read in pieces, from any point, that join to the whole", async () => {
        const log = [birth("t"), ...Array.from({ length: 30 }, (_, n) => chunk("t", "x".repeat(n)))];
        await commitOne(store, append("t", 0, log));
        const limits = fc.record({
          events: fc.integer({ min: 1, max: 40 }),
          maxBytes: fc.integer({ min: 0, max: 3000 }),
        });
        await fc.assert(
          fc.asyncProperty(fc.nat({ max: log.length }), limits, async (start, limit) => {
            const read: TaskEvent[] = [];
            while (start + read.length < log.length) {
              const piece = await store.read(alice, "t", start + read.length, limit);
              expect(piece.length).toBeGreaterThan(0);
              read.push(...piece.map(({ event }) => event));
            }
            expect(read).toEqual(log.slice(start));
          }),
        );
      });

      it("is read up to the limit of events, and of bytes: the event that passes it is the last", async () => {
        const log = [birth("t"), chunk("t", "é".repeat(500)), chunk("t", "b"), chunk("t", "c")];
        await commitOne(store, append("t", 0, log));
        const [first = 0, second = 0] = log.map((event) => Buffer.byteLength(JSON.stringify(event)));
        async function lengthOf(limit: { events: number; maxBytes: number }): Promise<number> {
          return (await store.read(alice, "t", 0, limit)).length;
        }
        expect(await lengthOf({ events: 3, maxBytes: 1_000_000 })).toBe(3);
        expect(await lengthOf({ events: 10, maxBytes: 0 })).toBe(1);
        expect(await lengthOf({ events: 10, maxBytes: first })).toBe(2);
        expect(await lengthOf({ events: 10, maxBytes: first + second - 1 })).toBe(2);
        expect(await lengthOf({ events: 10, maxBytes: first + second })).toBe(3);
        expect(await store.read(alice, "t", 4, EVERYTHING)).toEqual([]);
        expect(await store.read(alice, "t", 9, EVERYTHING)).toEqual([]);
      });
    });

    describe("an append", () => {
      const first = [birth("t", { message: question("m1") }), status("t", "TASK_STATE_WORKING")];
      const done = { messages: [{ messageId: "m1", seq: 1 }] };

      beforeEach(() => commitOne(store, append("t", 0, first, done)));

      async function unchanged(): Promise<void> {
        expect(await store.load(alice, "t")).toEqual({ task: folded(first), seq: 2 });
        expect(await store.read(alice, "t", 0, EVERYTHING)).toHaveLength(2);
      }

      it("is refused when the log has moved on, or is not there yet, or is there already [E1]", async () => {
        const late = append("t", 1, [chunk("t", "late")], { messages: [{ messageId: "m2", seq: 2 }] });
        const early = append("t", 3, [chunk("t", "early")]);
        const unborn = append("u", 1, [chunk("u", "unborn")]);
        const again = append("t", 0, [birth("t")]);
        const refused = Array.from({ length: 4 }, () => "conflict");
        expect(await store.commit([late, early, unborn, again])).toEqual(refused);
        await unchanged();
        expect(await store.findMessage(alice, "m2")).toBeUndefined();
        expect(await store.load(alice, "u")).toBeUndefined();
      });

      it("is refused when one of its messages is known, and leaves nothing of the others [E10]", async () => {
        const twice = [
          { messageId: "m2", seq: 3 },
          { messageId: "m1", seq: 4 },
        ];
        const events = [{ message: question("m2") }, { message: question("m1") }];
        expect(await store.commit([append("t", 2, events, { messages: twice })])).toEqual([
          "duplicate-message",
        ]);
        expect(await store.commit([append("u", 0, [birth("u")], done)])).toEqual(["duplicate-message"]);
        await unchanged();
        expect(await store.load(alice, "u")).toBeUndefined();
        expect(await store.findMessage(alice, "m2")).toBeUndefined();
        expect(await store.findMessage(alice, "m1")).toEqual({ taskId: "t", seq: 1 });
      });

      it("is refused when a message comes twice in its batch: the first one wins [E10]", async () => {
        const one = { messages: [{ messageId: "m9", seq: 1 }] };
        expect(
          await store.commit([append("x", 0, [birth("x")], one), append("y", 0, [birth("y")], one)]),
        ).toEqual([undefined, "duplicate-message"]);
        expect(await store.findMessage(alice, "m9")).toEqual({ taskId: "x", seq: 1 });
        expect(await store.load(alice, "y")).toBeUndefined();
      });

      it("that is refused keeps nobody else's from being done", async () => {
        const batch = [
          append("a", 0, [birth("a")]),
          append("t", 7, [chunk("t", "late")]),
          append("u", 0, [birth("u")], done),
          append("t", 2, [chunk("t", "good")], { messages: [{ messageId: "m3", seq: 3 }] }),
        ];
        expect(await store.commit(batch)).toEqual([undefined, "conflict", "duplicate-message", undefined]);
        expect(await store.load(alice, "a")).toMatchObject({ seq: 1 });
        expect(await store.load(alice, "t")).toMatchObject({ seq: 3 });
        expect(await store.findMessage(alice, "m3")).toEqual({ taskId: "t", seq: 3 });
      });
    });

    describe("a scope", () => {
      const strangers: Scope[] = [
        { ...alice, tenant: "" },
        { ...alice, principal: "bob" },
        { ...alice, agent: "other" },
        // The same names cut elsewhere.
        { tenant: "acm", principal: "ealice", agent: "echo" },
        { tenant: "acme", principal: "alic", agent: "eecho" },
      ];

      it.for(strangers)(
        "$tenant/$principal/$agent sees nothing of another's tasks [E13]",
        async (stranger) => {
          const messages = [{ messageId: "m1", seq: 1 }];
          await commitOne(store, append("t", 0, [birth("t")], { messages }));
          expect(await store.load(stranger, "t")).toBeUndefined();
          expect(await store.read(stranger, "t", 0, EVERYTHING)).toEqual([]);
          expect(await store.list(stranger, { limit: 10 })).toEqual({ tasks: [], more: false, total: 0 });
          expect(await store.findMessage(stranger, "m1")).toBeUndefined();
          expect(await store.commit([append("t", 1, [chunk("t", "x")], { scope: stranger })])).toEqual([
            "conflict",
          ]);
          expect(await store.load(alice, "t")).toEqual({ task: folded([birth("t")]), seq: 1 });
        },
      );

      it("has ids of its own: the same ones in another scope are other tasks and messages [E13]", async () => {
        const messages = [{ messageId: "m1", seq: 1 }];
        await commitOne(store, append("t", 0, [birth("t")], { messages }));
        await commitOne(store, append("t", 0, [birth("t"), chunk("t", "bob's")], { messages, scope: bob }));
        expect(await store.load(alice, "t")).toMatchObject({ seq: 1 });
        expect(await store.load(bob, "t")).toMatchObject({ seq: 2 });
        await commitOne(store, append("t", 1, [status("t", "TASK_STATE_FAILED")]));
        expect(await store.load(bob, "t")).toMatchObject({
          seq: 2,
          task: { status: { state: "TASK_STATE_SUBMITTED" } },
        });
        expect((await store.list(bob, { limit: 10 })).total).toBe(1);
      });
    });

    describe("a list", () => {
      /** Ten tasks, two at each millisecond, in contexts `even` and `odd`; the ones of `even` are completed. */
      beforeEach(async () => {
        for (let n = 0; n < 10; n++) {
          const contextId = n % 2 ? "odd" : "even";
          const state = n % 2 ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED";
          const id = `t${n}`;
          const log = [birth(id, { contextId }), status(id, state, Math.floor(n / 2))];
          await commitOne(store, append(id, 0, log, { contextId }));
        }
        await commitOne(store, append("b", 0, [birth("b", { contextId: "even" })], { scope: bob }));
      });

      it("has the newest status first, and among equals the highest id", async () => {
        expect(await idsOf(store)).toEqual(["t9", "t8", "t7", "t6", "t5", "t4", "t3", "t2", "t1", "t0"]);
      });

      it("has whole tasks", async () => {
        const { tasks } = await store.list(alice, { limit: 1 });
        expect(tasks).toEqual([(await store.load(alice, "t9"))?.task]);
      });

      it("is filtered by context, by state and by time, alone and together", async () => {
        expect(await idsOf(store, { contextId: "even" })).toEqual(["t8", "t6", "t4", "t2", "t0"]);
        expect(await idsOf(store, { status: "TASK_STATE_WORKING" })).toEqual(["t9", "t7", "t5", "t3", "t1"]);
        expect(await idsOf(store, { since: at(3) })).toEqual(["t9", "t8", "t7", "t6"]);
        expect(await idsOf(store, { contextId: "odd", status: "TASK_STATE_COMPLETED" })).toEqual([]);
        expect(
          await idsOf(store, { contextId: "even", status: "TASK_STATE_COMPLETED", since: at(2) }),
        ).toEqual(["t8", "t6", "t4"]);
        expect(await idsOf(store, { contextId: "nowhere" })).toEqual([]);
      });

      it("is cut into pages that have every task once", async () => {
        expect(await pagesOf(store, {})).toEqual([
          ["t9", "t8", "t7"],
          ["t6", "t5", "t4"],
          ["t3", "t2", "t1"],
          ["t0"],
        ]);
        expect(await pagesOf(store, { limit: 5 })).toEqual([
          ["t9", "t8", "t7", "t6", "t5"],
          ["t4", "t3", "t2", "t1", "t0"],
        ]);
        expect(await pagesOf(store, { contextId: "odd", limit: 2 })).toEqual([
          ["t9", "t7"],
          ["t5", "t3"],
          ["t1"],
        ]);
      });

      it("counts all that match, on whichever page", async () => {
        const after = { timestamp: at(1), taskId: "t2" };
        expect(await store.list(alice, { limit: 1, after })).toMatchObject({ total: 10, more: true });
        expect(await store.list(alice, { limit: 2, after })).toMatchObject({ total: 10, more: false });
        expect(await store.list(alice, { limit: 1, contextId: "even" })).toMatchObject({ total: 5 });
        expect(
          await store.list(alice, { limit: 1, status: "TASK_STATE_WORKING", since: at(1) }),
        ).toMatchObject({ total: 4 });
      });

      it("misses no task that stays as it is while others move to the front", async () => {
        const pages = await pagesOf(store, {}, async (page) => {
          if (page === 1) await commitOne(store, append("t5", 2, [status("t5", "TASK_STATE_WORKING", 10)]));
          if (page === 2) await commitOne(store, append("t10", 0, [birth("t10", { time: 11 })]));
        });
        expect(pages).toEqual([
          ["t9", "t8", "t7"],
          ["t6", "t4", "t3"],
          ["t2", "t1", "t0"],
        ]);
        expect((await idsOf(store)).slice(0, 3)).toEqual(["t10", "t5", "t9"]);
      });
    });

    it("knows the unfinished tasks of all scopes, and not those that wait for their user [E9]", async () => {
      for (const state of TASK_STATES) {
        const log = [birth(state), status(state, "TASK_STATE_WORKING", 1), status(state, state, 2)];
        const born = append(state, 0, state === "TASK_STATE_SUBMITTED" ? log.slice(0, 1) : log);
        await store.commit([born, { ...born, scope: bob }]);
      }
      const found = await store.unfinished();
      const expected = [alice, bob].flatMap((scope) => [
        {
          scope,
          taskId: "TASK_STATE_SUBMITTED",
          contextId: "talk",
          seq: 1,
          state: "TASK_STATE_SUBMITTED",
          timestamp: at(0),
        },
        {
          scope,
          taskId: "TASK_STATE_WORKING",
          contextId: "talk",
          seq: 3,
          state: "TASK_STATE_WORKING",
          timestamp: at(2),
        },
      ]);
      expect(found).toHaveLength(4);
      expect(found).toEqual(expect.arrayContaining(expected));
    });

    it("keeps the newest turn of a task until it is told that there is none any more [E9]", async () => {
      const turn = { seq: 1, attempt: 1, request: { metadata: { a: 1 } }, service: { version: "0.3" } };
      const kept = async (): Promise<unknown[]> => (await store.unfinished()).map((task) => task.turn);
      await commitOne(store, append("t", 0, [birth("t")], { turn }));
      expect(await kept()).toEqual([turn]);
      await commitOne(store, append("t", 1, [chunk("t", "a")]));
      expect(await kept()).toEqual([turn]);
      await commitOne(store, append("t", 2, [chunk("t", "b")], { turn: { ...turn, attempt: 2 } }));
      expect(await kept()).toEqual([{ ...turn, attempt: 2 }]);
      // Refused, it leaves nothing of itself.
      await store.commit([append("t", 9, [chunk("t", "c")], { turn })]);
      expect(await kept()).toEqual([{ ...turn, attempt: 2 }]);
      await commitOne(store, append("t", 3, [chunk("t", "c")], { turn: null }));
      expect(await store.unfinished()).toHaveLength(1);
      expect(await kept()).toEqual([undefined]);
    });

    it("loads the same with snapshots at any points as without", async () => {
      let count = 0;
      const snapshots = fc.array(fc.boolean(), { minLength: 41, maxLength: 41 });
      await fc.assert(
        fc.asyncProperty(cutLogs("t"), snapshots, async (pieces, due) => {
          const id = `task-${++count}`;
          const log: TaskEvent[] = [];
          for (const [index, events] of pieces.entries()) {
            const after = log.length;
            log.push(...events);
            const taken = store.snapshots && due[index] ? { snapshot: snapshot(folded(log)) } : {};
            await commitOne(store, append(id, after, events, taken));
            expect(await store.load(alice, id)).toEqual({ task: folded(log), seq: log.length });
          }
        }),
        { numRuns: 30 },
      );
    });
  });
}
