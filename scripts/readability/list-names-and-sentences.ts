/** What a reading test draws from: every declared name of the source, and every sentence of the pages and docstrings. */
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseSync } from "rolldown/utils";
import { getSourceLanguage, isSyntaxNode, type SyntaxNode } from "../../test/support/syntax-tree.ts";

export interface DeclaredName {
  readonly name: string;
  readonly kind: string;
  readonly folder: string;
  readonly file: string;
}

export interface Sentence {
  readonly text: string;
  readonly file: string;
}

const SOURCE_GLOBS = ["src/**/*.{ts,tsx}", "lab/bench/**/*.ts", "scripts/**/*.ts"];
const PAGE_GLOBS = ["*.md", "docs/**/*.md", "examples/**/README.md", "skills/**/*.md"];
const TRANSLATED_PAGE_PATTERN = /^README\.\w+\.md$/;
/** Pages with old names and old wording. */
const PAGES_EXEMPT_FOR_OLD_WORDING: ReadonlySet<string> = new Set(["CHANGELOG.md", "docs/renames.md"]);

/** Module-level declarations, methods of classes and interfaces, and files: without tests, but with their fixtures. */
export function listNamesDeclaredInProject(): DeclaredName[] {
  return listSourceFiles()
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => {
      const folder = dirname(file);
      const base = file.slice(folder.length + 1);
      const { program } = parseSourceFile(file);
      const declared = (program.body as unknown as SyntaxNode[]).flatMap(listNamesDeclaredInStatement);
      const names = [...declared, { name: base, kind: "file" }];
      return names.map((one) => ({ ...one, folder, file }));
    })
    .filter(({ name }) => name !== "index.ts" && name !== "main.ts" && name !== "index.ts");
}

function listNamesDeclaredInStatement(statement: SyntaxNode): { name: string; kind: string }[] {
  const node = isSyntaxNode(statement["declaration"]) ? statement["declaration"] : statement;
  if (node.type === "VariableDeclaration")
    return (node["declarations"] as SyntaxNode[]).flatMap(({ id }) => {
      const name = findSyntaxNodeName(id);
      return name === undefined ? [] : [{ name, kind: "const" }];
    });
  const kind = KINDS_BY_NODE_TYPE[node.type];
  const name = findSyntaxNodeName(node["id"]);
  if (kind === undefined || name === undefined) return [];
  const body = node["body"] as { body?: unknown } | null | undefined;
  const members = Array.isArray(body?.body) && kind !== "function" ? (body.body as SyntaxNode[]) : [];
  const methods = members
    .filter(
      ({ type, kind: is }) => /^(MethodDefinition|TSMethodSignature)$/.test(type) && is !== "constructor",
    )
    .flatMap(({ key }) => findSyntaxNodeName(key) ?? [])
    .map((method) => ({ name: `${name}.${method}`, kind: "method" }));
  return [{ name, kind }, ...new Map(methods.map((one) => [one.name, one])).values()];
}

const KINDS_BY_NODE_TYPE: Readonly<Record<string, string>> = {
  FunctionDeclaration: "function",
  TSDeclareFunction: "function",
  ClassDeclaration: "class",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
};

function findSyntaxNodeName(node: unknown): string | undefined {
  if (!isSyntaxNode(node)) return undefined;
  const name = node["name"];
  return typeof name === "string" ? (node.type === "PrivateIdentifier" ? `#${name}` : name) : undefined;
}

/** Sentences of at least four words. What is generated from docstrings is counted where it is written. */
export function listProseSentencesInProject(): Sentence[] {
  const pages = PAGE_GLOBS.flatMap((pattern) => globSync(pattern)).filter(
    (file) => !TRANSLATED_PAGE_PATTERN.test(file) && !PAGES_EXEMPT_FOR_OLD_WORDING.has(file),
  );
  const fromPages = [...new Set(pages)].toSorted().flatMap((file) =>
    splitIntoSentences(extractPageProse(readFileSync(file, "utf8")))
      .filter((text) => !isListOfNames(text))
      .map((text) => ({ text, file })),
  );
  const fromDocstrings = listSourceFiles()
    .filter((file) => file.startsWith("src/") && !/\.(test|fixture|contract)\.ts$/.test(file))
    .flatMap((file) =>
      extractDocstrings(file)
        .flatMap(splitIntoSentences)
        .map((text) => ({ text, file })),
    );
  return [...fromPages, ...fromDocstrings];
}

/** Paragraphs, list items and table cells, without code blocks, HTML and what is generated. */
export function extractPageProse(page: string): string {
  return page
    .replace(/^---\n[^]*?\n---\n/, "")
    .replaceAll(/<!-- made of .+? -->[^]*?<!-- end -->/g, "\n\n")
    .replaceAll(/^( *)```[^]*?^\1```/gm, "\n\n")
    .replaceAll(/<!--[^]*?-->|!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/(`[^`\n]*`)|<[^>\n]+>/g, (_, code: string | undefined) => code ?? "")
    .replaceAll(/^#+ .*$/gm, "\n\n")
    .replaceAll(/^\|?[ :|-]+\|?$/gm, "")
    .replaceAll(/^ *(?:[-*]|\d+\.) /gm, "\n\n")
    .replaceAll(
      /^\|.*\|$/gm,
      (row) =>
        `\n\n${row
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .join("\n\n")}\n\n`,
    )
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(
      /(`[^`\n]*`)|\*\*?([^*\n]+)\*\*?/g,
      (_, code: string | undefined, emphasized: string | undefined) => code ?? emphasized ?? "",
    );
}

export function extractDocstrings(file: string): string[] {
  return parseSourceFile(file)
    .comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
    .map(({ value }) =>
      value
        .slice(1)
        .replaceAll(/^\s*\* ?/gm, "")
        .replaceAll(/```[^]*?```/g, "\n\n")
        .replaceAll(/^(?:- |@\w+ )/gm, "\n\n")
        .replaceAll(/\{@link ([^}]+)\}/g, "`$1`"),
    );
}

export function splitIntoSentences(prose: string): string[] {
  return prose
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?:]["')`]?) (?=[A-Z`"'(\d])/))
    .filter(
      (sentence) => (sentence.replaceAll(/`[^`]*`/g, "").match(/\p{L}[\p{L}\d'’-]*/gu) ?? []).length >= 4,
    );
}

/**
 * Returns true if `text` is a bare list of names, such as the table cell "engine's types, adapters, adk". Such a
 * list has commas and no final punctuation, and each of its items has at most three words and no article or verb.
 */
export function isListOfNames(text: string): boolean {
  if (/[.!?:]$/.test(text) || !text.includes(",")) return false;
  const items = text.replaceAll(/`[^`]*`/g, "code").split(/,? (?:and|or) |, /);
  return items.every((item) => item.split(" ").length <= 3 && !NO_LIST_OF_NAMES_PATTERN.test(item));
}

const NO_LIST_OF_NAMES_PATTERN = /\b(?:an?|the|is|are|its?|not|if|that|which|to|has|have|can|must)\b/i;

function listSourceFiles(): string[] {
  return SOURCE_GLOBS.flatMap((pattern) => globSync(pattern))
    .filter((file) => !file.endsWith("page-bundle.ts"))
    .toSorted();
}

function parseSourceFile(file: string): ReturnType<typeof parseSync> {
  return parseSync(file, readFileSync(file, "utf8"), { lang: getSourceLanguage(file) });
}
