import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findCitations, CLI_REQUIREMENT_ID } from "./requirement-citations.ts";
import { CLI_DEFAULTS, CLI_ERRORS, CLI_REQUIREMENTS } from "./cli-requirements.ts";

describe("the requirements of the CLI specification", () => {
  const sources = globSync("src/cli/**/*.{test,contract}.ts").map((file) => readFileSync(file, "utf8"));
  const cited = new Set(sources.flatMap((source) => findCitations(source, CLI_REQUIREMENT_ID)));

  it("are listed once each, in the specification's number per tier", () => {
    const ids = CLI_REQUIREMENTS.map(([id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    const tiers = [1, 2, 3].map((tier) => CLI_REQUIREMENTS.filter(([, one]) => one === tier).length);
    expect(tiers).toEqual([39, 15, 12]);
  });

  it("exist for every id that a test cites", () => {
    const known = new Set(CLI_REQUIREMENTS.map(([id]) => id));
    expect([...cited].filter((id) => !known.has(id))).toEqual([]);
  });

  it("are each verified by a test", () => {
    expect(CLI_REQUIREMENTS.map(([id]) => id).filter((id) => !cited.has(id))).toEqual([]);
  });

  it("have tests that name every default and every local error", () => {
    const all = sources.join("\n");
    expect(Object.keys(CLI_DEFAULTS).filter((name) => !all.includes(`default "${name}"`))).toEqual([]);
    expect(CLI_ERRORS.filter((code) => !all.includes(code))).toEqual([]);
  });
});
