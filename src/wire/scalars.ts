import type { JsonObject, JsonValue } from "../protocol/index.ts";
import { type Decoding, nameOf, type Type } from "./proto-json.ts";

/** Deeper JSON than this is refused: whoever walks or writes it recursively would overflow the stack. */
const MAX_DEPTH = 100;

export const string: Type<string> = {
  decode(json, at) {
    if (typeof json !== "string") return at.refuse(`must be a string, not ${nameOf(json)}`);
    return json.isWellFormed() ? json : at.refuse(UNPAIRED);
  },
};

const UNPAIRED = "has half of a UTF-16 surrogate pair; send valid Unicode";

export const bool: Type<boolean> = {
  decode(json, at) {
    return typeof json === "boolean" ? json : at.refuse(`must be true or false, not ${nameOf(json)}`);
  },
};

const INT32 = 2 ** 31;

/** A number without a fraction, or its decimal text: `5`, `5.0` and `"5"`. */
export const int32: Type<number> = {
  decode(json, at) {
    const number = typeof json === "string" && /^-?\d+(?:\.0+)?$/.test(json) ? Number(json) : json;
    if (typeof number !== "number" || !Number.isInteger(number)) {
      return at.refuse(`must be a whole number, not ${nameOf(json)}`);
    }
    // + 0 makes 0 of -0, which JSON.stringify would do later, unseen.
    return number >= -INT32 && number < INT32
      ? number + 0
      : at.refuse(`must fit in 32 bits, ${number} does not`);
  },
};

/** Base64 of either alphabet, padded or not; comes out in the standard alphabet with padding. */
export const bytes: Type<string> = {
  decode(json, at) {
    if (typeof json !== "string") return at.refuse(`must be a base64 string, not ${nameOf(json)}`);
    if (isStandardBase64(json)) return json;
    const bare = json
      .replace(/={1,2}$/, "")
      .replaceAll("-", "+")
      .replaceAll("_", "/");
    const padded = bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
    const foreignPadding = json.endsWith("=") && json.length !== padded.length;
    return isStandardBase64(padded) && !foreignPadding
      ? padded
      : at.refuse("is not base64; encode the bytes with A–Z a–z 0–9 + / and =");
  },
};

function isStandardBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  // A search for what does not belong, because a pattern of what does would backtrack through megabytes.
  const stranger = text.search(/[^A-Za-z0-9+/]/);
  return stranger === -1 || (stranger >= text.length - 2 && /^={1,2}$/.test(text.slice(stranger)));
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** RFC 3339 with any offset; comes out in UTC with milliseconds, as A2A §5.6.1 wants it. */
export const timestamp: Type<string> = {
  decode(json, at) {
    const time = typeof json === "string" ? timeOf(json) : undefined;
    return time ?? at.refuse(`must be a time such as "2026-01-31T12:00:00.000Z", not ${nameOf(json)}`);
  },
};

function timeOf(text: string): string | undefined {
  const match = RFC_3339.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHours, offsetMinutes] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const time = new Date(local);
  // A day or an hour that does not exist is either no time at all or rolls over to another.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== local) return undefined;
  if (sign === undefined) return local;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  return new Date(time.getTime() + (sign === "-" ? offset : -offset)).toISOString();
}

/** `google.protobuf.Struct`: any JSON object, kept as it is. */
export const struct: Type<JsonObject> = {
  decode(json, at) {
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return at.refuse(`must be an object, not ${nameOf(json)}`);
    }
    checkValue(json, at, 1);
    return json as JsonObject;
  },
};

/** `google.protobuf.Value`: any JSON value, null too, kept as it is. */
export const value: Type<JsonValue> = {
  nullable: true,
  decode(json, at) {
    checkValue(json, at, 1);
    return json as JsonValue;
  },
};

function checkValue(json: unknown, at: Decoding, depth: number): void {
  if (typeof json === "string") {
    if (!json.isWellFormed()) at.refuse(UNPAIRED);
  } else if (typeof json === "number") {
    if (!Number.isFinite(json)) at.refuse("is a number too large for a double; send it as a string");
  } else if (typeof json === "object" && json !== null) {
    if (depth > MAX_DEPTH) at.refuse(`is nested deeper than ${MAX_DEPTH} levels; flatten it`);
    else if (Array.isArray(json)) checkItems(json, at, depth);
    else checkMembers(json, at, depth);
  }
}

function checkItems(items: readonly unknown[], at: Decoding, depth: number): void {
  for (let index = 0; index < items.length; index++) {
    at.enter(index);
    checkValue(items[index], at, depth + 1);
    at.leave();
  }
}

function checkMembers(json: object, at: Decoding, depth: number): void {
  for (const key in json) {
    at.enter(key);
    if (!key.isWellFormed()) at.refuse(UNPAIRED);
    checkValue((json as Record<string, unknown>)[key], at, depth + 1);
    at.leave();
  }
}

/**
 * An enum, by name or by number. `names[n]` is the name of number n; `names[0]` is the unspecified one, which is the
 * same as not set. So is, for a tolerant reader, a value that it does not know: a newer agent may have more of them.
 */
export function enumeration<T extends string>(names: readonly [string, ...T[]]): Type<T> {
  const [unspecified, ...known] = names;
  const all = new Set<unknown>(known);
  return {
    decode(json, at): T | undefined {
      const name = typeof json === "number" ? names[json] : json;
      if (all.has(name)) return name as T;
      if (name === unspecified || (!at.strict && (typeof json === "string" || typeof json === "number"))) {
        return undefined;
      }
      const meant = typeof json === "string" ? nearest(json, known) : undefined;
      const hint = meant ? `; did you mean ${meant}?` : "";
      return at.refuse(`must be one of ${known.join(", ")}, not ${nameOf(json)}${hint}`);
    },
  };
}

/** One of a few words, and what it means. A tolerant reader takes a word that it does not know for none. */
export function word<T extends string>(meanings: Readonly<Record<string, T>>): Type<T> {
  const words = Object.keys(meanings);
  return {
    decode(json, at): T | undefined {
      if (typeof json === "string" && Object.hasOwn(meanings, json)) return meanings[json];
      if (!at.strict && typeof json === "string") return undefined;
      const meant = typeof json === "string" ? nearest(json, words) : undefined;
      const hint = meant ? `; did you mean ${meant}?` : "";
      const known = words.length > 1 ? `one of ${words.join(", ")}` : JSON.stringify(words[0]);
      return at.refuse(`must be ${known}, not ${nameOf(json)}${hint}`);
    },
  };
}

/** `input-required` for `TASK_STATE_INPUT_REQUIRED`, and the other way round: each version's spelling, and people's. */
function nearest(text: string, names: readonly string[]): string | undefined {
  const ending = plain(text);
  if (ending === "_") return undefined;
  return names.find((name) => plain(name).endsWith(ending) || ending.endsWith(plain(name)));
}

function plain(name: string): string {
  return `_${name.toUpperCase().replaceAll("-", "_")}`;
}
