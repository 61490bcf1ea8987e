import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFakeTaskContext } from "../fake-task-context.fixture.ts";
import { createScriptedModel } from "../models/scripted-model.ts";
import type { TaskOutcome } from "../role.ts";
import { createPlanner, dispatchSubtasks } from "./planner.ts";
import {
  resolveSettings,
  createPlannerState,
  fillPlaceholders,
  findDependencyProblem,
  type Subtask,
} from "./planner-state.ts";

/** Generates batches in which each subtask may depend on earlier ones, in any order. */
const arbitraryBatch = fc
  .array(fc.array(fc.nat(6), { maxLength: 3 }), { minLength: 1, maxLength: 7 })
  .map((needs) => {
    const wanted = needs.map((list, index) => [...new Set(list.filter((other) => other < index))]);
    return wanted.map((list, index) => ({
      id: `s${index + 1}`,
      task: `do ${index + 1} ${list.map((other) => `{s${other + 1}}`).join(" ")}`.trim(),
    }));
  })
  .chain((batch) => fc.shuffledSubarray(batch, { minLength: batch.length }));

/** Returns the direct dependencies of a subtask. */
const listPlaceholders = ({ task }: Subtask): string[] =>
  [...task.matchAll(/\{(s\d+)\}/g)].map(([, id = ""]) => id);

describe("a batch of subtasks", () => {
  it("sends each subtask once, as soon as its dependencies are answered, with their answers", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryBatch, fc.infiniteStream(fc.nat()), async (batch, picks) => {
        expect(findDependencyProblem(batch, new Set())).toBeUndefined();
        const waiting = new Map<string, (answer: TaskOutcome) => void>();
        const sent = new Map<string, string>();
        const done = new Set<string>();
        const { taskContext, state } = createPlannerContext(({ task }) => {
          const id = `s${/\d+/.exec(task)?.[0]}`;
          expect(sent.has(id)).toBe(false);
          sent.set(id, task);
          return new Promise((resolve) => waiting.set(id, resolve));
        });
        const work = dispatchSubtasks(taskContext, state, batch, false);
        while (done.size < batch.length) {
          await flushImmediates();
          // Exactly the subtasks whose dependencies are done are in progress.
          const ready = batch.filter((subtask) => listPlaceholders(subtask).every((id) => done.has(id)));
          expect([...sent.keys()].toSorted()).toEqual(ready.map(({ id }) => id).toSorted());
          const open = [...waiting.keys()];
          const next = open[(picks.next().value ?? 0) % open.length] ?? "";
          waiting.get(next)?.({ result: `answer ${next}`, status: "success" });
          waiting.delete(next);
          done.add(next);
        }
        const { findings } = await work;
        expect(findings.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
        const answers = new Map(batch.map(({ id }) => [id, `answer ${id}`]));
        for (const { id, task } of batch) expect(sent.get(id)).toBe(fillPlaceholders(task, answers));
      }),
      { numRuns: 200 },
    );
  });

  it("skips only the subtasks that depend on a failed one", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryBatch, fc.array(fc.nat(7)), async (batch, numbers) => {
        const broken = new Set(numbers.map((number) => `s${number}`));
        const { taskContext, state } = createPlannerContext(({ task }) =>
          broken.has(`s${/\d+/.exec(task)?.[0]}`)
            ? { error: "no", errorType: "solver_failed" }
            : { result: "yes", status: "success" },
        );
        const { findings } = await dispatchSubtasks(taskContext, state, batch, false);
        const byId = new Map(batch.map((subtask) => [subtask.id, subtask]));
        const works = (id: string): boolean =>
          !broken.has(id) && listPlaceholders(byId.get(id) ?? { id, task: "" }).every(works);
        expect(findings.map(({ id = "", status }) => [id, status])).toEqual(
          batch.map(({ id }) => [id, works(id) ? "success" : "error"]),
        );
      }),
      { numRuns: 200 },
    );
  });

  it("is rejected when it has a cycle of any length", () => {
    fc.assert(
      fc.property(arbitraryBatch, fc.integer({ min: 1, max: 7 }), (batch, length) => {
        const circle = Array.from({ length }, (_, index) => ({
          id: `c${index}`,
          task: `{c${(index + 1) % length}}`,
        }));
        expect(findDependencyProblem([...batch, ...circle], new Set())).toMatch(/depend on each other/);
      }),
    );
  });

  it("truncates answers and filled subtasks, so that every subtask fits on a card", async () => {
    const { taskContext, state } = createPlannerContext(({ task }) => ({
      result: task === "long" ? `x${"🙂".repeat(50_000)}` : "",
      status: "success",
    }));
    const batch = [
      { id: "s1", task: "long" },
      { id: "s2", task: "x{s1}".repeat(10) },
      { id: "s3", task: "x{s1}".repeat(1_000) },
    ];
    const { findings } = await dispatchSubtasks(taskContext, state, batch, false);
    expect(findings.map(({ answer }) => answer.length)).toEqual([100_001, 0, 0]);
    const lengths = taskContext.runLog.listTasksTo("solver").map(({ content }) => content.length);
    expect(lengths).toEqual([4, 40_000, 64_000]);
    expect(taskContext.runLog.listTasksTo("solver").every(({ content }) => content.isWellFormed())).toBe(
      true,
    );
  });
});

function createPlannerContext(solver: Parameters<typeof asDelegate>[0]) {
  const taskContext = createFakeTaskContext(createPlanner(), {
    task: "?",
    model: createScriptedModel([]),
    delegates: { solver: asDelegate(solver) },
  });
  return { taskContext, state: createPlannerState(resolveSettings({}), taskContext.task) };
}

function asDelegate<F extends (task: { task: string }) => TaskOutcome | Promise<TaskOutcome>>(solver: F): F {
  return solver;
}

function flushImmediates(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
