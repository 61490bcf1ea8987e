import { expect, it, onTestFinished } from "vitest";
import { countRuns } from "../../support/count-runs.ts";
import { createTempFolder } from "../../support/store-factories.ts";
import { KillableRoles, ROLES, type RoleName, summarizeLog } from "./kill-roles.ts";

const POINTS_PER_ROLE = countRuns(2, 20);

/** Returns `count` points from 1 to `last`, at equal distances. */
function selectPoints(last: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => 1 + Math.round((index * (last - 1)) / (count - 1)));
}

async function startRoles(): Promise<KillableRoles> {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  const roles = await KillableRoles.start(folder);
  onTestFinished(() => roles.close());
  return roles;
}

it("a planner, a solver, and a controller that are killed at any point repeat no committed model call [E18]", async () => {
  const roles = await startRoles();
  expect(await roles.solve("Start with 1000.", {})).toBe("1006");
  const points = new Map<RoleName, number[]>();
  for (const role of ROLES) {
    const { points: last, modelCalls } = roles.summarizeNewLines(role);
    expect(modelCalls).toBe({ solver: 6, planner: 7, controller: 0 }[role]);
    expect(last).toBeGreaterThanOrEqual(24);
    // Commits can be grouped, so that other problems have fewer points. After the last point, no work is left.
    points.set(role, selectPoints(Math.floor(last * 0.85), POINTS_PER_ROLE));
  }
  const outcomes: unknown[] = [];
  for (const killed of ROLES) {
    for (const [index, point] of (points.get(killed) ?? []).entries()) {
      const start = 2000 + 100 * outcomes.length + index;
      const kills = roles.kills[killed];
      expect(await roles.solve(`Start with ${start}.`, { [killed]: point })).toBe(String(start + 6));
      expect(roles.kills[killed] - kills).toBe(1);
      for (const role of ROLES) {
        const summary = roles.summarizeNewLines(role);
        const { repeatedCommittedCalls, repeatedInterruptedCalls, markedInterruptedCalls } = summary;
        expect.soft(repeatedCommittedCalls, `${killed} killed at ${point}`).toBe(0);
        expect.soft(repeatedInterruptedCalls).toBeLessThanOrEqual(role === killed ? 1 : 0);
        expect.soft(markedInterruptedCalls).toBeGreaterThanOrEqual(repeatedInterruptedCalls);
        expect.soft(markedInterruptedCalls).toBeLessThanOrEqual(role === killed ? 1 : 0);
        if (role === killed) outcomes.push({ killed, point, ...summary });
      }
    }
  }
  expect(outcomes).toHaveLength(POINTS_PER_ROLE * ROLES.length);
  if (process.env["COLLOQUY_PRINT"]) console.table(outcomes);
}, 600_000);

it("the evaluation of a log finds each kind of repetition", () => {
  const call = (prompt: string): Parameters<typeof summarizeLog>[0] => [
    { kind: "begun", prompt },
    { kind: "ended", prompt },
  ];
  const lines = [
    ...call("a"),
    { kind: "committed" } as const,
    { kind: "begun", prompt: "b" } as const,
    ...call("b"),
    ...call("a"),
  ];
  expect(summarizeLog(lines)).toEqual({
    points: 0,
    modelCalls: 4,
    repeatedCommittedCalls: 1,
    repeatedInterruptedCalls: 1,
    markedInterruptedCalls: 0,
  });
});
