import type { JsonObject } from "../../../protocol/index.ts";
import {
  isPlainObject,
  describeValue,
  type ValidationContext,
  type RequiredField,
  type FieldRule,
} from "./validation-context.ts";

/** Deeper than this is no context that anybody wrote, and every reader behind us would have to bear it. */
const MAX_JSON_DEPTH = 32;
const ID_PATTERN = /^[A-Za-z0-9_.:-]{1,128}$/;

/** The member must be there. */
export function required<T>(rule: FieldRule<T>): RequiredField<T> {
  return { rule };
}

/** Text; whole characters only, because half of one has no form in UTF-8. */
export function string(value: unknown, at: ValidationContext): value is string {
  if (typeof value !== "string") return at.addViolation(`must be a string, not ${describeValue(value)}`);
  return (
    value.isWellFormed() ||
    at.addViolation("has half a character in it (an unpaired surrogate); cut between characters")
  );
}

/** A name that may stand in a URL, a file name and a table: of a role, a type, a card, a run. */
export function id(value: unknown, at: ValidationContext): value is string {
  if (typeof value === "string" && ID_PATTERN.test(value)) return true;
  return at.addViolation(
    `must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -, not ${describeValue(value)}`,
  );
}

export function boolean(value: unknown, at: ValidationContext): value is boolean {
  return typeof value === "boolean" || at.addViolation(`must be true or false, not ${describeValue(value)}`);
}

/** A whole number, 0 or more. */
export function nonNegativeInteger(value: unknown, at: ValidationContext): value is number {
  return (
    (Number.isSafeInteger(value) && (value as number) >= 0) ||
    at.addViolation(`must be a whole number from 0, not ${describeValue(value)}`)
  );
}

/** A number, 0 or more. */
export function nonNegativeNumber(value: unknown, at: ValidationContext): value is number {
  return (
    (Number.isFinite(value) && (value as number) >= 0) ||
    at.addViolation(`must be a number from 0, not ${describeValue(value)}`)
  );
}

export function oneOf<const T extends string>(...values: readonly T[]): FieldRule<T> {
  return (value, at): value is T =>
    values.includes(value as T) ||
    at.addViolation(`must be one of ${values.join(", ")}, not ${describeValue(value)}`);
}

export function list<T>(rule: FieldRule<T>): FieldRule<T[]> {
  return (value, at): value is T[] => {
    if (!Array.isArray(value)) return at.addViolation(`must be an array, not ${describeValue(value)}`);
    const before = at.violations.length;
    for (const [index, item] of value.entries()) at.withPathSegment(index, () => void rule(item, at));
    return at.violations.length === before;
  };
}

/** An object with a string for a name and JSON for a value, as it can be sent. */
export function object(value: unknown, at: ValidationContext): value is JsonObject {
  if (!isPlainObject(value)) return at.addViolation(`must be an object, not ${describeValue(value)}`);
  return isJsonValue(value, at, 1);
}

/** Notes what is no JSON: functions, `undefined`, NaN, objects of classes, and what is nested without an end. */
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
        // A reader that copies members by assignment would set the prototype with it.
        if (name === "__proto__") at.addViolation("is no name for a member; call it something else");
        else if (!name.isWellFormed()) at.addViolation("has a name with half a character in it");
        else isJsonValue(item, at, depth + 1);
      });
    }
  }
  return at.violations.length === before;
}
