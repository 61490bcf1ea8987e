import type { JsonObject } from "../../protocol/index.ts";
import { isObject, nameOf, type Reading, type RequiredMember, type Rule } from "./reading.ts";

/** Deeper than this is no context that anybody wrote, and every reader behind us would have to bear it. */
const MAX_DEPTH = 32;
const ID = /^[A-Za-z0-9_.:-]{1,128}$/;

/** The member must be there. */
export function required<T>(rule: Rule<T>): RequiredMember<T> {
  return { required: rule };
}

/** Text; whole characters only, because half of one has no form in UTF-8. */
export function string(value: unknown, at: Reading): value is string {
  if (typeof value !== "string") return at.refuse(`must be a string, not ${nameOf(value)}`);
  return (
    value.isWellFormed() ||
    at.refuse("has half a character in it (an unpaired surrogate); cut between characters")
  );
}

/** A name that may stand in a URL, a file name and a table: of a role, a type, a card, a run. */
export function id(value: unknown, at: Reading): value is string {
  if (typeof value === "string" && ID.test(value)) return true;
  return at.refuse(`must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -, not ${nameOf(value)}`);
}

export function boolean(value: unknown, at: Reading): value is boolean {
  return typeof value === "boolean" || at.refuse(`must be true or false, not ${nameOf(value)}`);
}

/** A whole number, 0 or more. */
export function count(value: unknown, at: Reading): value is number {
  return (
    (Number.isSafeInteger(value) && (value as number) >= 0) ||
    at.refuse(`must be a whole number from 0, not ${nameOf(value)}`)
  );
}

/** A number, 0 or more. */
export function amount(value: unknown, at: Reading): value is number {
  return (
    (Number.isFinite(value) && (value as number) >= 0) ||
    at.refuse(`must be a number from 0, not ${nameOf(value)}`)
  );
}

export function oneOf<const T extends string>(...values: readonly T[]): Rule<T> {
  return (value, at): value is T =>
    values.includes(value as T) || at.refuse(`must be one of ${values.join(", ")}, not ${nameOf(value)}`);
}

export function list<T>(rule: Rule<T>): Rule<T[]> {
  return (value, at): value is T[] => {
    if (!Array.isArray(value)) return at.refuse(`must be an array, not ${nameOf(value)}`);
    const before = at.violations.length;
    for (const [index, item] of value.entries()) at.inside(index, () => void rule(item, at));
    return at.violations.length === before;
  };
}

/** An object with a string for a name and JSON for a value, as it can be sent. */
export function object(value: unknown, at: Reading): value is JsonObject {
  if (!isObject(value)) return at.refuse(`must be an object, not ${nameOf(value)}`);
  return isJson(value, at, 1);
}

/** Notes what is no JSON: functions, `undefined`, NaN, objects of classes, and what is nested without an end. */
function isJson(value: unknown, at: Reading, depth: number): boolean {
  if (at.full) return false;
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return true;
  if (typeof value === "string") return string(value, at);
  if (!Array.isArray(value) && !isObject(value)) return at.refuse(`must be JSON, not ${nameOf(value)}`);
  if (depth > MAX_DEPTH) return at.refuse(`is more than ${MAX_DEPTH} levels deep; flatten it`);
  const before = at.violations.length;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) at.inside(index, () => void isJson(item, at, depth + 1));
  } else {
    for (const [name, item] of Object.entries(value)) {
      at.inside(name, () => {
        // A reader that copies members by assignment would set the prototype with it.
        if (name === "__proto__") at.refuse("is no name for a member; call it something else");
        else if (!name.isWellFormed()) at.refuse("has a name with half a character in it");
        else isJson(item, at, depth + 1);
      });
    }
  }
  return at.violations.length === before;
}
