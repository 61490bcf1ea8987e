import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { REQUIREMENTS, type Requirement } from "./requirements.ts";
import { isNode, nodesOf, textsIn } from "./syntax.ts";

const SUITE = new Set(["describe", "it", "test"]);

/** The ids in brackets in the titles of tests and groups, and in the tables of `it.each`. */
function citationsIn(source: string): string[] {
  const ids: string[] = [];
  for (const node of nodesOf(source)) {
    if (node.type !== "CallExpression" || !SUITE.has(rootOf(node["callee"]))) continue;
    const [title] = node["arguments"] as unknown[];
    const isFunction = isNode(title) && title.type.endsWith("FunctionExpression");
    if (!isFunction) for (const text of textsIn(title)) ids.push(...idsIn(text));
  }
  return ids;
}

/** `it` for the callee of `it(…)`, `it.skipIf(…)(…)` and `it.each(…)(…)`. */
function rootOf(callee: unknown): string {
  if (!isNode(callee)) return "";
  if (callee.type === "Identifier") return String(callee["name"]);
  return rootOf(callee["object"] ?? callee["callee"]);
}

function idsIn(title: string): string[] {
  return [...title.matchAll(/\[([^\]]+)\]/g)].flatMap(([, list = ""]) => {
    const ids = list.split(",").map((id) => id.trim());
    return ids.every((id) => /^([A-Z]-\d\d|E\d\d?|1\.L)$/.test(id)) ? ids : [];
  });
}

function uncited(requirements: readonly Requirement[], cited: Iterable<string>): Requirement[] {
  const seen = new Set(cited);
  return requirements.filter(
    ([id, , , , status = "implemented"]) => status === "implemented" && !seen.has(id),
  );
}

const isBinding = ([, level]: Requirement): boolean => level === "M" || level === "E";
const inWords = ([id, , , text]: Requirement): string => `${id} ${text}`;

describe("the requirements of the specification", () => {
  const cited = new Map<string, string>();
  for (const file of globSync(["src/**/*.{test,contract}.ts", "test/**/*.{test,contract}.ts"])) {
    if (file.endsWith("requirements.test.ts")) continue;
    for (const id of citationsIn(readFileSync(file, "utf8"))) cited.set(id, file);
  }

  it("are listed once each", () => {
    const ids = REQUIREMENTS.map(([id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it("are known wherever a test cites one", () => {
    const known = new Set(REQUIREMENTS.map(([id]) => id));
    expect([...cited].filter(([id]) => !known.has(id))).toEqual([]);
  });

  it("are verified by a test where they are a MUST or a promise of the engine", () => {
    const missing = uncited(REQUIREMENTS, cited.keys());
    const optional = missing.filter((requirement) => !isBinding(requirement));
    if (optional.length > 0) {
      console.log(`No test cites these; they are no MUST:\n  ${optional.map(inWords).join("\n  ")}`);
    }
    expect(missing.filter(isBinding).map(inWords)).toEqual([]);
  });
});

describe("the gate over citations", () => {
  it("reads ids from titles, groups and tables of cases", () => {
    const source = `
      describe("a [A-01]", () => {
        it.each([["x", "row [B-01]"]])("b [B-02, E16]", () => {});
        it.skipIf(slow)(\`c \${name} [1.L]\`, async () => {});
      });`;
    expect(citationsIn(source)).toEqual(["A-01", "B-02", "E16", "B-01", "1.L"]);
  });

  it("takes no other brackets, no comment and no body of a test for a citation", () => {
    expect(citationsIn(`// [A-01]\nit("reads parts[0], [a list]", () => { say("[A-02]"); });`)).toEqual([]);
  });

  it("misses what no title names, unless it is not built yet", () => {
    const requirements: Requirement[] = [
      ["A-01", "M", "1", "cited"],
      ["A-02", "M", "1", "not cited"],
      ["A-03", "M", "1", "not built", "later"],
    ];
    expect(uncited(requirements, ["A-01"]).map(([id]) => id)).toEqual(["A-02"]);
  });
});
