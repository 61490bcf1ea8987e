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

  it("are each verified by a test or marked as missing, and complete in tier 1", () => {
    const open = CLI_REQUIREMENTS.filter(([, , , , status]) => typeof status === "object");
    const lines = open.map(
      ([id, tier, , text, status]) => `${id} (tier ${tier}) ${text}: ${JSON.stringify(status)}`,
    );
    console.log(`Not implemented, of ${CLI_REQUIREMENTS.length}:\n  ${lines.join("\n  ")}`);
    const uncited = CLI_REQUIREMENTS.filter(([id, , , , status]) => status === undefined && !cited.has(id));
    expect(uncited.map(([id]) => id)).toEqual([]);
    expect(open.filter(([, tier]) => tier === 1)).toEqual([]);
    expect(open.filter(([id]) => cited.has(id))).toEqual([]);
  });

  it("have tests that name every default and every local error", () => {
    const all = sources.join("\n");
    expect(Object.keys(CLI_DEFAULTS).filter((name) => !all.includes(`default "${name}"`))).toEqual([]);
    expect(CLI_ERRORS.filter((code) => !all.includes(code))).toEqual([]);
  });
});
