import { A2AError } from "../../protocol/index.ts";
import { parseCardCollectingViolations, isValidUsage } from "../message-card/parse-card.ts";
import {
  matchesFieldRules,
  isPlainObject,
  type FieldRules,
  ValidationContext,
} from "../message-card/validation/validation-context.ts";
import {
  boolean,
  nonNegativeNumber,
  nonNegativeInteger,
  id,
  list,
  object,
  oneOf,
  required,
  string,
} from "../message-card/validation/field-rules.ts";
import type { RecordLine } from "./record-line-types.ts";

/**
 * Result of decoding a line: a record line, `foreign` for another format, or `torn` for an incomplete line.
 */
type DecodedRecordLine = RecordLine | "foreign" | { readonly torn: string };

/**
 * Decodes one line of a record file. `where` contains the file name and line number for error messages, such
 * as `run.cards.jsonl:17`. Throws INVALID_PARAMS with every violation if the record line is invalid.
 */
export function decodeRecordLine(text: string, where: string): DecodedRecordLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    return { torn: cause instanceof Error ? cause.message : String(cause) };
  }
  return decodeRecordLineFromJsonValue(json, where);
}

/**
 * Validates a record line that is already parsed as JSON. The recorder validates each record line before
 * writing, because an invalid line would make the file unreadable.
 */
export function decodeRecordLineFromJsonValue(json: unknown, where: string): RecordLine | "foreign" {
  if (!isPlainObject(json)) return "foreign";
  const members = LINE_RULES_BY_KIND.get(json["kind"]);
  if (json["v"] !== 1 || !members) return "foreign";

  const at = new ValidationContext();
  matchesFieldRules(json, members, at);
  let line = json;
  if (json["kind"] === "card") {
    // `parseCardCollectingViolations` replaces null metadata with an empty object.
    at.withPathSegment(
      "card",
      () => void (line = { ...json, card: parseCardCollectingViolations(json["card"], at) }),
    );
  }
  if (at.violations.length > 0) throw createInvalidLineError(where, at);
  return line as unknown as RecordLine;
}

function createInvalidLineError(where: string, { violations }: ValidationContext): A2AError {
  const found = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  return new A2AError("INVALID_PARAMS", `${where}: ${found}. To do: correct the line or remove it.`, {
    violations: violations.map(({ field, description }) => ({ field: `${where} ${field}`, description })),
  });
}

function isTimestamp(value: unknown, at: ValidationContext): value is string {
  if (typeof value === "string" && !Number.isNaN(Date.parse(value))) return true;
  return at.addViolation("must be a time such as 2025-01-15T10:30:00.000Z");
}

function isFiniteNumber(value: unknown, at: ValidationContext): value is number {
  return Number.isFinite(value) || at.addViolation("must be a number");
}

function createEveryObjectValueRule(rule: (value: unknown, at: ValidationContext) => boolean) {
  return (value: unknown, at: ValidationContext): value is object => {
    if (!isPlainObject(value)) return at.addViolation("must be an object");
    for (const [name, item] of Object.entries(value)) at.withPathSegment(name, () => void rule(item, at));
    return true;
  };
}

const COMMON_LINE_RULES = { run_id: required(id), at: required(isTimestamp) };
const SEQUENCE_AND_TIME_RULES = { seq: required(nonNegativeInteger), mono_ms: required(isFiniteNumber) };
const CARD_A2A_REQUEST_RULES: FieldRules = {
  method: string,
  task_id: string,
  context_id: string,
  message_id: string,
};

const LINE_RULES_BY_KIND: ReadonlyMap<unknown, FieldRules> = new Map<unknown, FieldRules>([
  [
    "run",
    {
      ...COMMON_LINE_RULES,
      dataset: required(string),
      split: string,
      sample_ids: required(list(id)),
      method: required(string),
      mode: string,
      context: string,
      model: required(createEveryObjectValueRule(string)),
      limits: object,
      options: object,
      evidence: required(oneOf("live-model", "recorded-model", "oracle", "simulated", "heuristic")),
      rule: required(string),
      code: required(string),
      data_sha256: string,
      seed: isFiniteNumber,
      servers: createEveryObjectValueRule(string),
      prompts_sha256: string,
    },
  ],
  [
    "card",
    {
      ...COMMON_LINE_RULES,
      ...SEQUENCE_AND_TIME_RULES,
      sample_id: id,
      dir: required(oneOf("out", "in", "relayed")),
      at_role: required(id),
      a2a: (value, at): value is object =>
        isPlainObject(value)
          ? matchesFieldRules(value, CARD_A2A_REQUEST_RULES, at)
          : at.addViolation("must be an object"),
      // The member `card` is validated by `parseCardCollectingViolations`.
    },
  ],
  [
    "call",
    {
      ...COMMON_LINE_RULES,
      ...SEQUENCE_AND_TIME_RULES,
      sample_id: id,
      role: required(id),
      turn: nonNegativeInteger,
      card_id: required(id),
      model: required(string),
      usage: required(isValidUsage),
      duration_ms: required(nonNegativeNumber),
      finish: required(string),
      error: string,
      wait_ms: nonNegativeNumber,
    },
  ],
  [
    "score",
    {
      ...COMMON_LINE_RULES,
      sample_id: required(id),
      predicted: string,
      gold: required(string),
      correct: required(boolean),
      rule: required(string),
      outcome: string,
      turns: nonNegativeInteger,
      measures: createEveryObjectValueRule(isFiniteNumber),
      error: string,
    },
  ],
  ["skip", { ...COMMON_LINE_RULES, sample_id: required(id), error: required(string) }],
  [
    "end",
    {
      ...COMMON_LINE_RULES,
      status: required(oneOf("completed", "interrupted", "failed")),
      cards: required(nonNegativeInteger),
      samples: required(nonNegativeInteger),
      recorder: oneOf("degraded"),
    },
  ],
]);
