import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PLANTED_MUTANTS } from "./planted-mutants.ts";

const TEXT_MUTANTS = PLANTED_MUTANTS.flatMap((mutant) => ("find" in mutant ? [mutant] : []));

it.each(TEXT_MUTANTS)("the mutant $name changes a text that exists once in the source", ({ file, find }) => {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  expect(source.split(find)).toHaveLength(2);
});
