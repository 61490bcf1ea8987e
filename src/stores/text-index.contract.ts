import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../test/support/arbitrary-character.ts";
import type { LogAppend } from "../engine/index.ts";
import {
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "./task-event-logs.fixture.ts";
import { listWords, splitWords } from "./task-words.ts";
import { countRuns } from "../../test/support/count-runs.ts";
import type { TaskOverview, TaskOverviewQuery } from "./server-store.ts";
import type { TestStore } from "./test-store.fixture.ts";

/** Texts with words, and texts that databases refuse: NUL, halves of surrogate pairs, and very long words. */
const textArbitrary = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        "invoice",
        "Invoices",
        "Zoë",
        "zoe",
        "ΟΔΟΣ",
        "οδός",
        "日本",
        "日本の旅",
        "本日",
        "a-1",
        "İ",
        "'",
        "\\",
      ),
      {
        maxLength: 4,
      },
    )
    .map((words) => words.join(" ")),
  fc.string({ unit: arbitraryCharacter, maxLength: 20 }),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom(
    "\0",
    "\ud800",
    "x\udfffy",
    "q".repeat(3_000),
    `か${"\u3099".repeat(3_000)}く`,
    `${"w".repeat(2_100)} long`,
    "'a':* & !b | <->",
  ),
);

/** Defines the contract tests for the text search of a store. */
export function defineTextIndexContract(getStore: () => TestStore): void {
  const getOverview = (): TaskOverview => {
    const { overview } = getStore();
    if (!overview) throw new Error("the store has no overview");
    return overview;
  };
  const find = async (text: string, more: Partial<TaskOverviewQuery> = {}): Promise<string[]> =>
    (await getOverview().list({ text, limit: 200, ...more })).tasks.map(({ taskId }) => taskId);
  const expectFound = (text: string, ids: readonly string[]): Promise<void> =>
    expect.poll(() => find(text), { interval: 10 }).toEqual(ids);

  /** Commits a completed task whose artifact has a text. */
  async function storeTask(id: string, content: string, options: Partial<LogAppend> = {}): Promise<void> {
    const log = [
      createTestSubmittedTaskEvent(id),
      createTestChunkEvent(id, content),
      createTestStatusEvent(id, "TASK_STATE_COMPLETED"),
    ];
    const append = createTestLogAppend(id, 0, log, { hasRunningTurn: false, ...options });
    expect(await getStore().commit([append])).toEqual([undefined]);
  }

  /** Commits a task whose agent has written a text and asks its user. Resolves once the index has the text. */
  async function storeQuestion(id: string, content: string): Promise<LogAppend> {
    const log = [createTestSubmittedTaskEvent(id)];
    const running = createTestLogAppend(id, 0, log, { hasRunningTurn: true });
    expect(await getStore().commit([running])).toEqual([undefined]);
    const asked = [createTestChunkEvent(id, content), createTestStatusEvent(id, "TASK_STATE_INPUT_REQUIRED")];
    const question = createTestLogAppend(id, 1, asked, { hasRunningTurn: false });
    expect(await getStore().commit([question])).toEqual([undefined]);
    await expectFound(content.trim(), [id]);
    return question;
  }

  describe("a text index", () => {
    it("finds tasks by words of their messages and artifacts, also those stored before", async () => {
      await storeTask("old", "The invoice of Zoë");
      expect(getOverview().textIndex?.isStarted).toBe(false);
      await getOverview().textIndex?.start();
      expect(getOverview().textIndex?.isStarted).toBe(true);
      await storeTask("new", "another invoice");
      await expectFound("invoice", ["old", "new"]);
      expect(await find("INVO")).toEqual(["old", "new"]);
      expect(await find("zoe invoice")).toEqual(["old"]);
      expect(await find("invo zoe")).toEqual([]);
      expect(await find("?!")).toEqual([]);
    });

    it("finds parts of words of scripts without spaces", async () => {
      await getOverview().textIndex?.start();
      await storeTask("chinese", "请检查我的订单A17");
      await storeTask("japanese", "請求書はどこですか");
      await expectFound("订单", ["chinese"]);
      expect(await find("检查我")).toEqual(["chinese"]);
      expect(await find("我 a1")).toEqual(["chinese"]);
      expect(await find("请求")).toEqual([]);
      expect(await find("どこ")).toEqual(["japanese"]);
    });

    it("finds only tasks that meet the other conditions [E13]", async () => {
      await getOverview().textIndex?.start();
      await storeTask("a", "shared word");
      await storeTask("b", "shared word", { scope: bobTestTaskScope, contextId: "other" });
      await expectFound("shared", ["b", "a"]);
      expect(await find("shared", { scopes: [bobTestTaskScope] })).toEqual(["b"]);
      expect(await find("shared", { scopes: [] })).toEqual([]);
      expect(await find("shared", { contextId: "other" })).toEqual(["b"]);
      expect(await find("shared", { status: "TASK_STATE_FAILED" })).toEqual([]);
      expect(await find("shared", { agent: "none" })).toEqual([]);
      const first = await getOverview().list({ text: "shared", limit: 1 });
      expect(first).toMatchObject({ tasks: [{ taskId: "b" }], hasMore: true });
      expect(await find("shared", first.tasks[0] ? { after: first.tasks[0] } : {})).toEqual(["a"]);
    });

    it("has the words of a task after each of its turns", async () => {
      await getOverview().textIndex?.start();
      await storeQuestion("t", "first ");
      const ended = [createTestChunkEvent("t", "second"), createTestStatusEvent("t", "TASK_STATE_COMPLETED")];
      expect(await getStore().commit([createTestLogAppend("t", 3, ended)])).toEqual([undefined]);
      await expectFound("second", ["t"]);
      expect(await find("first second")).toEqual(["t"]);
    });

    it("has the words of a chunk that the agent writes after its question", async () => {
      await getOverview().textIndex?.start();
      const question = await storeQuestion("t", "first ");
      const later = createTestLogAppend("t", 3, [createTestChunkEvent("t", "second")], {
        status: question.status,
      });
      expect(await getStore().commit([later])).toEqual([undefined]);
      await expectFound("second", ["t"]);
    });

    it("forgets deleted tasks", async () => {
      await getOverview().textIndex?.start();
      await storeTask("a", "unforgettable");
      await expectFound("unforgettable", ["a"]);
      const { deletionStore } = getStore();
      const [task] = (await deletionStore.findMatchingTasks({ taskId: "a" }, 1)) ?? [];
      await deletionStore.deleteTasks(task ? [task] : [], { budgetMs: 1_000 });
      expect(await find("unforgettable")).toEqual([]);
    });

    it("accepts each text, and finds exactly the tasks with all words of a query", async () => {
      await getOverview().textIndex?.start();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(textArbitrary, { minLength: 1, maxLength: 4 }),
          fc.array(textArbitrary, { maxLength: 3 }),
          async (texts, queries) => {
            round += 1;
            // Each round has its own context, because the tests of a store share the store.
            const contextId = `round-${round}`;
            // A query such as `m` also finds the mark.
            const stored = [...texts, `mark${round}`];
            const ids = stored.map((_, at) => `${contextId}-${at}`);
            for (const [at, content] of stored.entries())
              await storeTask(ids[at] ?? "", content, { contextId });
            // The stores index tasks in the order of their creation.
            await expectFound(`mark${round}`, ids.slice(-1));
            for (const query of [...queries, ...texts]) {
              const expected = ids.filter((_, at) => containsWords(stored[at] ?? "", query)).toReversed();
              expect(await find(query, { contextId, status: "TASK_STATE_COMPLETED" })).toEqual(expected);
            }
          },
        ),
        { numRuns: countRuns(5, 30) },
      );
    });
  });
}

/** Describes a match without an index: all words of a query, of which the last may be the start of a word. */
function containsWords(text: string, query: string): boolean {
  const words = listWords(text);
  const wanted = splitWords(query);
  const last = wanted.pop();
  return (
    last !== undefined &&
    words.some((word) => word.startsWith(last)) &&
    wanted.every((word) => words.includes(word))
  );
}
