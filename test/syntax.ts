import { parseAst } from "vitest/node";

/** A node of a syntax tree; which further fields it has depends on its type. */
export interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Every node of a TypeScript source, parents before children, in the order of the text. */
export function* nodesOf(source: string): Generator<Node> {
  yield* descend(parseAst(source, { lang: "ts" }));
}

function* descend(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const element of value) yield* descend(element);
  else if (isNode(value)) {
    yield value;
    for (const field of Object.values(value)) yield* descend(field);
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** Every piece of text in string and template literals below a node. */
export function* textsIn(value: unknown): Generator<string> {
  for (const node of descend(value)) {
    if (node.type === "Literal" && typeof node["value"] === "string") yield node["value"];
    if (node.type === "TemplateElement") yield (node["value"] as { raw: string }).raw;
  }
}
