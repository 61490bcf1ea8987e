import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findCitations, parseCitedIds } from "../house/requirement-citations.ts";

const SECURITY_TEST_ID = /^SEC-\d\d$/;
const ACTOR_HEADINGS = [
  "Unauthenticated clients",
  "Callers",
  "Malicious peers",
  "Receivers of push notifications",
  "Readers of the disk",
  "Web pages in the user's browser",
  "Authors of a folder",
];

/** Returns the defenses of a threat model: the sentences in the lists of its sections about actors. */
function listDefenses(markdown: string): string[] {
  return markdown
    .split(/^## /m)
    .filter((section) => ACTOR_HEADINGS.some((heading) => section.startsWith(`${heading}\n`)))
    .flatMap((section) => section.split(/^- /m).slice(1))
    .flatMap((item) =>
      item
        .replace(/\s+/g, " ")
        .trim()
        .split(/(?<=\.) +/),
    )
    .filter(Boolean);
}

/** Returns the ids of tests that are cited exactly once in the threat model, but not exactly once in test titles. */
function findWrongCitations(cited: readonly string[], titles: readonly string[]): string[] {
  const count = (ids: readonly string[], id: string): number => ids.filter((other) => other === id).length;
  return [...new Set([...cited, ...titles])]
    .filter((id) => count(cited, id) !== 1 || count(titles, id) !== 1)
    .map((id) => `${id}: ${count(cited, id)} defenses, ${count(titles, id)} tests`);
}

describe("the threat model in SECURITY.md", () => {
  const defenses = listDefenses(readFileSync(new URL("../../SECURITY.md", import.meta.url), "utf8"));
  const titles = globSync(["src/**/*.{test,contract}.ts", "test/**/*.test.ts"])
    .filter((file) => !file.endsWith("security.test.ts"))
    .flatMap((file) => findCitations(readFileSync(file, "utf8"), SECURITY_TEST_ID));

  it("cites a test for each defense", () => {
    expect(defenses.length).toBeGreaterThan(40);
    expect(defenses.filter((text) => parseCitedIds(text, SECURITY_TEST_ID).length !== 1)).toEqual([]);
  });

  it("cites each test once, and each test exists once", () => {
    const cited = defenses.flatMap((text) => parseCitedIds(text, SECURITY_TEST_ID));
    expect(findWrongCitations(cited, titles)).toEqual([]);
  });
});

describe("the gate over the threat model", () => {
  it("reads the defenses of actors, and ignores other lists", () => {
    const markdown =
      "## Assets\n- Tasks.\n\n## Callers\n\nText.\n\n- A [SEC-01]. B\n  c [SEC-02].\n- D.\n\n## Not yet\n- E.\n";
    expect(listDefenses(markdown)).toEqual(["A [SEC-01].", "B c [SEC-02].", "D."]);
  });

  it("reports unknown, missing, and repeated tests", () => {
    expect(
      findWrongCitations(["SEC-01", "SEC-02", "SEC-03", "SEC-03"], ["SEC-01", "SEC-03", "SEC-04"]),
    ).toEqual(["SEC-02: 1 defenses, 0 tests", "SEC-03: 2 defenses, 1 tests", "SEC-04: 0 defenses, 1 tests"]);
  });
});
