import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { check } from "recheck";
import { describe, expect, it } from "vitest";
import { isSyntaxNode, walkNodes } from "./syntax-tree.ts";

const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));
/** The code that users run: the library, its page, the command line, and the skills. */
const USER_CODE = "{src,bin,skills}/**/*.{ts,js,mjs}";

/** Regular expressions that need no proof, each with the reason why the tool cannot give one or is not needed. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "/^\\p{RGI_Emoji}$/v":
    "recheck does not know the flag v; the pattern is anchored, and its strings have at most ten characters",
  "/(-?\\d+(?:\\.\\d+)?)\\s*([a-z°/]+[23]?)\\s+(?:to|in|into|as)\\s+([a-z°/]+[23]?)/i":
    "assistant-model-script.ts cuts the request at 2,000 characters",
  "/(\\d+(?:\\.\\d+)?)\\s*(?:%|percent)\\s+of\\s+/gi":
    "assistant-model-script.ts cuts the request at 2,000 characters",
};

interface RegExpUse {
  readonly literal: string;
  readonly source: string;
  readonly flags: string;
}

/** Yields each regular expression of a TypeScript source. A `RegExp` from a text has the literal `new RegExp`. */
function* findRegExps(code: string): Generator<RegExpUse> {
  for (const node of walkNodes(code)) {
    const { regex, callee } = node;
    if (node.type === "Literal" && isRegExpLiteral(regex)) {
      const { pattern, flags } = regex;
      yield { literal: `/${pattern}/${flags}`, source: pattern, flags };
    } else if (isSyntaxNode(callee) && callee["name"] === "RegExp")
      yield { literal: "new RegExp", source: "", flags: "" };
  }
}

function isRegExpLiteral(value: unknown): value is { readonly pattern: string; readonly flags: string } {
  return typeof value === "object" && value !== null && "pattern" in value;
}

/**
 * Returns why a regular expression is not known to take linear time, or `undefined` if it takes linear time. For
 * lookaround assertions, recheck has no proof and searches for an attack.
 */
async function findNonlinearity({ literal, source, flags }: RegExpUse): Promise<string | undefined> {
  if (literal === "new RegExp") return "is built from a text, which this test cannot check";
  const result = await check(source, flags, { timeout: 100_000 });
  if (result.status === "safe") return undefined;
  return `${result.status}: ${result.status === "vulnerable" ? result.complexity.summary : result.error.kind}`;
}

const slowPatterns = [
  ["trailing slashes of a URL", "/\\/+$/"],
  ["leading or trailing characters", "/^_+|_+$/g"],
  ["the rest of a line after a marker", "/ Known: (.*)$/"],
  ["two words with spaces between them", "/^(\\S+) +(.*)$/"],
  ["a token with three segments", "/\\beyJ[\\w-]{5,}\\.[\\w-]+\\.[\\w-]*/g"],
  ["nested repetition", "/^(a+)+$/"],
] as const;

describe("the check of regular expressions", () => {
  it.each(slowPatterns)(
    "finds that a pattern for %s takes more than linear time",
    async (_, code) => {
      const [use] = findRegExps(`const pattern = ${code};`);
      expect(await findNonlinearity(use!)).toMatch(/^vulnerable: /);
    },
    120_000,
  );

  it("finds a regular expression that is built from a text", async () => {
    const [use] = findRegExps("RegExp(`${text}+$`)");
    expect(await findNonlinearity(use!)).toContain("built from a text");
  });
});

it("every regular expression of the library takes linear time [SEC-36]", async () => {
  const files = globSync(USER_CODE, { cwd: REPOSITORY }).filter(
    // The script in page-bundle.ts is built from src/cards/html/page, which this test checks.
    (file) => !/\.(?:test|fixture|contract|d)\.ts$|page-bundle\.ts$/.test(file),
  );
  const usesByLiteral = new Map<string, RegExpUse & { readonly file: string }>();
  for (const file of files)
    for (const use of findRegExps(readFileSync(REPOSITORY + file, "utf8")))
      usesByLiteral.set(use.literal, { ...use, file });
  expect(usesByLiteral.size).toBeGreaterThan(150);
  expect(Object.keys(EXCEPTIONS).filter((literal) => !usesByLiteral.has(literal))).toEqual([]);
  const findings: string[] = [];
  for (const use of usesByLiteral.values()) {
    if (Object.hasOwn(EXCEPTIONS, use.literal)) continue;
    const problem = await findNonlinearity(use);
    if (problem !== undefined) findings.push(`${use.file} ${use.literal} ${problem}`);
  }
  expect(findings).toEqual([]);
}, 600_000);
