import { isObject, type JsonObject } from "../../protocol/index.ts";
import type { TrafficLine } from "./traffic-line-types.ts";

/**
 * A decoded line of a record file. `other` is a line of another format, of a later version, or of a run that an earlier
 * version recorded. `unreadable` is a torn or invalid line, with the reason.
 */
export type DecodedTrafficLine =
  | { readonly type: "traffic"; readonly line: TrafficLine }
  | { readonly type: "other"; readonly json: JsonObject }
  | { readonly type: "unreadable"; readonly reason: string };

/** Decodes one line of a record file. Never throws. Unknown members of a line are kept. */
export function decodeTrafficLine(text: string): DecodedTrafficLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    return { type: "unreadable", reason: cause instanceof Error ? cause.message : String(cause) };
  }
  return decodeTrafficLineJson(json);
}

/** Decodes a line that is already parsed as JSON, for example an element of an embedded record. Never throws. */
export function decodeTrafficLineJson(json: unknown): DecodedTrafficLine {
  if (!isObject(json)) return { type: "unreadable", reason: "the line is not a JSON object" };
  const { v, kind } = json;
  if (v !== 1 || !isTrafficLineKind(kind)) return { type: "other", json };
  // Earlier versions recorded message cards in lines of these kinds without a writer.
  if (json["writer"] === undefined && typeof json["run_id"] === "string") return { type: "other", json };
  const violation = findTrafficLineViolation(kind, json);
  if (violation !== undefined) return { type: "unreadable", reason: `${kind} line: ${violation}` };
  return { type: "traffic", line: json as unknown as TrafficLine };
}

/** Decodes the complete text of a record, and returns its traffic lines. */
export function decodeTrafficLines(text: string): TrafficLine[] {
  return text.split("\n").flatMap((one) => {
    const decoded = one === "" ? undefined : decodeTrafficLine(one);
    return decoded?.type === "traffic" ? [decoded.line] : [];
  });
}

/** Returns whether a member of a line has a valid value. */
type MemberCheck = (value: unknown) => boolean;

interface MemberRule {
  readonly isRequired: boolean;
  readonly check: MemberCheck;
  /** Description of the valid values for error messages, such as `a string`. */
  readonly expected: string;
}

/** Rules for the members of one kind of line. Compilation fails if a member has no rule. */
type LineRules<Line> = { readonly [Member in Exclude<keyof Line, "v" | "kind">]-?: MemberRule };

const isString: MemberCheck = (value) => typeof value === "string";
const isBoolean: MemberCheck = (value) => typeof value === "boolean";
const isNumber: MemberCheck = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: MemberCheck = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
/** ISO 8601 in UTC, as in docs/extensions/traffic-record-v1.schema.json. */
const TIME_PATTERN =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/;
const isTime: MemberCheck = (value) => typeof value === "string" && TIME_PATTERN.test(value);
const isCurrency: MemberCheck = (value) => typeof value === "string" && /^[A-Z]{3}$/.test(value);
const isStringRecord: MemberCheck = (value) => isObject(value) && Object.values(value).every(isString);
const isParentTask: MemberCheck = (value) =>
  isObject(value) && isString(value["task_id"]) && (value["agent"] === undefined || isString(value["agent"]));
const isStringList: MemberCheck = (value) => Array.isArray(value) && value.every(isString);
const isAttemptList: MemberCheck = (value) =>
  Array.isArray(value) &&
  value.every(
    (attempt) =>
      isObject(attempt) &&
      isString(attempt["error"]) &&
      (attempt["wait_ms"] === undefined || isNumber(attempt["wait_ms"])),
  );

const required = (check: MemberCheck, expected: string): MemberRule => ({
  isRequired: true,
  check,
  expected,
});
const optional = (check: MemberCheck, expected: string): MemberRule => ({
  isRequired: false,
  check,
  expected,
});
const isOneOf =
  (...values: readonly string[]): MemberCheck =>
  (value) =>
    values.includes(value as string);

const STRING = required(isString, "a string");
const COUNT = required(isCount, "a non-negative integer");
const NUMBER = required(isNumber, "a number");
const BOOLEAN = required(isBoolean, "a boolean");
const OPTIONAL_STRING = optional(isString, "a string");
const OPTIONAL_COUNT = optional(isCount, "a non-negative integer");
const OPTIONAL_NUMBER = optional(isNumber, "a number");
const OPTIONAL_OBJECT = optional(isObject, "an object");
const ANY_JSON = optional(() => true, "a JSON value");
const OPTIONAL_HEADERS = optional(isStringRecord, "an object with strings");
const OPTIONAL_STATUS = optional((value) => isNumber(value) || isString(value), "a number or a string");
const OPTIONAL_PARENT = optional(isParentTask, "an object with task_id");

const BASE = {
  writer: STRING,
  seq: COUNT,
  at: required(isTime, "a time such as 2026-11-23T10:30:00.000Z"),
  mono_ms: NUMBER,
  traceparent: OPTIONAL_STRING,
};
const isRunId: MemberCheck = (value) => typeof value === "string" && /^[\w.:-]{1,128}$/.test(value);
const RUN_ID = required(isRunId, "1 to 128 letters, digits, or _ . : -");
const RUN_IDS = {
  run_id: optional(isRunId, "1 to 128 letters, digits, or _ . : -"),
  sample_id: OPTIONAL_STRING,
};
const OPTIONAL_NUMBERS = optional(
  (value) => isObject(value) && Object.values(value).every(isNumber),
  "an object with numbers",
);
const IDS = {
  agent: OPTIONAL_STRING,
  task_id: OPTIONAL_STRING,
  context_id: OPTIONAL_STRING,
  message_id: OPTIONAL_STRING,
};

const RULES: { readonly [Kind in TrafficLine["kind"]]: LineRules<Extract<TrafficLine, { kind: Kind }>> } = {
  writer: {
    ...BASE,
    vantage: required(isOneOf("server", "client", "tap"), "server, client, or tap"),
    name: STRING,
    code: STRING,
    bodies: BOOLEAN,
  },
  agent: {
    ...BASE,
    agent: STRING,
    url: STRING,
    card: required(isObject, "an object"),
    changes: optional(isStringList, "a list of strings"),
  },
  request: {
    ...BASE,
    ...IDS,
    call: STRING,
    from: OPTIONAL_STRING,
    from_address: OPTIONAL_STRING,
    to: STRING,
    binding: required(isOneOf("JSONRPC", "HTTP+JSON", "GRPC", "MCP", "HTTP"), "the name of a binding"),
    protocol_version: OPTIONAL_STRING,
    vantage: optional(isOneOf("client"), "client"),
    operation: STRING,
    url: OPTIONAL_STRING,
    headers: OPTIONAL_HEADERS,
    body: ANY_JSON,
    body_bytes: OPTIONAL_COUNT,
    parent: OPTIONAL_PARENT,
    after: OPTIONAL_COUNT,
    reference_task_ids: optional(isStringList, "a list of strings"),
  },
  response: {
    ...BASE,
    ...IDS,
    call: STRING,
    status: OPTIONAL_STATUS,
    headers: OPTIONAL_HEADERS,
    body: ANY_JSON,
    body_bytes: OPTIONAL_COUNT,
    duration_ms: NUMBER,
    is_stream: optional(isBoolean, "a boolean"),
    state: OPTIONAL_STRING,
    error: OPTIONAL_STRING,
  },
  frame: {
    ...BASE,
    ...IDS,
    call: STRING,
    index: COUNT,
    event_id: OPTIONAL_STRING,
    log_seq: OPTIONAL_COUNT,
    previous_log_seq: OPTIONAL_COUNT,
    event: OPTIONAL_OBJECT,
    text: OPTIONAL_STRING,
    bytes: COUNT,
  },
  "stream-end": {
    ...BASE,
    ...IDS,
    call: STRING,
    reason: required(
      isOneOf("completed", "cut", "stalled", "canceled"),
      "completed, cut, stalled, or canceled",
    ),
    frames: COUNT,
    error: OPTIONAL_STRING,
  },
  event: {
    ...BASE,
    ...IDS,
    task_id: STRING,
    log_seq: COUNT,
    time_known: optional((value) => value === false, "false"),
    event: OPTIONAL_OBJECT,
    bytes: OPTIONAL_COUNT,
  },
  turn: {
    ...BASE,
    ...IDS,
    task_id: STRING,
    phase: required(isOneOf("begin", "end"), "begin or end"),
    attempt: OPTIONAL_COUNT,
    error: OPTIONAL_STRING,
    stack: OPTIONAL_STRING,
    parent: OPTIONAL_PARENT,
  },
  model: {
    ...BASE,
    ...IDS,
    ...RUN_IDS,
    call: STRING,
    provider: OPTIONAL_STRING,
    model: STRING,
    prompt: ANY_JSON,
    reply: ANY_JSON,
    attempts: optional(isAttemptList, "a list of failed attempts"),
    finish_reason: OPTIONAL_STRING,
    input_tokens: OPTIONAL_COUNT,
    cached_input_tokens: OPTIONAL_COUNT,
    output_tokens: OPTIONAL_COUNT,
    reasoning_output_tokens: OPTIONAL_COUNT,
    tokens_estimated: optional(isBoolean, "a boolean"),
    turn: OPTIONAL_COUNT,
    wait_ms: OPTIONAL_NUMBER,
    injected_faults: optional(isStringList, "a list of texts"),
    price: OPTIONAL_NUMBER,
    currency: optional(isCurrency, "a currency code such as USD"),
    duration_ms: NUMBER,
    error: OPTIONAL_STRING,
  },
  tool: {
    ...BASE,
    ...IDS,
    call: STRING,
    tool: STRING,
    server: OPTIONAL_STRING,
    arguments: ANY_JSON,
    result: ANY_JSON,
    duration_ms: NUMBER,
    error: OPTIONAL_STRING,
  },
  span: {
    ...BASE,
    ...IDS,
    name: STRING,
    trace_id: STRING,
    span_id: STRING,
    parent_span_id: OPTIONAL_STRING,
    service: OPTIONAL_STRING,
    start_ms: NUMBER,
    end_ms: NUMBER,
    attributes: OPTIONAL_OBJECT,
  },
  push: {
    ...BASE,
    ...IDS,
    task_id: STRING,
    config_id: STRING,
    log_seq: OPTIONAL_COUNT,
    outcome: required(isOneOf("delivered", "failed", "dead"), "delivered, failed, or dead"),
    reason: OPTIONAL_STRING,
  },
  fault: {
    ...BASE,
    ...IDS,
    call: OPTIONAL_STRING,
    fault: required(
      isOneOf("cut", "delay", "reject", "drop", "duplicate", "slow", "kill"),
      "the name of a fault",
    ),
    index: OPTIONAL_COUNT,
    detail: OPTIONAL_STRING,
  },
  run: {
    ...BASE,
    run_id: RUN_ID,
    dataset: STRING,
    split: OPTIONAL_STRING,
    sample_ids: required(isStringList, "a list of strings"),
    method: STRING,
    mode: OPTIONAL_STRING,
    context: OPTIONAL_STRING,
    model: required(isStringRecord, "an object with strings"),
    limits: OPTIONAL_OBJECT,
    options: OPTIONAL_OBJECT,
    evidence: required(
      isOneOf("live-model", "recorded-model", "oracle", "simulated", "heuristic"),
      "the name of a kind of evidence",
    ),
    rule: STRING,
    code: STRING,
    data_sha256: OPTIONAL_STRING,
    seed: OPTIONAL_NUMBER,
    servers: OPTIONAL_HEADERS,
    prompts_sha256: OPTIONAL_STRING,
  },
  card: { ...BASE, ...IDS, ...RUN_IDS, card: required(isObject, "an object") },
  score: {
    ...BASE,
    run_id: RUN_ID,
    sample_id: STRING,
    predicted: OPTIONAL_STRING,
    gold: STRING,
    correct: BOOLEAN,
    rule: STRING,
    outcome: OPTIONAL_STRING,
    turns: OPTIONAL_COUNT,
    measures: OPTIONAL_NUMBERS,
    error: OPTIONAL_STRING,
  },
  skip: { ...BASE, run_id: RUN_ID, sample_id: STRING, error: STRING },
  end: {
    ...BASE,
    run_id: RUN_ID,
    status: required(isOneOf("completed", "interrupted", "failed"), "completed, interrupted, or failed"),
    cards: COUNT,
    samples: COUNT,
    recorder: optional(isOneOf("degraded"), "degraded"),
  },
  loss: { ...BASE, lines: COUNT, reason: STRING },
};

/** The rules of each kind as lists, because a loop over a list is faster than over an object. */
const RULES_BY_KIND: ReadonlyMap<unknown, readonly (readonly [string, MemberRule])[]> = new Map(
  Object.entries(RULES).map(([kind, rules]) => [kind, Object.entries<MemberRule>(rules)]),
);

/** Returns whether `kind` is a kind of traffic line. */
function isTrafficLineKind(kind: unknown): kind is TrafficLine["kind"] {
  return RULES_BY_KIND.has(kind);
}

/**
 * Returns the first violation of a line of a known kind, such as `seq is not a non-negative integer`, or `undefined`
 * if the line is valid.
 */
function findTrafficLineViolation(
  kind: TrafficLine["kind"],
  line: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const [member, { isRequired, check, expected }] of RULES_BY_KIND.get(kind) ?? []) {
    const value = line[member];
    if (value === undefined ? isRequired : !check(value)) return `${member} is not ${expected}`;
  }
  return undefined;
}

/** Members of a line that the caller has as JSON text, such as `event` or `body`. */
export type RawTrafficMembers = Readonly<Record<string, string>>;

/**
 * Encodes a line as one line of JSON without a newline. `rawMembers` contains members as JSON text, which must not
 * contain a line end. The encoder does not parse the text.
 */
export function encodeTrafficLine(line: TrafficLine, rawMembers?: RawTrafficMembers): string {
  let text = JSON.stringify(line);
  if (!rawMembers) return text;
  text = text.slice(0, -1);
  for (const name in rawMembers) text += `,${JSON.stringify(name)}:${rawMembers[name]}`;
  return `${text}}`;
}

/** Returns false for an event whose commit no writer observed. All other lines have a known time. */
export function hasKnownTime(line: TrafficLine): boolean {
  return line.kind !== "event" || line.time_known !== false;
}
