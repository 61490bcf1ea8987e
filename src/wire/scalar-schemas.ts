import { isObject, type JsonObject, type JsonValue } from "../protocol/index.ts";
import { type DecodingContext, formatJsonValue, type DecodingSchema } from "./proto-json-schema.ts";

/**
 * Maximum nesting depth of JSON values. More deeply nested JSON could overflow the stack of recursive
 * code.
 */
const MAX_JSON_DEPTH = 100;

/** Schema for strings of well-formed Unicode. */
export const stringSchema: DecodingSchema<string> = {
  emptyValue: "",
  decode(json, at) {
    if (typeof json !== "string") return at.addViolation(`must be a string, not ${formatJsonValue(json)}`);
    return json.isWellFormed() ? json : at.addViolation(UNPAIRED_SURROGATE_TEXT);
  },
};

const UNPAIRED_SURROGATE_TEXT = "has half of a UTF-16 surrogate pair; send valid Unicode";

/** Schema for booleans. The boolean schema rejects strings such as `"true"`. */
export const boolSchema: DecodingSchema<boolean> = {
  decode(json, at) {
    return typeof json === "boolean"
      ? json
      : at.addViolation(`must be true or false, not ${formatJsonValue(json)}`);
  },
};

const INT32_LIMIT = 2 ** 31;

/**
 * Schema for 32-bit integers. The schema accepts integers as numbers or as strings, for example `5`,
 * `5.0`, and `"5"`.
 */
export const int32Schema: DecodingSchema<number> = {
  emptyValue: 0,
  decode(json, at) {
    const number = typeof json === "string" && /^-?\d+(?:\.0+)?$/.test(json) ? Number(json) : json;
    if (typeof number !== "number" || !Number.isInteger(number)) {
      return at.addViolation(`must be a whole number, not ${formatJsonValue(json)}`);
    }
    // Adding 0 turns -0 into 0, as JSON.stringify would do later.
    return number >= -INT32_LIMIT && number < INT32_LIMIT
      ? number + 0
      : at.addViolation(`must fit in 32 bits, ${number} does not`);
  },
};

/**
 * Schema for bytes that are encoded as base64. The schema accepts the standard and the URL-safe base64
 * alphabet, with or without padding. The decoded value uses the standard base64 alphabet with padding.
 */
export const bytesSchema: DecodingSchema<string> = {
  decode(json, at) {
    if (typeof json !== "string")
      return at.addViolation(`must be a base64 string, not ${formatJsonValue(json)}`);
    if (isStandardBase64(json)) return json;
    const bare = json
      .replace(/={1,2}$/, "")
      .replaceAll("-", "+")
      .replaceAll("_", "/");
    const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
    const foreignPadding = json.endsWith("=") && json.length !== padded.length;
    return isStandardBase64(padded) && !foreignPadding
      ? padded
      : at.addViolation("is not base64; encode the bytes with A–Z a–z 0–9 + / and =");
  },
};

function isStandardBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  // Searches for a character outside the alphabet. A pattern for the entire text would backtrack over
  // megabytes.
  const firstInvalidIndex = text.search(/[^A-Za-z0-9+/]/);
  return (
    firstInvalidIndex === -1 ||
    (firstInvalidIndex >= text.length - 2 && /^={1,2}$/.test(text.slice(firstInvalidIndex)))
  );
}

const RFC_3339_PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Schema for RFC 3339 timestamps with any UTC offset. Timestamps decode to UTC with milliseconds, as A2A
 * §5.6.1 requires. In a response, a time without an offset can count as UTC (`timestampWithoutOffset`).
 */
export const timestampSchema: DecodingSchema<string> = {
  decode(json, at) {
    const mayOmitOffset = !at.isStrict && at.accepts("timestampWithoutOffset");
    const text = mayOmitOffset && typeof json === "string" && /[Tt][\d:.]+$/.test(json) ? `${json}Z` : json;
    const time = typeof text === "string" ? normalizeTimestamp(text) : undefined;
    return (
      time ??
      at.addViolation(`must be a time such as "2026-01-31T12:00:00.000Z", not ${formatJsonValue(json)}`)
    );
  },
};

function normalizeTimestamp(text: string): string | undefined {
  const match = RFC_3339_PATTERN.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHours, offsetMinutes] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const time = new Date(local);
  // A date that does not exist is either invalid or rolls over to another date.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== local) return undefined;
  if (sign === undefined) return local;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  const utc = new Date(time.getTime() + (sign === "-" ? offset : -offset)).toISOString();
  // A year before 0 or after 9999 has a sign and six digits, which RFC 3339 does not allow.
  return utc.length === local.length ? utc : undefined;
}

/** Schema for `google.protobuf.Struct`, which is any JSON object. The schema returns the object unchanged. */
export const structSchema: DecodingSchema<JsonObject> = {
  emptyValue: {},
  decode(json, at) {
    if (!isObject(json)) return at.addViolation(`must be an object, not ${formatJsonValue(json)}`);
    validateJsonValue(json, at, 1);
    return json;
  },
};

/**
 * Schema for `google.protobuf.Value`, which is any JSON value including `null`. The schema returns the
 * value unchanged.
 */
export const valueSchema: DecodingSchema<JsonValue> = {
  isNullable: true,
  decode(json, at) {
    validateJsonValue(json, at, 1);
    return json as JsonValue;
  },
};

/** Schemas by the names of the protobuf types that they decode. */
export const SCALAR_SCHEMAS: Readonly<Record<string, DecodingSchema<unknown>>> = {
  string: stringSchema,
  bool: boolSchema,
  int32: int32Schema,
  bytes: bytesSchema,
  Timestamp: timestampSchema,
  Struct: structSchema,
  Value: valueSchema,
};

function validateJsonValue(json: unknown, at: DecodingContext, depth: number): void {
  if (typeof json === "string") {
    if (!json.isWellFormed()) at.addViolation(UNPAIRED_SURROGATE_TEXT);
  } else if (typeof json === "number") {
    if (!Number.isFinite(json)) at.addViolation("is a number too large for a double; send it as a string");
  } else if (typeof json === "object" && json !== null) {
    if (depth > MAX_JSON_DEPTH) at.addViolation(`is nested deeper than ${MAX_JSON_DEPTH} levels; flatten it`);
    else if (Array.isArray(json)) validateJsonItems(json, at, depth);
    else validateJsonMembers(json, at, depth);
  }
}

function validateJsonItems(items: readonly unknown[], at: DecodingContext, depth: number): void {
  for (let index = 0; index < items.length; index++) {
    at.pushPath(index);
    validateJsonValue(items[index], at, depth + 1);
    at.popPath();
  }
}

function validateJsonMembers(json: object, at: DecodingContext, depth: number): void {
  for (const key in json) {
    at.pushPath(key);
    if (!key.isWellFormed()) at.addViolation(UNPAIRED_SURROGATE_TEXT);
    validateJsonValue((json as Record<string, unknown>)[key], at, depth + 1);
    at.popPath();
  }
}

/**
 * Creates a schema for an enum, which accepts names and numbers. The element `names[n]` is the name of
 * enum number n. The element `names[0]` is the unspecified value, which counts as not set. In tolerant
 * mode, an unknown enum value also counts as not set, because a newer agent may have more values.
 */
export function createEnumSchema<T extends string>(names: readonly [string, ...T[]]): DecodingSchema<T> {
  const [unspecified, ...known] = names;
  const all = new Set<unknown>(known);
  return {
    decode(json, at): T | undefined {
      const name = typeof json === "number" ? names[json] : json;
      if (all.has(name)) return name as T;
      return name === unspecified || (!at.isStrict && typeof json === "number")
        ? undefined
        : rejectUnknownName(json, known, at);
    },
  };
}

/**
 * Creates a schema for an enum whose protocol names differ from the names in the model. In tolerant mode,
 * an unknown enum name counts as not set.
 */
export function createMappedEnumSchema<T extends string>(
  valuesByName: Readonly<Record<string, T>>,
): DecodingSchema<T> {
  const names = Object.keys(valuesByName);
  return {
    decode: (json, at) =>
      typeof json === "string" && Object.hasOwn(valuesByName, json)
        ? valuesByName[json]
        : rejectUnknownName(json, names, at),
  };
}

/** Adds a violation for a value that is no name of an enum, except for an unknown name in tolerant mode. */
function rejectUnknownName(json: unknown, names: readonly string[], at: DecodingContext): undefined {
  if (!at.isStrict && typeof json === "string") return undefined;
  const suggestion = typeof json === "string" ? findSimilarName(json, names) : undefined;
  const hint = suggestion ? `; did you mean ${suggestion}?` : "";
  const known = names.length > 1 ? `one of ${names.join(", ")}` : JSON.stringify(names[0]);
  return at.addViolation(`must be ${known}, not ${formatJsonValue(json)}${hint}`);
}

/**
 * Finds the enum name for a text that may differ in case, hyphens, or prefix. For example,
 * `input-required` matches `TASK_STATE_INPUT_REQUIRED`.
 */
function findSimilarName(text: string, names: readonly string[]): string | undefined {
  const ending = normalizeEnumName(text);
  if (ending === "_") return undefined;
  return names.find(
    (name) => normalizeEnumName(name).endsWith(ending) || ending.endsWith(normalizeEnumName(name)),
  );
}

function normalizeEnumName(name: string): string {
  return `_${name.toUpperCase().replaceAll("-", "_")}`;
}
