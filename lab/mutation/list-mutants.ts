import { createHash } from "node:crypto";
import { isSyntaxNode, walkNodes, type SyntaxNode } from "../../test/support/syntax-tree.ts";

/** One small change of a source that a test should notice. */
export interface Mutant {
  /** Line of the change in the source, from 1. */
  readonly line: number;
  /** Offsets of the replaced text. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly kind: "expression" | "spread" | "statement";
  /** The change as text, such as `a === b → a !== b`. */
  readonly change: string;
  /** Stable id: a hash of the change, its line of code, and its position among equal changes. */
  readonly id: string;
}

type Edit = Pick<Mutant, "start" | "end" | "replacement" | "kind">;
type LocatedNode = SyntaxNode & { readonly start: number; readonly end: number };

const OPPOSITE_OPERATORS: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
};

/** Nodes whose content exists only for the compiler. */
const SKIPPED_NODE_PATTERN = /^(?:TS(?!NonNull|As|Satisfies)|Import(?!Expression)|Export(?:All|Specifier))/;

/** Fields with types, and with the names of members and modules, which are not behavior. */
const SKIPPED_FIELDS: ReadonlySet<string> = new Set(["typeAnnotation", "returnType", "source"]);

/** Lists all mutants of a TypeScript source, in source order. */
export function listMutants(source: string): Mutant[] {
  const edits: Edit[] = [];
  const [program] = walkNodes(source);
  if (program) collectEdits(program as LocatedNode, source, edits);
  const seen = new Map<string, number>();
  return edits
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map((edit) => {
      const line = source.slice(0, edit.start).split("\n").length;
      const code = (source.split("\n")[line - 1] ?? "").trim();
      const change = `${shorten(source.slice(edit.start, edit.end))} → ${shorten(edit.replacement) || "nothing"}`;
      const key = `${code}\0${change}`;
      const position = seen.get(key) ?? 0;
      seen.set(key, position + 1);
      const id = createHash("sha256").update(`${key}\0${position}`).digest("hex").slice(0, 8);
      return { ...edit, line, change, id };
    });
}

/** Returns the source with one mutant. */
export function applyMutant(
  source: string,
  { start, end, replacement }: Pick<Mutant, "start" | "end" | "replacement">,
): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function collectEdits(node: LocatedNode, source: string, edits: Edit[]): void {
  if (SKIPPED_NODE_PATTERN.test(node.type)) return;
  edits.push(...mutateNode(node, source));
  for (const [field, value] of Object.entries(node)) {
    if (SKIPPED_FIELDS.has(field) || (field === "key" && !node["computed"])) continue;
    const children: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const child of children)
      if (isSyntaxNode(child) && !isDirective(child)) collectEdits(child as LocatedNode, source, edits);
  }
}

function isDirective(node: SyntaxNode): boolean {
  return node.type === "ExpressionStatement" && typeof node["directive"] === "string";
}

function mutateNode(node: LocatedNode, source: string): Edit[] {
  const text = (part: unknown): string => {
    const { start, end } = part as LocatedNode;
    return source.slice(start, end);
  };
  const replace = (part: unknown, replacement: string, kind: Edit["kind"] = "expression"): Edit => {
    const { start, end } = part as LocatedNode;
    return { start, end, replacement, kind };
  };
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression": {
      const test = node["test"] as LocatedNode;
      return [replace(test, `!(${text(test)})`)];
    }
    case "BinaryExpression":
    case "LogicalExpression": {
      const [left, right, operator] = [text(node["left"]), text(node["right"]), String(node["operator"])];
      if (operator === "??") return [replace(node, `(${left})`)];
      const opposite = OPPOSITE_OPERATORS[operator];
      if (opposite === undefined) return [];
      // Each operand stays in parentheses, because the opposite operator may bind differently.
      return [replace(node, `((${left}) ${opposite} (${right}))`)];
    }
    case "UnaryExpression":
      return node["operator"] === "!" ? [replace(node, text(node["argument"]))] : [];
    case "Literal": {
      const value = node["value"];
      if (typeof value === "boolean") return [replace(node, String(!value))];
      if (typeof value === "number") return [replace(node, String(value + 1))];
      if (typeof value === "string" && value !== "") return [replace(node, '""')];
      return [];
    }
    case "ArrayExpression":
      return (node["elements"] as unknown[]).length > 0 ? [replace(node, "[]")] : [];
    case "SpreadElement":
      return [replace(node, `...[]`, "spread")].filter(() => source[node.start - 1] === "[");
    case "ExpressionStatement":
      return [replace(node, ";", "statement")];
    case "ReturnStatement":
      // A caller cannot tell `undefined` from `false`, and the literal `false` becomes `true` anyway.
      return node["argument"] && !isBooleanOrUndefined(node["argument"])
        ? [replace(node, "return undefined;", "statement")]
        : [];
    default:
      return [];
  }
}

function isBooleanOrUndefined(node: unknown): boolean {
  if (!isSyntaxNode(node)) return false;
  return node.type === "Literal" ? typeof node["value"] === "boolean" : node["name"] === "undefined";
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 97)}…` : line;
}
