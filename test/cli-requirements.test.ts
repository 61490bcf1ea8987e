import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findCitations, CLI_REQUIREMENT_ID } from "./requirement-citations.ts";
import { CLI_DEFAULTS, CLI_ERRORS, CLI_REQUIREMENTS } from "./cli-requirements.ts";

describe("the requirements of the CLI specification", () => {
  const sources = globSync("src/cli/**/*.{test,contract}.ts").map((file) => readFileSync(file, "utf8"));
  const cited = new Set(sources.flatMap((source) => findCitations(source, CLI_REQUIREMENT_ID)));

  it("are listed once each, as many as the specification has in each tier", () => {
    const ids = CLI_REQUIREMENTS.map(([id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    const tiers = [1, 2, 3].map((tier) => CLI_REQUIREMENTS.filter(([, one]) => one === tier).length);
    expect(tiers).toEqual([39, 15, 12]);
  });

  it("are known wherever a test cites one", () => {
    const known = new Set(CLI_REQUIREMENTS.map(([id]) => id));
    expect([...cited].filter((id) => !known.has(id))).toEqual([]);
  });

  it("are each verified by a test, or say what is missing; in tier 1 nothing is", () => {
    const open = CLI_REQUIREMENTS.filter(([, , , , status]) => typeof status === "object");
    const lines = open.map(
      ([id, tier, , text, status]) => `${id} (tier ${tier}) ${text}: ${JSON.stringify(status)}`,
    );
    console.log(`Not built, of ${CLI_REQUIREMENTS.length}:\n  ${lines.join("\n  ")}`);
    const uncited = CLI_REQUIREMENTS.filter(([id, , , , status]) => status === undefined && !cited.has(id));
    expect(uncited.map(([id]) => id)).toEqual([]);
    expect(open.filter(([, tier]) => tier === 1)).toEqual([]);
    expect(open.filter(([id]) => cited.has(id))).toEqual([]);
  });

  it("have tests that name every default and every error of our own", () => {
    const all = sources.join("\n");
    expect(Object.keys(CLI_DEFAULTS).filter((name) => !all.includes(`default "${name}"`))).toEqual([]);
    expect(CLI_ERRORS.filter((code) => !all.includes(code))).toEqual([]);
  });
});
