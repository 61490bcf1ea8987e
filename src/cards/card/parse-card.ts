import { A2AError, type JsonObject } from "../../protocol/index.ts";
import { type Card, type CardMetadata, timeOf } from "./card.ts";
import { hasMembers, isObject, type Members, nameOf, Reading } from "./reading.ts";
import { amount, count, id, object, oneOf, required, string } from "./rules.ts";

/** Of the content, in bytes of UTF-8. What is longer is a file, and belongs into a part of its own. */
const MAX_CONTENT = 256 * 1024;

/** In the order in which they are written. */
const MEMBERS = ["sender", "recipient", "message_type", "content", "metadata", "timestamp"];

/**
 * A card of any type, by any roles, from JSON that somebody else wrote. Metadata may be null or missing and is an object
 * afterwards. Throws INVALID_PARAMS with every violation; a member too many is one.
 */
export function parseCard(json: unknown): Card {
  const at = new Reading();
  const card = readCard(json, at);
  if (card === undefined || at.violations.length > 0) throw A2AError.invalidParams(at.violations);
  return card;
}

/** `parseCard` of a text. */
export function fromJson(text: string): Card {
  return parseCard(jsonOf(text));
}

/** The six members of a card, in the order of the protocol, as a JSON object: what travels and what is saved. */
export function toDict<C extends Card>(card: C): Pick<C, keyof Card> & JsonObject {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  // Of a card that has been read, metadata is JSON; a missing member is not there, rather than undefined.
  return { sender, recipient, message_type, content, metadata, timestamp } as Pick<C, keyof Card> &
    JsonObject;
}

/** A card as JSON text. */
export function toJson(card: Card, indent?: number): string {
  return JSON.stringify(toDict(card), undefined, indent);
}

/** The value of a text of JSON; INVALID_PARAMS when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const description = `is no JSON (${cause instanceof Error ? cause.message : String(cause)})`;
    throw A2AError.invalidParams([{ field: "card", description }]);
  }
}

/** A card, when its shape is right; else what is wrong is noted. */
export function readCard(json: unknown, at: Reading): Card | undefined {
  if (!isObject(json)) {
    at.refuse(`must be an object with the members ${MEMBERS.join(", ")}, not ${nameOf(json)}`);
    return undefined;
  }
  for (const name of Object.keys(json)) {
    if (!MEMBERS.includes(name)) {
      at.inside(name, () => at.refuse("is no member of a card; put it into metadata, or leave it out"));
    }
  }
  const given = { ...json, metadata: json["metadata"] ?? {} };
  return hasMembers(given, SHAPE, at) ? toDict(given as unknown as Card) : undefined;
}

function contentOf(value: unknown, at: Reading): value is string {
  if (!string(value, at)) return false;
  // A character takes at most three bytes per unit, so most contents need not be counted.
  if (value.length * 3 <= MAX_CONTENT || new TextEncoder().encode(value).length <= MAX_CONTENT) return true;
  return at.refuse(`is longer than ${MAX_CONTENT} bytes; send it as a file, and name that here`);
}

function metadataOf(value: unknown, at: Reading): value is CardMetadata {
  return object(value, at) && hasMembers(value, METADATA, at);
}

function timestampOf(value: unknown, at: Reading): value is string {
  if (typeof value === "string" && !Number.isNaN(timeOf({ timestamp: value }))) return true;
  return at.refuse(`must be a time as in 2025-01-15T10:30:00.000Z, not ${nameOf(value)}`);
}

/** Tokens of model calls. */
export function usageOf(value: unknown, at: Reading): value is object {
  return object(value, at) && hasMembers(value, USAGE, at);
}

function turnOf(value: unknown, at: Reading): value is number {
  return count(value, at) && (value > 0 || at.refuse("counts from 1"));
}

const SHAPE: Members = {
  sender: required(id),
  recipient: required(id),
  message_type: required(id),
  content: required(contentOf),
  metadata: required(metadataOf),
  timestamp: required(timestampOf),
};

const METADATA: Members = {
  card_id: id,
  run_id: id,
  sample_id: id,
  in_reply_to: id,
  turn: turnOf,
  dataset: string,
  tokens: count,
  usage: usageOf,
  model: string,
  duration_ms: amount,
  attempt: turnOf,
};

const USAGE: Members = {
  input_tokens: required(count),
  output_tokens: required(count),
  cached_input_tokens: count,
  reasoning_output_tokens: count,
  source: required(oneOf("reported", "estimated", "none")),
};
