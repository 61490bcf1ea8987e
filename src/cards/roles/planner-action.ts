import { type JsonObject, truncateText } from "../../protocol/index.ts";
import { isPlaceholderText } from "../index.ts";

/**
 * An action that a planner chooses. In the JSON form of an action, the member `action` selects the variant.
 */
export type PlannerAction =
  | { readonly action: "call_solver"; readonly subtask: string; readonly documents?: readonly string[] }
  | { readonly action: "final_answer"; readonly answer: string };

export type PlannerActionName = PlannerAction["action"];

export const PLANNER_ACTION_NAMES: readonly PlannerActionName[] = ["call_solver", "final_answer"];

/**
 * The action that was parsed from a model reply. If the reply is invalid, `problem` describes the error for
 * the model.
 */
type PlannerActionParseResult =
  | { readonly action: PlannerAction }
  | {
      readonly problem: string;
      /** Whether the reply repeats a placeholder of the prompt. */
      readonly isPlaceholder?: boolean;
    };

function createPlaceholderProblem(member: string): PlannerActionParseResult {
  return { problem: `"${member}" is only a placeholder; write your own text`, isPlaceholder: true };
}

/**
 * Parses the first valid planner action in a text. The parser ignores all text after the action, because
 * models often invent solver replies there. The parser never treats text without an action as an answer.
 */
export function parseAction(text: string): PlannerActionParseResult {
  let firstProblem: PlannerActionParseResult | undefined;
  for (const value of extractJsonValues(text)) {
    if (typeof value !== "object" || value === null || !("action" in value)) continue;
    const parsed = decodeAction(value);
    if ("action" in parsed) return parsed;
    firstProblem ??= parsed;
  }
  return firstProblem ?? { problem: "the reply contains no JSON object with an action" };
}

function decodeAction(
  value: { action: unknown } & Partial<Record<string, unknown>>,
): PlannerActionParseResult {
  const { action, subtask, documents, answer } = value;
  // JSON strings can contain lone surrogates, but message cards cannot.
  switch (action) {
    case "call_solver":
      if (!isNonBlankString(subtask)) return { problem: 'call_solver needs "subtask", a text' };
      if (isPlaceholderText(subtask)) return createPlaceholderProblem("subtask");
      return {
        action: { action, subtask: subtask.toWellFormed(), ...decodeDocumentTitles(documents) },
      };
    case "final_answer":
      if (typeof answer === "number" || typeof answer === "boolean")
        return { action: { action, answer: String(answer) } };
      if (!isNonBlankString(answer)) return { problem: 'final_answer needs "answer", a text' };
      if (isPlaceholderText(answer)) return createPlaceholderProblem("answer");
      return { action: { action, answer: answer.toWellFormed().trim() } };
    default:
      return {
        problem: `${truncateText(JSON.stringify(action) ?? "undefined", 60)} is not an action; use one of ${PLANNER_ACTION_NAMES.join(", ")}`,
      };
  }
}

/**
 * If the model selects no documents, `documents` is `null`, because structured output cannot omit members.
 */
function decodeDocumentTitles(value: unknown): { documents?: string[] } {
  const titles = Array.isArray(value) ? value.filter(isNonBlankString) : [];
  return titles.length > 0 ? { documents: titles } : {};
}

function isNonBlankString(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Builds the JSON Schema of a planner reply that chooses one of the given actions. The schema describes one
 * flat object, and all members of the object are required. Unused members are `null`. The schema is flat,
 * because the strict modes of model providers forbid optional members and forbid alternatives at the schema
 * root.
 */
export function buildActionSchema(names: readonly PlannerActionName[], documents: boolean): JsonObject {
  const titles: JsonObject = { type: ["array", "null"], items: { type: "string" } };
  const isOnlyAction = names.length === 1;
  const orNull = (type: string): JsonObject => ({ type: isOnlyAction ? type : [type, "null"] });
  const properties: JsonObject = { action: { type: "string", enum: [...names] } };
  if (names.includes("call_solver")) {
    properties["subtask"] = orNull("string");
    if (documents) properties["documents"] = titles;
  }
  if (names.includes("final_answer")) properties["answer"] = orNull("string");
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * Yields the JSON values in a text. If the entire text is JSON, the first value is the entire text. All JSON
 * objects in the text follow, in the order of their start positions. The function also finds nested objects
 * and objects in code fences. The scan ignores braces in JSON strings.
 */
function* extractJsonValues(text: string): Generator<unknown, void> {
  yield* tryParseJson(text);
  let budget = MAX_JSON_SCAN_CHARACTERS;
  for (let start = text.indexOf("{"); start >= 0 && budget > 0; start = text.indexOf("{", start + 1)) {
    const end = findObjectEnd(text, start, budget);
    budget -= Math.abs(end) - start;
    if (end > 0) yield* tryParseJson(text.slice(start, end));
  }
}

function* tryParseJson(text: string): Generator<unknown, void> {
  try {
    yield JSON.parse(text);
  } catch {
    // This text is not JSON. Another part of the reply may be.
  }
}

/**
 * Returns the position after the closing brace of the object at `start`. If the object has no closing brace,
 * the result is the end position of the scan as a negative number.
 */
function findObjectEnd(text: string, start: number, budget: number): number {
  const last = Math.min(text.length, start + budget);
  let depth = 0;
  let inString = false;
  for (let at = start; at < last; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -last;
}

/**
 * Maximum total number of characters that all scans of one text can read. A new scan starts at each opening
 * brace, so scans without a limit could take quadratic time.
 */
const MAX_JSON_SCAN_CHARACTERS = 4_000_000;
