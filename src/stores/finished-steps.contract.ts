import { describe, expect, it } from "vitest";
import type { FinishedStep } from "../engine/index.ts";
import {
  aliceTestTaskScope,
  bobTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "./task-event-logs.fixture.ts";
import type { TestStore } from "./test-store.fixture.ts";

/** Defines the contract tests for the finished steps of running turns. */
export function defineFinishedStepsContract(
  getStore: () => TestStore,
  append: (...args: Parameters<typeof createTestLogAppend>) => Promise<void>,
): void {
  const turn = { seq: 1, attempt: 1, request: {}, service: {} };
  const createStep = (key: string, result: unknown = key, turnSeq = 1): FinishedStep => ({
    turnSeq,
    key,
    json: JSON.stringify({ result }),
  });
  const beginTurn = (
    taskId: string,
    options: Parameters<typeof createTestLogAppend>[3] = {},
  ): Promise<void> =>
    append(taskId, 0, [createTestSubmittedTaskEvent(taskId)], { turn, hasRunningTurn: true, ...options });
  async function readSteps(taskId = "t", scope = aliceTestTaskScope, turnSeq = 1): Promise<FinishedStep[]> {
    const steps = (await getStore().turns.readSteps(scope, taskId, turnSeq)) ?? [];
    return steps.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  describe("the finished steps of a turn", () => {
    it("are stored with the events of their append, or without events [E18]", async () => {
      const [a, b, c] = [createStep("a"), createStep("b", { deep: [null] }), createStep("c", "\0\ud800")];
      await beginTurn("t", { steps: [a] });
      await append("t", 1, [createTestChunkEvent("t", "x")], { steps: [b] });
      await append("t", 2, [], { steps: [c] });
      expect(await readSteps()).toEqual([a, b, c]);
      expect(await getStore().load(aliceTestTaskScope, "t")).toMatchObject({ seq: 2 });
    });

    it("belong to one task of one scope", async () => {
      await beginTurn("t", { steps: [createStep("a")] });
      await beginTurn("u", { steps: [createStep("a", "of u")] });
      await beginTurn("t", { steps: [createStep("a", "of bob")], scope: bobTestTaskScope });
      expect(await readSteps("u")).toEqual([createStep("a", "of u")]);
      expect(await readSteps("t", bobTestTaskScope)).toEqual([createStep("a", "of bob")]);
      expect(await readSteps("missing")).toEqual([]);
    });

    it("belong to one turn, so that a later turn can use their keys again", async () => {
      await beginTurn("t", { steps: [createStep("a")] });
      await append("t", 1, [], { steps: [createStep("a", "later", 5)] });
      expect(await readSteps()).toEqual([createStep("a")]);
      expect(await readSteps("t", aliceTestTaskScope, 5)).toEqual([createStep("a", "later", 5)]);
    });

    it("accept every key, and replace a step with the same key", async () => {
      const keys = ["\0", "\u0001", "ключ", " ", "k".repeat(256), "🙂".repeat(128)];
      await beginTurn("t", { steps: keys.map((key) => createStep(key, 1)) });
      await append("t", 1, [], { steps: keys.map((key) => createStep(key, 2)) });
      expect(await readSteps()).toEqual(keys.toSorted().map((key) => createStep(key, 2)));
    });

    it("are not stored by a rejected append [E18]", async () => {
      await beginTurn("t");
      const refused = createTestLogAppend("t", 9, [], { steps: [createStep("a")] });
      const fenced = createTestLogAppend("t", 1, [], { steps: [createStep("a")], epoch: 1 });
      expect(await getStore().commit([refused])).toEqual(["conflict"]);
      expect(await getStore().commit([fenced])).toEqual(["conflict"]);
      expect(await readSteps()).toEqual([]);
    });

    it("outlive the process if the store is durable, and a claim of the task [E18]", async () => {
      await beginTurn("t", { steps: [createStep("a")] });
      await getStore().close();
      await getStore().open();
      const [claimed] = await getStore().turns.claim(aliceTestTaskScope.agent, 10);
      expect(await readSteps()).toEqual([createStep("a")]);
      await append("t", 1, [], { steps: [createStep("b")], epoch: claimed?.epoch ?? 0 });
      expect(await readSteps()).toEqual([createStep("a"), createStep("b")]);
    });

    it("are deleted with the stored turn, and with the task", async () => {
      await beginTurn("t", { steps: [createStep("a")] });
      await beginTurn("u", { steps: [createStep("a")] });
      await append("t", 1, [], { turn: null, hasRunningTurn: false });
      expect(await readSteps()).toEqual([]);
      expect(await readSteps("u")).toEqual([createStep("a")]);
      const tasks = (await getStore().deletionStore.findMatchingTasks({ taskId: "u" }, 10)) ?? [];
      await getStore().deletionStore.deleteTasks(tasks, { budgetMs: 1000 });
      expect(await readSteps("u")).toEqual([]);
    });
  });
}
