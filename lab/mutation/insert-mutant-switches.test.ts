import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { getMutantKey, insertMutantSwitches } from "./insert-mutant-switches.ts";
import { applyMutant, listMutants, type Mutant } from "./list-mutants.ts";

const FILE = "src/room/shop.ts";

/** A program whose every mutant changes the result. Its statements and expressions nest in each other. */
const PROGRAM = `
const log = [];
function price(count, rate) {
  if (count > 2 && rate !== 1) return count * (rate ?? 7);
  log.push(...[count, -1], rate ? "rate" : "none");
  return [...log, !count];
}
for (const count of [0, 2, 3]) for (const rate of [undefined, 1, 5]) log.push(JSON.stringify(price(count, rate)));
return log.join();
`;

/** Runs a program. Returns its result or the text of its error. */
function evaluate(program: string, isActiveMutant: (key: string) => boolean): string {
  try {
    return String(runInNewContext(program, { isActiveMutant }));
  } catch (error) {
    return String(error);
  }
}

/** Returns the source with switches, without the import that a function cannot contain. */
function insertSwitchesInto(source: string, mutants: readonly Mutant[]): string {
  const [importLine, ...lines] = insertMutantSwitches(FILE, source, mutants).split("\n");
  expect(importLine).toBe(`import { isActiveMutant } from "../../mutant-switch.mjs";`);
  return lines.join("\n");
}

describe("a source with the switches of its mutants", () => {
  // The parser accepts `return` only inside of a function.
  const source = `function main() {${PROGRAM}}`;
  const mutants = listMutants(source);
  const switched = `${insertSwitchesInto(source, mutants)}\nmain();`;

  it("behaves like the source if no mutant is active", () => {
    expect(evaluate(switched, () => false)).toBe(evaluate(`${source}\nmain();`, () => false));
  });

  it("behaves like the source with one mutant if that mutant is active", () => {
    expect(mutants.length).toBeGreaterThan(25);
    for (const mutant of mutants) {
      const result = evaluate(switched, (key) => key === getMutantKey(FILE, mutant));
      const wanted = evaluate(`${applyMutant(source, mutant)}\nmain();`, () => false);
      expect(`${mutant.change}: ${result}`).toBe(`${mutant.change}: ${wanted}`);
    }
  });
});
