import { isSyntaxNode, walkNodes, walkTexts } from "../support/syntax-tree.ts";

const SUITE_FUNCTIONS = new Set(["describe", "it", "test"]);

/** Returns the ids in brackets in the titles of tests and groups, and in the tables of `it.each`. */
export function findCitations(source: string, id: RegExp): string[] {
  const ids: string[] = [];
  for (const node of walkNodes(source)) {
    if (node.type !== "CallExpression" || !SUITE_FUNCTIONS.has(getRootName(node["callee"]))) continue;
    const [title] = node["arguments"] as unknown[];
    const isFunction = isSyntaxNode(title) && title.type.endsWith("FunctionExpression");
    if (!isFunction) for (const text of walkTexts(title)) ids.push(...parseCitedIds(text, id));
  }
  return ids;
}

/** Returns `it` for the callee of `it(…)`, `it.skipIf(…)(…)`, and `it.each(…)(…)`. */
function getRootName(callee: unknown): string {
  if (!isSyntaxNode(callee)) return "";
  if (callee.type === "Identifier") return String(callee["name"]);
  return getRootName(callee["object"] ?? callee["callee"]);
}

/**
 * Returns the ids in a title. `id` is the pattern of an id. Brackets with any other content are not
 * citations.
 */
export function parseCitedIds(title: string, id: RegExp): string[] {
  return [...title.matchAll(/\[([^\]]+)\]/g)].flatMap(([, list = ""]) => {
    const ids = list.split(",").map((one) => one.trim());
    return ids.every((one) => id.test(one)) ? ids : [];
  });
}

/** Pattern of the ids in `requirements.ts`. */
export const REQUIREMENT_ID: RegExp = /^([A-Z]-\d\d|[BE]\d\d?|1\.L)$/;

/** Pattern of the ids in `cli-requirements.ts`. */
export const CLI_REQUIREMENT_ID: RegExp = /^[A-Z]+(?:_[A-Z]+)*_\d{3}$/;
