import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BEHAVIOR_VECTORS } from "../support/adk-vectors.ts";
import { walkNodes, walkTexts } from "../support/syntax-tree.ts";

const CITATION_PATTERN = /\[((?:[A-Z]\d{1,2})(?:, [A-Z]\d{1,2})*)\]/g;

/** Finds bracketed ids in all strings of a test. No other strings contain such brackets. */
function findCitations(source: string): string[] {
  const ids: string[] = [];
  for (const text of walkTexts([...walkNodes(source)].slice(0, 1))) {
    for (const [, list = ""] of text.matchAll(CITATION_PATTERN)) ids.push(...list.split(", "));
  }
  return ids;
}

describe("the vectors of ADK's bridges", () => {
  const files = globSync(["src/agents/adk/**/*.test.ts", "test/interop/*.test.ts"]);
  const cited = new Set(files.flatMap((file) => findCitations(readFileSync(file, "utf8"))));

  it("are listed once each", () => {
    const ids = BEHAVIOR_VECTORS.map(([id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it("are each verified by a test, unless they concern ADK itself", () => {
    const missing = BEHAVIOR_VECTORS.filter(([id, , status]) => status === undefined && !cited.has(id));
    expect(missing.map(([id, text]) => `${id} ${text}`)).toEqual([]);
  });

  it("are not marked `elsewhere` if a test verifies them", () => {
    expect(BEHAVIOR_VECTORS.filter(([id, , status]) => status !== undefined && cited.has(id))).toEqual([]);
  });

  it("are cited by their ids in brackets", () => {
    expect(findCitations(`it.each([["a [V01]"], [\`b [J6, J29]\`]])("c [W01]", () => parts[0]);`)).toEqual([
      "V01",
      "J6",
      "J29",
      "W01",
    ]);
  });
});
