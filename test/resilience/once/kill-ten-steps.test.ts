import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { createTempFolder } from "../../support/store-factories.ts";
import { evaluateJournal, killTenSteps } from "./kill-ten-steps.ts";

const { url: database, reason } = await findTestDatabase();

async function createFolder(): Promise<string> {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  return folder;
}

const UNREPEATED = { repeatedFinishedSteps: 0, changedIdempotencyKeys: 0 };

it("no kill repeats a finished step, and each kill repeats at most the step in flight, in SQLite [E18]", async () => {
  const folder = await createFolder();
  const outcome = await killTenSteps(join(folder, "tasks.db"), join(folder, "journal.csv"), 4);
  expect(outcome).toMatchObject({ kills: 4, ...UNREPEATED, completedTasks: outcome.tasks });
  expect(outcome.tasks).toBeGreaterThan(1);
  expect(outcome.effects).toBeGreaterThanOrEqual(10 * outcome.tasks);
  expect(outcome.mostRepeatedStepsPerKill).toBeLessThanOrEqual(1);
});

it.skipIf(reason)(
  "no kill repeats a finished step, and each kill repeats at most the step in flight, in PostgreSQL [E18]",
  async () => {
    const outcome = await killTenSteps(database, join(await createFolder(), "journal.csv"), 2);
    expect(outcome).toMatchObject({ kills: 2, ...UNREPEATED, completedTasks: outcome.tasks });
    expect(outcome.tasks).toBeGreaterThan(0);
    expect(outcome.effects).toBeGreaterThanOrEqual(10 * outcome.tasks);
    expect(outcome.mostRepeatedStepsPerKill).toBeLessThanOrEqual(1);
  },
);

it("the evaluation of a journal finds each kind of repetition", () => {
  const entries = [
    ["effect", "t", "1", "k1"],
    ["finished", "t", "1"],
    ["effect", "t", "2", "k2"],
    ["effect", "t", "1", "k1"],
    ["effect", "t", "2", "other"],
    ["finished", "t", "10"],
    ["completed", "t"],
  ] as const;
  expect(evaluateJournal(entries, [3])).toEqual({
    kills: 1,
    tasks: 1,
    completedTasks: 1,
    effects: 4,
    repeatedFinishedSteps: 1,
    repeatedStepsInFlight: 1,
    mostRepeatedStepsPerKill: 2,
    changedIdempotencyKeys: 1,
  });
});
