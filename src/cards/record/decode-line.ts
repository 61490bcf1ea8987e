import { A2AError } from "../../protocol/index.ts";
import { readCard, usageOf } from "../card/parse-card.ts";
import { hasMembers, isObject, type Members, Reading } from "../card/reading.ts";
import { amount, count, id, list, object, oneOf, required, string } from "../card/rules.ts";
import type { RecordLine } from "./lines.ts";

/** What stands on a line: one of ours, somebody else's, or the remains of one. */
export type LineRead = RecordLine | "foreign" | { readonly torn: string };

/**
 * A line of a record. `where` is its file and number, `run.cards.jsonl:17`; errors begin with it. Throws INVALID_PARAMS
 * when it is one of ours and not as it should be, with every violation.
 */
export function decodeLine(text: string, where: string): LineRead {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    return { torn: cause instanceof Error ? cause.message : String(cause) };
  }
  return readLine(json, where);
}

/** `decodeLine` of JSON that has been read. Whoever writes a line asks this first: one that is refused would spoil the file. */
export function readLine(json: unknown, where: string): RecordLine | "foreign" {
  if (!isObject(json)) return "foreign";
  const members = MEMBERS.get(json["kind"]);
  if (json["v"] !== 1 || !members) return "foreign";

  const at = new Reading();
  hasMembers(json, members, at);
  let line = json;
  if (json["kind"] === "card") {
    // The card's own reader makes an object of metadata that is null.
    at.inside("card", () => void (line = { ...json, card: readCard(json["card"], at) }));
  }
  if (at.violations.length > 0) throw refused(where, at);
  return line as unknown as RecordLine;
}

function refused(where: string, { violations }: Reading): A2AError {
  const found = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  return new A2AError("INVALID_PARAMS", `${where}: ${found}. To do: put the line right, or take it out.`, {
    violations: violations.map(({ field, description }) => ({ field: `${where} ${field}`, description })),
  });
}

function time(value: unknown, at: Reading): value is string {
  if (typeof value === "string" && !Number.isNaN(Date.parse(value))) return true;
  return at.refuse("must be a time as in 2025-01-15T10:30:00.000Z");
}

function flag(value: unknown, at: Reading): value is boolean {
  return typeof value === "boolean" || at.refuse("must be true or false");
}

function finite(value: unknown, at: Reading): value is number {
  return Number.isFinite(value) || at.refuse("must be a number");
}

function each(rule: (value: unknown, at: Reading) => boolean) {
  return (value: unknown, at: Reading): value is object => {
    if (!isObject(value)) return at.refuse("must be an object");
    for (const [name, one] of Object.entries(value)) at.inside(name, () => void rule(one, at));
    return true;
  };
}

const LINE = { run_id: required(id), at: required(time) };
const STAMPS = { seq: required(count), mono_ms: required(finite) };
const CARRIER: Members = { method: string, task_id: string, context_id: string, message_id: string };

const MEMBERS: ReadonlyMap<unknown, Members> = new Map<unknown, Members>([
  [
    "run",
    {
      ...LINE,
      dataset: required(string),
      split: string,
      sample_ids: required(list(id)),
      method: required(string),
      mode: string,
      context: string,
      model: required(each(string)),
      limits: object,
      options: object,
      evidence: required(oneOf("live-model", "recorded-model", "oracle", "simulated", "heuristic")),
      rule: required(string),
      code: required(string),
      data_sha256: string,
      seed: finite,
    },
  ],
  [
    "card",
    {
      ...LINE,
      ...STAMPS,
      sample_id: id,
      dir: required(oneOf("out", "in", "relayed")),
      at_role: required(id),
      a2a: (value, at): value is object =>
        isObject(value) ? hasMembers(value, CARRIER, at) : at.refuse("must be an object"),
      // `card` is read by the card's own reader.
    },
  ],
  [
    "call",
    {
      ...LINE,
      ...STAMPS,
      sample_id: id,
      role: required(id),
      turn: count,
      card_id: required(id),
      model: required(string),
      usage: required(usageOf),
      duration_ms: required(amount),
      finish: required(string),
      error: string,
    },
  ],
  [
    "score",
    {
      ...LINE,
      sample_id: required(id),
      predicted: string,
      gold: required(string),
      correct: required(flag),
      rule: required(string),
      turns: count,
      measures: each(finite),
    },
  ],
  [
    "end",
    {
      ...LINE,
      status: required(oneOf("completed", "interrupted", "failed")),
      cards: required(count),
      samples: required(count),
      recorder: oneOf("degraded"),
    },
  ],
]);
