import type { JsonObject } from "../../../protocol/index.ts";
import {
  isPlainObject,
  describeValue,
  type ValidationContext,
  type RequiredField,
  type FieldRule,
} from "./validation-context.ts";

/**
 * Maximum nesting depth of JSON in a message card. Deeper JSON could overload the recipients of a message
 * card.
 */
const MAX_JSON_DEPTH = 32;
const ID_PATTERN = /^[A-Za-z0-9_.:-]{1,128}$/;
const SAMPLE_ID_PATTERN = /^[\p{L}\p{M}\p{N}_.:-]{1,128}$/u;

/** Returns a rule for a required member. */
export function required<T>(rule: FieldRule<T>): RequiredField<T> {
  return { rule };
}

/**
 * Validates a string. Strings with unpaired surrogates are invalid, because UTF-8 cannot encode unpaired
 * surrogates.
 */
export function string(value: unknown, at: ValidationContext): value is string {
  if (typeof value !== "string") return at.addViolation(`must be a string, not ${describeValue(value)}`);
  return (
    value.isWellFormed() ||
    at.addViolation("contains half a character (an unpaired surrogate); cut texts between characters")
  );
}

/**
 * Validates a role name, a type name, a card ID, or a run ID, which must be safe in URLs, file names, and
 * tables.
 */
export function id(value: unknown, at: ValidationContext): value is string {
  if (typeof value === "string" && ID_PATTERN.test(value)) return true;
  return at.addViolation(
    `must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -, not ${describeValue(value)}`,
  );
}

/** Validates the ID of a problem, which is part of a dataset. It can contain letters and digits of any script. */
export function sampleId(value: unknown, at: ValidationContext): value is string {
  if (typeof value === "string" && SAMPLE_ID_PATTERN.test(value)) return true;
  return at.addViolation(`must be 1 to 128 letters, digits, and _ . : -, not ${describeValue(value)}`);
}

/** Validates a boolean. */
export function boolean(value: unknown, at: ValidationContext): value is boolean {
  return typeof value === "boolean" || at.addViolation(`must be true or false, not ${describeValue(value)}`);
}

/** Validates a non-negative integer. */
export function nonNegativeInteger(value: unknown, at: ValidationContext): value is number {
  return (
    (Number.isSafeInteger(value) && (value as number) >= 0) ||
    at.addViolation(`must be an integer of at least 0, not ${describeValue(value)}`)
  );
}

/** Validates a finite, non-negative number. */
export function nonNegativeNumber(value: unknown, at: ValidationContext): value is number {
  return (
    (Number.isFinite(value) && (value as number) >= 0) ||
    at.addViolation(`must be a number of at least 0, not ${describeValue(value)}`)
  );
}

/** Returns a rule that accepts only the listed strings. */
export function oneOf<const T extends string>(...values: readonly T[]): FieldRule<T> {
  return (value, at): value is T =>
    values.includes(value as T) ||
    at.addViolation(`must be one of ${values.join(", ")}, not ${describeValue(value)}`);
}

/** Returns a rule that validates an array and each of its items. */
export function list<T>(rule: FieldRule<T>): FieldRule<T[]> {
  return (value, at): value is T[] => {
    if (!Array.isArray(value)) return at.addViolation(`must be an array, not ${describeValue(value)}`);
    const before = at.violations.length;
    for (const [index, item] of value.entries()) at.withPathSegment(index, () => void rule(item, at));
    return at.violations.length === before;
  };
}

/** Validates a plain object whose values JSON can represent. */
export function object(value: unknown, at: ValidationContext): value is JsonObject {
  if (!isPlainObject(value)) return at.addViolation(`must be an object, not ${describeValue(value)}`);
  return isJsonValue(value, at, 1);
}

/**
 * Adds a violation for each value that is nested too deeply or that JSON cannot represent. For example, JSON
 * cannot represent functions or class instances.
 */
function isJsonValue(value: unknown, at: ValidationContext, depth: number): boolean {
  if (at.isFull) return false;
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return true;
  if (typeof value === "string") return string(value, at);
  if (!Array.isArray(value) && !isPlainObject(value))
    return at.addViolation(`must be JSON, not ${describeValue(value)}`);
  if (depth > MAX_JSON_DEPTH)
    return at.addViolation(`is more than ${MAX_JSON_DEPTH} levels deep; flatten it`);
  const before = at.violations.length;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      at.withPathSegment(index, () => void isJsonValue(item, at, depth + 1));
  } else {
    for (const [name, item] of Object.entries(value)) {
      at.withPathSegment(name, () => {
        // A consumer that copies members by assignment would change the prototype.
        if (name === "__proto__") at.addViolation("is not allowed as a member name; rename the member");
        else if (!name.isWellFormed())
          at.addViolation("has a name that contains half a character (an unpaired surrogate)");
        else isJsonValue(item, at, depth + 1);
      });
    }
  }
  return at.violations.length === before;
}
