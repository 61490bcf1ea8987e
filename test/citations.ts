import { isNode, nodesOf, textsIn } from "./syntax.ts";

const SUITE = new Set(["describe", "it", "test"]);

/** The ids in brackets in the titles of tests and groups, and in the tables of `it.each`. */
export function citationsIn(source: string, id: RegExp): string[] {
  const ids: string[] = [];
  for (const node of nodesOf(source)) {
    if (node.type !== "CallExpression" || !SUITE.has(rootOf(node["callee"]))) continue;
    const [title] = node["arguments"] as unknown[];
    const isFunction = isNode(title) && title.type.endsWith("FunctionExpression");
    if (!isFunction) for (const text of textsIn(title)) ids.push(...idsIn(text, id));
  }
  return ids;
}

/** `it` for the callee of `it(…)`, `it.skipIf(…)(…)` and `it.each(…)(…)`. */
function rootOf(callee: unknown): string {
  if (!isNode(callee)) return "";
  if (callee.type === "Identifier") return String(callee["name"]);
  return rootOf(callee["object"] ?? callee["callee"]);
}

/** The ids of a title; `id` is what one looks like. Brackets with anything else in them are no citation. */
export function idsIn(title: string, id: RegExp): string[] {
  return [...title.matchAll(/\[([^\]]+)\]/g)].flatMap(([, list = ""]) => {
    const ids = list.split(",").map((one) => one.trim());
    return ids.every((one) => id.test(one)) ? ids : [];
  });
}

/** Of `requirements.ts`. */
export const REQUIREMENT_ID: RegExp = /^([A-Z]-\d\d|E\d\d?|1\.L)$/;

/** Of `cli-requirements.ts`. */
export const CLI_ID: RegExp = /^[A-Z]+(?:_[A-Z]+)*_\d{3}$/;
