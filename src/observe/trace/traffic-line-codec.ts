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

/** Returns whether a member of a line has a valid value, and describes the valid values for error messages. */
type MemberCheck = readonly [check: (value: unknown) => boolean, expected: string];

const isString = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const matches = (pattern: RegExp) => (value: unknown) => typeof value === "string" && pattern.test(value);
const isListOf = (check: MemberCheck[0]) => (value: unknown) => Array.isArray(value) && value.every(check);
const isRecordOf = (check: MemberCheck[0]) => (value: unknown) =>
  isObject(value) && Object.values(value).every(check);
/** ISO 8601 in UTC, as in docs/extensions/traffic-record-v1.schema.json. */
const TIME_PATTERN =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/;

/** Checks of members by name. */
const CHECKS = {
  string: [isString, "a string"],
  strings: [isListOf(isString), "a list of strings"],
  stringsByName: [isRecordOf(isString), "an object with strings"],
  number: [isNumber, "a number"],
  numbersByName: [isRecordOf(isNumber), "an object with numbers"],
  count: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, "a non-negative integer"],
  boolean: [(value) => typeof value === "boolean", "a boolean"],
  false: [(value) => value === false, "false"],
  object: [isObject, "an object"],
  json: [() => true, "a JSON value"],
  time: [matches(TIME_PATTERN), "a time such as 2026-11-23T10:30:00.000Z"],
  status: [(value) => isNumber(value) || isString(value), "a number or a string"],
  runId: [matches(/^[\w.:-]{1,128}$/), "1 to 128 letters, digits, or _ . : -"],
  currency: [matches(/^[A-Z]{3}$/), "a currency code such as USD"],
  parent: [
    (value) =>
      isObject(value) &&
      isString(value["task_id"]) &&
      (value["agent"] === undefined || isString(value["agent"])),
    "an object with task_id",
  ],
  attempts: [
    isListOf(
      (attempt) =>
        isObject(attempt) &&
        isString(attempt["error"]) &&
        (attempt["wait_ms"] === undefined || isNumber(attempt["wait_ms"])),
    ),
    "a list of failed attempts",
  ],
} as const satisfies Readonly<Record<string, MemberCheck>>;

type LineKind = TrafficLine["kind"];

/** The words of a text, separated by spaces. */
type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The name of a member in a word such as `call:string`, `status?:status`, or `reason=cut|stalled`. */
type NameOf<Word extends string> = Word extends `${infer Name}?${":" | "="}${string}`
  ? Name
  : Word extends `${infer Name}${":" | "="}${string}`
    ? Name
    : never;

type CheckOf<Word extends string> = Word extends `${string}:${infer Check}` ? Check : never;

/** `unknown` if the words name exactly the members of a line and existing checks, and otherwise the difference. */
type ExactMembers<Kind extends LineKind, Word extends string> = [
  | Exclude<keyof Extract<TrafficLine, { kind: Kind }>, NameOf<Word> | "kind" | "v">
  | Exclude<NameOf<Word>, keyof Extract<TrafficLine, { kind: Kind }>>
  | Exclude<CheckOf<Word>, keyof typeof CHECKS>,
] extends [never]
  ? unknown
  : { missing: Exclude<keyof Extract<TrafficLine, { kind: Kind }>, NameOf<Word> | "kind" | "v"> };

interface MemberRule {
  readonly name: string;
  readonly isRequired: boolean;
  readonly check: MemberCheck[0];
  readonly expected: string;
}

/**
 * Reads the rules of all kinds of lines. A word contains the name of a member, `?` if the member is optional, and the
 * name of its check after `:` or its values after `=`. A later word of the same member replaces an earlier one. The
 * compiler rejects words that do not name exactly the members of a line.
 */
function defineLines<const Table extends Readonly<Record<LineKind, readonly string[]>>>(
  table: Table & { readonly [Kind in LineKind]: ExactMembers<Kind, Words<Table[Kind][number]>> },
): ReadonlyMap<unknown, readonly MemberRule[]> {
  return new Map(
    Object.entries<readonly string[]>(table).map(([kind, texts]) => {
      const words = texts.flatMap((text) => text.split(" "));
      return [kind, [...new Map(words.map(parseRule).map((rule) => [rule.name, rule])).values()]];
    }),
  );
}

const ALTERNATIVES = new Intl.ListFormat("en", { type: "disjunction" });

function parseRule(word: string): MemberRule {
  const [, name = "", optional, separator, text = ""] = /^(\w+)(\??)([:=])(.+)$/.exec(word) ?? [];
  const values = text.split("|");
  const [check, expected]: MemberCheck =
    separator === ":"
      ? CHECKS[text as keyof typeof CHECKS]
      : [(value) => values.includes(value as string), ALTERNATIVES.format(values)];
  return { name, isRequired: optional === "", check, expected };
}

const BASE = "writer:string seq:count at:time mono_ms:number traceparent?:string";
const IDS = "agent?:string task_id?:string context_id?:string message_id?:string";
const RUN_IDS = "run_id?:runId sample_id?:string";

const RULES_BY_KIND = defineLines({
  writer: [BASE, "vantage=server|client|tap name:string code:string bodies:boolean"],
  agent: [BASE, "agent:string url:string card:object changes?:strings"],
  request: [
    BASE,
    IDS,
    "call:string from?:string from_address?:string to:string binding=JSONRPC|HTTP+JSON|GRPC|MCP|HTTP",
    "protocol_version?:string vantage?=client operation:string url?:string headers?:stringsByName body?:json",
    "body_bytes?:count parent?:parent after?:count reference_task_ids?:strings",
  ],
  response: [
    BASE,
    IDS,
    "call:string status?:status headers?:stringsByName body?:json body_bytes?:count duration_ms:number",
    "is_stream?:boolean state?:string error?:string",
  ],
  frame: [
    BASE,
    IDS,
    "call:string index:count event_id?:string log_seq?:count previous_log_seq?:count event?:object text?:string",
    "bytes:count",
  ],
  "stream-end": [BASE, IDS, "call:string reason=completed|cut|stalled|canceled frames:count error?:string"],
  event: [BASE, IDS, "task_id:string log_seq:count time_known?:false event?:object bytes?:count"],
  turn: [
    BASE,
    IDS,
    "task_id:string phase=begin|end attempt?:count error?:string stack?:string parent?:parent",
  ],
  model: [
    BASE,
    IDS,
    RUN_IDS,
    "call:string provider?:string model:string prompt?:json reply?:json attempts?:attempts finish_reason?:string",
    "input_tokens?:count cached_input_tokens?:count output_tokens?:count reasoning_output_tokens?:count",
    "tokens_estimated?:boolean turn?:count wait_ms?:number injected_faults?:strings price?:number",
    "currency?:currency duration_ms:number error?:string",
  ],
  tool: [
    BASE,
    IDS,
    "call:string tool:string server?:string arguments?:json result?:json duration_ms:number error?:string",
  ],
  span: [
    BASE,
    IDS,
    "name:string trace_id:string span_id:string parent_span_id?:string service?:string start_ms:number",
    "end_ms:number attributes?:object",
  ],
  push: [
    BASE,
    IDS,
    "task_id:string config_id:string log_seq?:count outcome=delivered|failed|dead reason?:string",
  ],
  fault: [
    BASE,
    IDS,
    "call?:string fault=cut|delay|reject|drop|duplicate|slow|kill index?:count detail?:string",
  ],
  run: [
    BASE,
    "run_id:runId dataset:string split?:string sample_ids:strings method:string mode?:string context?:string",
    "model:stringsByName limits?:object options?:object rule:string code:string data_sha256?:string seed?:number",
    "evidence=live-model|recorded-model|oracle|simulated|heuristic servers?:stringsByName",
    "prompts_sha256?:string",
  ],
  card: [BASE, IDS, RUN_IDS, "card:object"],
  score: [
    BASE,
    "run_id:runId sample_id:string predicted?:string gold:string correct:boolean rule:string outcome?:string",
    "turns?:count measures?:numbersByName error?:string",
  ],
  skip: [BASE, "run_id:runId sample_id:string error:string"],
  end: [
    BASE,
    "run_id:runId status=completed|interrupted|failed cards:count samples:count recorder?=degraded",
  ],
  loss: [BASE, "lines:count reason:string"],
});

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
  for (const { name, isRequired, check, expected } of RULES_BY_KIND.get(kind) ?? []) {
    const value = line[name];
    if (value === undefined ? isRequired : !check(value)) return `${name} is not ${expected}`;
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
