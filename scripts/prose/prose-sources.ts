/** The texts that the prose linter reads, as Markdown whose line numbers are those of the file. */
import { globSync, readFileSync } from "node:fs";
import { parseSync } from "rolldown/utils";
import { isSyntaxNode, walkNodes, type SyntaxNode } from "../../test/support/syntax-tree.ts";

export interface ProseSource {
  readonly file: string;
  readonly markdown: string;
  /** Pages only: docstrings follow the formatter's width. */
  readonly isPage: boolean;
}

const PROSE_PAGE_GLOBS = ["*.md", "docs/**/*.md", "examples/**/README.md", "skills/**/*.md"];
/** Translations, the changelog, which contains former names, and installed packages. */
const EXCLUDED_PAGE_PATTERN = /^(?:README\.\w+|CHANGELOG)\.md$|node_modules/;
const COMMANDER_HELP_METHODS = new Set([
  "description",
  "summary",
  "argument",
  "option",
  "addHelpText",
  "usage",
]);

export function listProseSources(): ProseSource[] {
  const pages = [...new Set(PROSE_PAGE_GLOBS.flatMap((pattern) => globSync(pattern)))].filter(
    (file) => !EXCLUDED_PAGE_PATTERN.test(file),
  );
  const code = globSync("src/**/*.{ts,tsx}").filter(
    (file) => !/\.(?:test|fixture|contract)\.ts$|page-bundle/.test(file),
  );
  return [
    ...pages
      .toSorted()
      .map((file) => ({ file, markdown: blankGeneratedBlocks(readFileSync(file, "utf8")), isPage: true })),
    ...code.toSorted().map((file) => ({ file, markdown: extractDocstrings(file), isPage: false })),
    ...code
      .filter((file) => file.startsWith("src/cli/"))
      .map((file) => ({ file, markdown: extractHelpTexts(file), isPage: false })),
  ];
}

/** Tables made of docstrings are read where they are written. */
function blankGeneratedBlocks(page: string): string {
  return page.replaceAll(/<!-- made of .+? -->[^]*?<!-- end -->/g, replaceTextWithSpaces);
}

function extractDocstrings(file: string): string {
  const source = readFileSync(file, "utf8");
  const { comments } = parseSync(file, source, { lang: "ts" });
  const docstrings = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  return blankOutsideRanges(
    source,
    docstrings.map(({ start, end }) => [start, end]),
  )
    .replaceAll(/^ *\/\*\*|\*\/$/gm, replaceTextWithSpaces)
    .replaceAll(/\/\*\*|\*\//g, replaceTextWithSpaces)
    .replaceAll(/^ *\* ?/gm, "");
}

/** Texts of the command line's help: string arguments of commander's methods. */
function extractHelpTexts(file: string): string {
  const source = readFileSync(file, "utf8");
  const ranges: [number, number][] = [];
  for (const node of walkNodes(source)) {
    const callee = node["callee"];
    if (node.type !== "CallExpression" || !isSyntaxNode(callee)) continue;
    const property = callee["property"] as SyntaxNode | undefined;
    if (!property || !COMMANDER_HELP_METHODS.has(String(property["name"]))) continue;
    for (const argument of node["arguments"] as SyntaxNode[])
      if (argument.type === "Literal" && typeof argument["value"] === "string" && / /.test(argument["value"]))
        ranges.push([(argument["start"] as number) + 1, (argument["end"] as number) - 1]);
  }
  return blankOutsideRanges(source, ranges);
}

/** Blanks everything outside of the ranges, and separates the ranges into paragraphs. */
function blankOutsideRanges(source: string, ranges: readonly (readonly [number, number])[]): string {
  let out = "";
  let at = 0;
  for (const [start, end] of ranges) {
    out += replaceTextWithSpaces(source.slice(at, start)) + source.slice(start, end);
    at = end;
  }
  return out + replaceTextWithSpaces(source.slice(at));
}

function replaceTextWithSpaces(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
