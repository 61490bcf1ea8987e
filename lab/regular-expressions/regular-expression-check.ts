import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { requireFromManifest } from "../support/require-from-manifest.ts";
import { getSourceLanguage, isSyntaxNode, walkNodes } from "../../test/support/syntax-tree.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
/** The code that users run: the library, its page, the command line, and the skills. */
const USER_CODE = "{src,bin,skills}/**/*.{ts,tsx,js,mjs}";

/** Regular expressions that need no proof, each with the reason why the tool cannot give one or is not needed. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "/^\\p{RGI_Emoji}$/v":
    "recheck does not know the flag v; the pattern is anchored, and its strings have at most ten characters",
  "/(-?\\d+(?:\\.\\d+)?)\\s*([a-z°/]+[23]?)\\s+(?:to|in|into|as)\\s+([a-z°/]+[23]?)/i":
    "assistant-model-script.ts cuts the request at 2,000 characters",
  "/(\\d+(?:\\.\\d+)?)\\s*(?:%|percent)\\s+of\\s+/gi":
    "assistant-model-script.ts cuts the request at 2,000 characters",
  '/"(?:[^"\\\\]|\\\\.)*"(:)?/g':
    "shared-text-encoder.ts reads the JSON of the writer, in which every string has an end",
  "new RegExp in src/studio/judge/acts/assertions.ts":
    "colloquy conformance compares responses with the patterns of the test suites and of the user's own file",
  "new RegExp in src/wire/route-matcher.ts":
    "from our own path templates: anchored segments between slashes, of which the last can be before a verb",
  "new RegExp in src/cli/test/test-file.ts": "see run-conversation-test.ts",
  "new RegExp in src/cli/test/run-conversation-test.ts":
    "colloquy test compares answers with the regular expressions of the user's own test file",
};

/** The part of `recheck` that this check uses. */
interface Recheck {
  check(
    source: string,
    flags: string,
    options: { readonly timeout: number },
  ): Promise<
    | { readonly status: "safe" }
    | { readonly status: "vulnerable"; readonly complexity: { readonly summary: string } }
    | { readonly status: "unknown"; readonly error: { readonly kind: string } }
  >;
}

interface RegExpUse {
  readonly literal: string;
  readonly source: string;
  readonly flags: string;
}

/** Yields each regular expression of a TypeScript source. A `RegExp` from a text has the literal `new RegExp`. */
export function* findRegExps(code: string, language: "ts" | "tsx" = "ts"): Generator<RegExpUse> {
  for (const node of walkNodes(code, language)) {
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

/** Returns each regular expression of the code that users run once, with a file that contains it. */
export function listRegExpsOfUserCode(): readonly (RegExpUse & { readonly file: string })[] {
  const files = globSync(USER_CODE, { cwd: REPOSITORY }).filter(
    // The scripts in page-bundle.ts files are built from src/studio/pages, which this check reads.
    (file) => !/\.(?:test|fixture|contract|d)\.ts$|page-bundle\.ts$/.test(file),
  );
  const usesByLiteral = new Map<string, RegExpUse & { readonly file: string }>();
  for (const file of files)
    for (const use of findRegExps(readFileSync(REPOSITORY + file, "utf8"), getSourceLanguage(file))) {
      const literal = use.literal === "new RegExp" ? `new RegExp in ${file}` : use.literal;
      usesByLiteral.set(literal, { ...use, literal, file });
    }
  return [...usesByLiteral.values()];
}

/** Returns the exceptions that no regular expression needs anymore. */
export function listUnusedExceptions(uses: readonly RegExpUse[]): string[] {
  return Object.keys(EXCEPTIONS).filter((exception) => !uses.some(({ literal }) => literal === exception));
}

let recheck: Recheck | undefined;

/**
 * Returns why a regular expression is not known to take linear time, or `undefined` if it takes linear time. For
 * lookaround assertions, recheck has no proof and searches for an attack.
 */
export async function findNonlinearity({ literal, source, flags }: RegExpUse): Promise<string | undefined> {
  if (Object.hasOwn(EXCEPTIONS, literal)) return undefined;
  if (literal.startsWith("new RegExp")) return "is built from a text, which this check cannot read";
  recheck ??= requireFromManifest<Recheck>("regular-expressions", "lab/regular-expressions", "recheck");
  const result = await recheck.check(source, flags, { timeout: 300_000 });
  if (result.status === "safe") return undefined;
  return `${result.status}: ${result.status === "vulnerable" ? result.complexity.summary : result.error.kind}`;
}
