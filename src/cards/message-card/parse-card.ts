import { A2AError, type JsonObject } from "../../protocol/index.ts";
import { type MessageCard, parseCardTime } from "./message-card.ts";
import {
  matchesFieldRules,
  isPlainObject,
  type FieldRule,
  type FieldRules,
  describeValue,
  ValidationContext,
} from "./validation/validation-context.ts";
import {
  nonNegativeNumber,
  nonNegativeInteger,
  id,
  list,
  object,
  oneOf,
  required,
  string,
  sampleId,
} from "./validation/field-rules.ts";

/**
 * Maximum size of a message card's content, in UTF-8 bytes. Message content above 256 KiB must be sent as a
 * file in a separate A2A part.
 */
const MAX_CONTENT_BYTES = 256 * 1024;

/** Member names of a message card in the order of serialization. */
const CARD_MEMBERS = ["sender", "recipient", "message_type", "content", "metadata", "timestamp"];

/**
 * Parses a message card of any type, sent between any two roles. The parser replaces missing or `null`
 * metadata with an empty object. Throws INVALID_PARAMS with every violation if the message card is invalid.
 * Unknown members of a message card are violations.
 */
export function parseCard(json: unknown): MessageCard {
  const at = new ValidationContext();
  const card = parseCardCollectingViolations(json, at);
  if (card === undefined || at.violations.length > 0) throw A2AError.invalidParams(at.violations);
  return card;
}

/** Parses a message card from JSON text. See `parseCard`. */
export function fromJson(text: string): MessageCard {
  return parseCard(parseJsonText(text));
}

/**
 * Returns the six members of a message card as a JSON object, in the order that the card protocol defines.
 */
export function toDict<C extends MessageCard>(card: C): Pick<C, keyof MessageCard> & JsonObject {
  const { sender, recipient, message_type, content, metadata, timestamp } = card;
  // The metadata of a parsed card is JSON: absent members are missing, not `undefined`.
  return { sender, recipient, message_type, content, metadata, timestamp } as Pick<C, keyof MessageCard> &
    JsonObject;
}

/** Serializes a message card as JSON text. */
export function toJson(card: MessageCard, indent?: number): string {
  return JSON.stringify(toDict(card), undefined, indent);
}

/** Parses JSON text and throws INVALID_PARAMS if the text is not valid JSON. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const description = `is not valid JSON (${cause instanceof Error ? cause.message : String(cause)})`;
    throw A2AError.invalidParams([{ field: "card", description }]);
  }
}

/**
 * Returns the parsed message card and adds each violation to `at`. The result is `undefined` if `json` is not
 * a valid message card.
 */
export function parseCardCollectingViolations(json: unknown, at: ValidationContext): MessageCard | undefined {
  if (!isPlainObject(json)) {
    at.addViolation(
      `must be an object with the members ${CARD_MEMBERS.join(", ")}, not ${describeValue(json)}`,
    );
    return undefined;
  }
  for (const name of Object.keys(json)) {
    if (!CARD_MEMBERS.includes(name)) {
      at.withPathSegment(name, () =>
        at.addViolation("is not a member of a card; move it to metadata or remove it"),
      );
    }
  }
  const normalized = { ...json, metadata: json["metadata"] ?? {} };
  return matchesFieldRules(normalized, CARD_RULES, at)
    ? toDict(normalized as unknown as MessageCard)
    : undefined;
}

function isValidContent(value: unknown, at: ValidationContext): value is string {
  if (!string(value, at)) return false;
  // A UTF-16 unit has at most three bytes in UTF-8, so short texts need no encoding.
  if (value.length * 3 <= MAX_CONTENT_BYTES || new TextEncoder().encode(value).length <= MAX_CONTENT_BYTES)
    return true;
  return at.addViolation(
    `is longer than ${MAX_CONTENT_BYTES} bytes; send it as a file and refer to the file here`,
  );
}

function isValidTimestamp(value: unknown, at: ValidationContext): value is string {
  if (typeof value === "string" && !Number.isNaN(parseCardTime({ timestamp: value }))) return true;
  return at.addViolation(`must be a time such as 2025-01-15T10:30:00.000Z, not ${describeValue(value)}`);
}

/** Returns a rule for an object whose members conform to `rules`. */
function objectWith(rules: FieldRules): FieldRule<JsonObject> {
  return (value, at): value is JsonObject => object(value, at) && matchesFieldRules(value, rules, at);
}

function isPositiveInteger(value: unknown, at: ValidationContext): value is number {
  return nonNegativeInteger(value, at) && (value > 0 || at.addViolation("must be at least 1"));
}

const FAILED_TRY_RULES: FieldRules = {
  reason: required(oneOf("model_error", "unusable_reply")),
  error: required(string),
  http_status: nonNegativeInteger,
  wait_ms: required(nonNegativeNumber),
  text: string,
};

const TOKEN_USAGE_RULES: FieldRules = {
  input_tokens: required(nonNegativeInteger),
  output_tokens: required(nonNegativeInteger),
  cached_input_tokens: nonNegativeInteger,
  reasoning_output_tokens: nonNegativeInteger,
  source: required(oneOf("reported", "estimated", "none")),
};

const METADATA_RULES: FieldRules = {
  card_id: id,
  run_id: id,
  sample_id: sampleId,
  in_reply_to: id,
  turn: isPositiveInteger,
  dataset: string,
  tokens: nonNegativeInteger,
  usage: objectWith(TOKEN_USAGE_RULES),
  model: string,
  duration_ms: nonNegativeNumber,
  attempt: isPositiveInteger,
  failed_tries: list(objectWith(FAILED_TRY_RULES)),
};

const CARD_RULES: FieldRules = {
  sender: required(id),
  recipient: required(id),
  message_type: required(id),
  content: required(isValidContent),
  metadata: required(objectWith(METADATA_RULES)),
  timestamp: required(isValidTimestamp),
};
