import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { findSeedsUntilNoticed, PLANTED_MUTANTS } from "./planted-mutants.ts";

const TEXT_MUTANTS = PLANTED_MUTANTS.flatMap((mutant) => ("find" in mutant ? [mutant] : []));

it.each(TEXT_MUTANTS)("the mutant $name changes a text that exists once in the source", ({ file, find }) => {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  expect(source.split(find)).toHaveLength(2);
});

it("rejects a mutant that ends the process of the simulation before the simulation has a result", async () => {
  const mutant = {
    name: "rejection without a handler",
    file: "src/engine/engine.ts",
    find: "    this.#state.isClosing = true;\n",
    replace: '    void Promise.reject(new Error("from the mutant"));\n',
  };
  await expect(findSeedsUntilNoticed(mutant, 500)).rejects.toThrow("from the mutant");
});
