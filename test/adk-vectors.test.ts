import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { VECTORS } from "./adk-vectors.ts";
import { nodesOf, textsIn } from "./syntax.ts";

const LIST = /\[((?:[A-Z]\d{1,2})(?:, [A-Z]\d{1,2})*)\]/g;

/** Ids in brackets in any text of a test: no other text has such brackets. */
function citationsIn(source: string): string[] {
  const ids: string[] = [];
  for (const text of textsIn([...nodesOf(source)].slice(0, 1))) {
    for (const [, list = ""] of text.matchAll(LIST)) ids.push(...list.split(", "));
  }
  return ids;
}

describe("the vectors of ADK's bridges", () => {
  const files = globSync(["src/adk/**/*.test.ts", "test/interop/*.test.ts"]);
  const cited = new Set(files.flatMap((file) => citationsIn(readFileSync(file, "utf8"))));

  it("are listed once each", () => {
    const ids = VECTORS.map(([id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it("are each verified by a test, unless they are not ours", () => {
    const missing = VECTORS.filter(([id, , status]) => status === undefined && !cited.has(id));
    expect(missing.map(([id, text]) => `${id} ${text}`)).toEqual([]);
  });

  it("are not called somebody else's where a test verifies them", () => {
    expect(VECTORS.filter(([id, , status]) => status !== undefined && cited.has(id))).toEqual([]);
  });

  it("are cited by their ids in brackets", () => {
    expect(citationsIn(`it.each([["a [V01]"], [\`b [J6, J29]\`]])("c [W01]", () => parts[0]);`)).toEqual([
      "V01",
      "J6",
      "J29",
      "W01",
    ]);
  });
});
