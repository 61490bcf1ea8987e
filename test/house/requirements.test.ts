import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findCitations, REQUIREMENT_ID } from "./requirement-citations.ts";
import { REQUIREMENTS, type RequirementLevel, type Requirement } from "./requirements.ts";

interface UnverifiedRequirements {
  /** One line for each requirement that is unimplemented or untested, with the reason. */
  readonly told: readonly string[];
  /** Mistakes: a missing reason, a binding requirement without a test, or an outdated reason. */
  readonly wrong: readonly string[];
}

/** Returns the unverified requirements, for a set of cited ids. */
function findUnverified(
  requirements: readonly Requirement[],
  cited: ReadonlySet<string>,
): UnverifiedRequirements {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [id, level, , text, status = "implemented"] of requirements) {
    const isCited = cited.has(id);
    if (status === "implemented") {
      if (!isCited) wrong.push(`${id} ${text}: no test cites it, and nothing says why`);
      continue;
    }
    const [[kind, why] = []] = Object.entries(status);
    open.push(`${id} (${level}) ${text}; ${kind}: ${why}`);
    if (kind === "untested" && isCited)
      wrong.push(`${id} ${text}: a test cites it, but it is called untested`);
    if (kind === "untested" && BINDING_LEVELS.has(level))
      wrong.push(`${id} ${text}: must be verified by a test`);
  }
  return { told: open, wrong };
}

const BINDING_LEVELS: ReadonlySet<RequirementLevel> = new Set<RequirementLevel>(["M", "E"]);

describe("the requirements of the specification", () => {
  const cited = new Map<string, string>();
  for (const file of globSync(["src/**/*.{test,contract}.ts", "test/**/*.{test,contract}.ts"])) {
    if (file.endsWith("requirements.test.ts")) continue;
    for (const id of findCitations(readFileSync(file, "utf8"), REQUIREMENT_ID)) cited.set(id, file);
  }

  it("are listed once each", () => {
    const ids = REQUIREMENTS.map(([id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it("exist for every id that a test cites", () => {
    const known = new Set(REQUIREMENTS.map(([id]) => id));
    expect([...cited].filter(([id]) => !known.has(id))).toEqual([]);
  });

  it("are each verified by a test or have a reason", () => {
    const { told, wrong } = findUnverified(REQUIREMENTS, new Set(cited.keys()));
    console.log(`Not fully verified, of ${REQUIREMENTS.length}:\n  ${told.join("\n  ")}`);
    expect(wrong).toEqual([]);
  });
});

describe("the gate over citations", () => {
  it("reads ids from titles, groups and tables of cases", () => {
    const source = `
      describe("a [A-01]", () => {
        it.each([["x", "row [B-01]"]])("b [B-02, E16]", () => {});
        it.skipIf(slow)(\`c \${name} [1.L]\`, async () => {});
      });`;
    expect(findCitations(source, REQUIREMENT_ID)).toEqual(["A-01", "B-02", "E16", "B-01", "1.L"]);
  });

  it("ignores other brackets, comments, and test bodies", () => {
    const source = `// [A-01]\nit("reads parts[0], [a list]", () => { say("[A-02]"); });`;
    expect(findCitations(source, REQUIREMENT_ID)).toEqual([]);
  });

  it("lists open requirements, and rejects missing reasons, reasons for a MUST, and outdated reasons", () => {
    const requirements: Requirement[] = [
      ["A-01", "M", "1", "cited"],
      ["A-02", "S", "1", "not cited"],
      ["A-03", "M", "1", "not built", { later: "no time" }],
      ["A-04", "S", "1", "built", { untested: "needs a moon" }],
      ["A-05", "M", "1", "binding", { untested: "needs a moon" }],
      ["A-06", "D", "1", "tested since", { untested: "needs a moon" }],
    ];
    const { told, wrong } = findUnverified(requirements, new Set(["A-01", "A-06"]));
    expect(told.slice(0, 2)).toEqual([
      "A-03 (M) not built; later: no time",
      "A-04 (S) built; untested: needs a moon",
    ]);
    expect(wrong.map((line) => line.slice(0, 4))).toEqual(["A-02", "A-05", "A-06"]);
  });
});
