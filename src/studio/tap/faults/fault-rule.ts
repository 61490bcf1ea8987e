import { A2AError, isStreamingOperation, type StreamingOperation } from "../../../protocol/index.ts";

/** What a fault does to a call. Events are counted from 1, and SSE comments do not count. */
export type FaultEffect =
  /** Breaks the connection of a stream after a number of events. */
  | { readonly fault: "cut"; readonly afterEvents: number }
  /** Delays the request. */
  | { readonly fault: "delay"; readonly ms: number }
  /** Replies with an HTTP error status. The agent does not receive the request. */
  | { readonly fault: "reject"; readonly status: number; readonly retryAfterSeconds?: number }
  /** Withholds one event of a stream, or the whole response. The agent receives the request. */
  | { readonly fault: "drop"; readonly event?: number }
  /** Sends an event of a stream twice. */
  | { readonly fault: "duplicate"; readonly event: number }
  /** Limits the speed of the response body. */
  | { readonly fault: "slow"; readonly bytesPerSecond: number }
  /** Resets all connections to the agent, and refuses new connections for a time. */
  | { readonly fault: "kill"; readonly ms: number; readonly afterEvents: number };

/** A fault of the tap, and the calls that it affects. */
export interface FaultRule {
  /** The text of the rule, for example `cut:after=3,every=2`. */
  readonly text: string;
  readonly effect: FaultEffect;
  /** Name of the only agent whose calls the rule matches. Default: all agents. */
  readonly agent?: string;
  /** Operations that the rule matches, or HTTP methods for requests that are not A2A. Default: see `isRuleMatch`. */
  readonly operations?: readonly string[];
  /** The rule affects each matching call whose number is a multiple of `every`. Default: 1. */
  readonly every: number;
  /** Probability from 0 to 1 that the rule affects such a call. Default: 1. */
  readonly chance: number;
  /** Seed of the random numbers. Equal seeds affect equal calls. Default: 1. */
  readonly seed: number;
  /** Maximum number of calls that the rule affects. Default: no limit. */
  readonly times: number;
}

/** The members of a call by which rules match. */
export interface FaultableCall {
  readonly agent: string;
  /** A2A operation, or the HTTP method of a request that is not A2A. */
  readonly operation: string;
  readonly isA2A: boolean;
}

type RuleValues = ReadonlyMap<string, string>;

const MATCH_KEYS = ["match", "agent", "every", "chance", "seed", "times"];

/** Parsers of the effects by their names in a rule, with the keys that each effect accepts. */
const EFFECT_PARSERS: ReadonlyMap<
  string,
  { readonly keys: readonly string[]; readonly parse: (values: RuleValues, text: string) => FaultEffect }
> = new Map([
  [
    "cut",
    {
      keys: ["after"],
      parse: (values, text) => ({ fault: "cut", afterEvents: readNumber(values, "after", text, { min: 0 }) }),
    },
  ],
  [
    "delay",
    {
      keys: ["ms"],
      parse: (values, text) => ({ fault: "delay", ms: readNumber(values, "ms", text, { min: 0 }) }),
    },
  ],
  [
    "drop",
    {
      keys: ["frame"],
      parse: (values, text) =>
        values.has("frame")
          ? { fault: "drop", event: readNumber(values, "frame", text, { min: 1 }) }
          : { fault: "drop" },
    },
  ],
  [
    "duplicate",
    {
      keys: ["frame"],
      parse: (values, text) => ({ fault: "duplicate", event: readNumber(values, "frame", text, { min: 1 }) }),
    },
  ],
  [
    "slow",
    {
      keys: ["bytes-per-s"],
      parse: (values, text) => ({
        fault: "slow",
        bytesPerSecond: readNumber(values, "bytes-per-s", text, { min: 1 }),
      }),
    },
  ],
  [
    "kill",
    {
      keys: ["ms", "after"],
      parse: (values, text) => ({
        fault: "kill",
        ms: readNumber(values, "ms", text, { min: 0, fallback: 2_000 }),
        afterEvents: readNumber(values, "after", text, { min: 0, fallback: 0 }),
      }),
    },
  ],
]);

/**
 * Parses a rule such as `cut:after=3`, `429:retry-after=2,match=SendMessage`, or `duplicate:frame=2,every=3`. Throws
 * `INVALID_PARAMS` if the text is not a rule.
 */
export function parseFaultRule(text: string): FaultRule {
  const [, name = "", rest = ""] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  const rejectStatus = /^[45]\d\d$/.test(name) ? Number(name) : undefined;
  const parser = EFFECT_PARSERS.get(name);
  if (rejectStatus === undefined && !parser) {
    const names = [...EFFECT_PARSERS.keys()].join(", ");
    throw createRuleError(text, `has no known fault; use ${names}, or an HTTP error status such as 429`);
  }
  const keys = parser?.keys ?? ["retry-after"];
  const values = parseRuleValues(rest, text, [...keys, ...MATCH_KEYS]);
  const agent = values.get("agent");
  return {
    text: text.trim(),
    effect: parser ? parser.parse(values, text) : parseRejectEffect(rejectStatus ?? 0, values, text),
    ...(agent === undefined ? {} : { agent }),
    ...(values.has("match") ? { operations: values.get("match")?.split("|") ?? [] } : {}),
    every: readNumber(values, "every", text, { min: 1, fallback: 1 }),
    chance: readNumber(values, "chance", text, { min: 0, max: 1, fallback: 1, isFraction: true }),
    seed: readNumber(values, "seed", text, { min: 0, fallback: 1 }),
    times: readNumber(values, "times", text, { min: 1, fallback: Infinity }),
  };
}

function parseRejectEffect(status: number, values: RuleValues, text: string): FaultEffect {
  if (!values.has("retry-after")) return { fault: "reject", status };
  return { fault: "reject", status, retryAfterSeconds: readNumber(values, "retry-after", text, { min: 0 }) };
}

function parseRuleValues(rest: string, text: string, keys: readonly string[]): RuleValues {
  const values = new Map<string, string>();
  for (const pair of rest === "" ? [] : rest.split(",")) {
    const [name = "", ...texts] = pair.split("=");
    const [key, value] = [name.trimStart(), texts.join("=")];
    if (!keys.includes(key) || value === "")
      throw createRuleError(
        text,
        `has ${JSON.stringify(pair)}; use KEY=VALUE with the keys ${keys.join(", ")}`,
      );
    values.set(key, value.trim());
  }
  return values;
}

function readNumber(
  values: RuleValues,
  key: string,
  text: string,
  {
    min,
    max = 1e9,
    fallback,
    isFraction = false,
  }: {
    readonly min: number;
    readonly max?: number;
    readonly fallback?: number;
    readonly isFraction?: boolean;
  },
): number {
  const value = values.get(key);
  if (value === undefined && fallback !== undefined) return fallback;
  const number = value === undefined || value === "" ? NaN : Number(value);
  if (number >= min && number <= max && (isFraction || Number.isInteger(number))) return number;
  const range = isFraction ? `a number from ${min} to ${max}` : `a whole number of at least ${min}`;
  throw createRuleError(text, `needs ${key}=NUMBER, ${range}`);
}

function createRuleError(text: string, problem: string): A2AError {
  const description = `${JSON.stringify(text.slice(0, 200))} ${problem}; an example is cut:after=3`;
  return A2AError.invalidParams([{ field: "fault", description }]);
}

/**
 * Returns whether a rule matches a call. Faults of single events match only streaming operations. Without `match`, a
 * rule matches only A2A operations, so that clients can still find agent cards.
 */
export function isRuleMatch({ effect, agent, operations }: FaultRule, call: FaultableCall): boolean {
  if (agent !== undefined && agent !== call.agent) return false;
  if (needsStream(effect) && !(call.isA2A && isStreamingOperation(call.operation as StreamingOperation)))
    return false;
  if (operations === undefined) return call.isA2A;
  return operations.includes("*") || operations.includes(call.operation);
}

/** Returns whether an effect concerns single events, which only streams have. */
function needsStream(effect: FaultEffect): boolean {
  if (effect.fault === "drop") return effect.event !== undefined;
  if (effect.fault === "kill") return effect.afterEvents > 0;
  return effect.fault === "cut" || effect.fault === "duplicate";
}

/** Returns whether a rule affects its matching call number `matchNumber`, which starts at 1. */
export function isRuleApplied({ every, chance, seed }: FaultRule, matchNumber: number): boolean {
  return matchNumber % every === 0 && pickPseudoRandomNumber(seed, matchNumber) < chance;
}

/** Returns a number from 0 up to 1 that depends only on the seed and the index (the algorithm is mulberry32). */
function pickPseudoRandomNumber(seed: number, index: number): number {
  let state = (seed + Math.imul(index, 0x6d2b79f5)) | 0;
  state = Math.imul(state ^ (state >>> 15), state | 1);
  state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
  return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
}
