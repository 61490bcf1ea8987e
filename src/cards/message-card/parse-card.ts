import { A2AError, type JsonObject } from "../../protocol/index.ts";
import { type MessageCard, type CardMetadata, parseCardTime } from "./message-card.ts";
import {
  matchesFieldRules,
  isPlainObject,
  type FieldRules,
  describeValue,
  ValidationContext,
} from "./validation/validation-context.ts";
import {
  nonNegativeNumber,
  nonNegativeInteger,
  id,
  object,
  oneOf,
  required,
  string,
} from "./validation/rules.ts";

/** Of the content, in bytes of UTF-8. What is longer is a file, and belongs into a part of its own. */
const MAX_CONTENT_BYTES = 256 * 1024;

/** In the order in which they are written. */
const CARD_MEMBERS = ["sender", "recipient", "message_type", "content", "metadata", "timestamp"];

/**
 * A card of any type, by any roles, from JSON that somebody else wrote. Metadata may be null or missing and is an object
 * afterwards. Throws INVALID_PARAMS with every violation; a member too many is one.
 */
export function parseCard(json: unknown): MessageCard {
  const at = new ValidationContext();
  const card = parseCardInContext(json, at);
  if (card === undefined || at.violations.length > 0) throw A2AError.invalidParams(at.violations);
  return card;
}

/** `parseCard` of a text. */
export function fromJson(text: string): MessageCard {
  return parseCard(parseJson(text));
}

/** The six members of a card, in the order of the protocol, as a JSON object: what travels and what is saved. */
export function toDict<C extends MessageCard>(card: C): Pick<C, keyof MessageCard> & JsonObject {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  // Of a card that has been read, metadata is JSON; a missing member is not there, rather than undefined.
  return { sender, recipient, message_type, content, metadata, timestamp } as Pick<C, keyof MessageCard> &
    JsonObject;
}

/** A card as JSON text. */
export function toJson(card: MessageCard, indent?: number): string {
  return JSON.stringify(toDict(card), undefined, indent);
}

/** The value of a text of JSON; INVALID_PARAMS when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const description = `is no JSON (${cause instanceof Error ? cause.message : String(cause)})`;
    throw A2AError.invalidParams([{ field: "card", description }]);
  }
}

/** A card, when its shape is right; else what is wrong is noted. */
export function parseCardInContext(json: unknown, at: ValidationContext): MessageCard | undefined {
  if (!isPlainObject(json)) {
    at.addViolation(
      `must be an object with the members ${CARD_MEMBERS.join(", ")}, not ${describeValue(json)}`,
    );
    return undefined;
  }
  for (const name of Object.keys(json)) {
    if (!CARD_MEMBERS.includes(name)) {
      at.withPathSegment(name, () =>
        at.addViolation("is no member of a card; put it into metadata, or leave it out"),
      );
    }
  }
  const given = { ...json, metadata: json["metadata"] ?? {} };
  return matchesFieldRules(given, CARD_RULES, at) ? toDict(given as unknown as MessageCard) : undefined;
}

function isValidContent(value: unknown, at: ValidationContext): value is string {
  if (!string(value, at)) return false;
  // A character takes at most three bytes per unit, so most contents need not be counted.
  if (value.length * 3 <= MAX_CONTENT_BYTES || new TextEncoder().encode(value).length <= MAX_CONTENT_BYTES)
    return true;
  return at.addViolation(`is longer than ${MAX_CONTENT_BYTES} bytes; send it as a file, and name that here`);
}

function isValidMetadata(value: unknown, at: ValidationContext): value is CardMetadata {
  return object(value, at) && matchesFieldRules(value, METADATA_RULES, at);
}

function isValidTimestamp(value: unknown, at: ValidationContext): value is string {
  if (typeof value === "string" && !Number.isNaN(parseCardTime({ timestamp: value }))) return true;
  return at.addViolation(`must be a time as in 2025-01-15T10:30:00.000Z, not ${describeValue(value)}`);
}

/** Tokens of model calls. */
export function isValidUsage(value: unknown, at: ValidationContext): value is object {
  return object(value, at) && matchesFieldRules(value, USAGE_RULES, at);
}

function isPositiveInteger(value: unknown, at: ValidationContext): value is number {
  return nonNegativeInteger(value, at) && (value > 0 || at.addViolation("counts from 1"));
}

const CARD_RULES: FieldRules = {
  sender: required(id),
  recipient: required(id),
  message_type: required(id),
  content: required(isValidContent),
  metadata: required(isValidMetadata),
  timestamp: required(isValidTimestamp),
};

const METADATA_RULES: FieldRules = {
  card_id: id,
  run_id: id,
  sample_id: id,
  in_reply_to: id,
  turn: isPositiveInteger,
  dataset: string,
  tokens: nonNegativeInteger,
  usage: isValidUsage,
  model: string,
  duration_ms: nonNegativeNumber,
  attempt: isPositiveInteger,
};

const USAGE_RULES: FieldRules = {
  input_tokens: required(nonNegativeInteger),
  output_tokens: required(nonNegativeInteger),
  cached_input_tokens: nonNegativeInteger,
  reasoning_output_tokens: nonNegativeInteger,
  source: required(oneOf("reported", "estimated", "none")),
};
