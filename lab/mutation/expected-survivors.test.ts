import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { listMutants } from "./list-mutants.ts";
import expectedSurvivors from "./expected-survivors.json" with { type: "json" };

const root = new URL("../../", import.meta.url);

it("each expected survivor is a change of its source", () => {
  const missing = expectedSurvivors.flatMap(({ file, mutants }) => {
    const ids = new Set(listMutants(readFileSync(new URL(file, root), "utf8")).map(({ id }) => id));
    return mutants.filter((mutant) => !ids.has(mutant)).map((mutant) => `${file} ${mutant}`);
  });
  expect(missing).toEqual([]);
});
