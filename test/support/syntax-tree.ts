import { parseAst } from "vitest/node";

/** A node of a syntax tree. Its other fields depend on its type. */
export interface SyntaxNode {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Yields every node of a TypeScript source, parents before children, in source order. */
export function* walkNodes(source: string, language: "ts" | "tsx" = "ts"): Generator<SyntaxNode> {
  yield* walkValue(parseAst(source, { lang: language }));
}

/** Returns the language of a source file. JSX changes the meaning of `<`, so that the file name decides. */
export function getSourceLanguage(file: string): "ts" | "tsx" {
  return file.endsWith(".tsx") ? "tsx" : "ts";
}

function* walkValue(value: unknown): Generator<SyntaxNode> {
  if (Array.isArray(value)) for (const element of value) yield* walkValue(element);
  else if (isSyntaxNode(value)) {
    yield value;
    for (const field of Object.values(value)) yield* walkValue(field);
  }
}

export function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value;
}

/** Yields every string in string and template literals below a node. */
export function* walkTexts(value: unknown): Generator<string> {
  for (const node of walkValue(value)) {
    if (node.type === "Literal" && typeof node["value"] === "string") yield node["value"];
    if (node.type === "TemplateElement") yield (node["value"] as { raw: string }).raw;
  }
}
