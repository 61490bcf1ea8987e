import type { FieldViolation } from "../../../protocol/index.ts";

/** Maximum number of violations that a validation collects. */
const MAX_VIOLATIONS = 100;

/**
 * State of a validation, which consists of the current member path and the violations found so far.
 * Validation rules collect violations and do not throw.
 */
export class ValidationContext {
  readonly violations: FieldViolation[] = [];
  readonly #path: string[] = [];

  /** Whether the maximum number of violations has been collected, so that validation can stop. */
  get isFull(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  /** Adds `step` (a member name or an array index) to the current path while `read` runs. */
  withPathSegment(step: string | number, read: () => void): void {
    this.#path.push(typeof step === "number" ? `[${step}]` : `.${step.slice(0, 100)}`);
    read();
    this.#path.pop();
  }

  /**
   * Adds a violation at the current path. The result is always `false`, so that a predicate can return the
   * result directly.
   */
  addViolation(description: string): false {
    if (!this.isFull) this.violations.push({ field: this.#path.join("").slice(1) || "card", description });
    return false;
  }
}

/**
 * A validation rule for the value of a member. The rule returns whether the value is valid and adds every
 * violation to `at`.
 */
export type FieldRule<T> = (value: unknown, at: ValidationContext) => value is T;

/** A rule for a required member, created by `required`. A member with a plain `FieldRule` is optional. */
export interface RequiredField<T> {
  readonly rule: FieldRule<T>;
}

/** Validation rules by member name. Members without a rule are not validated. */
export type FieldRules = Readonly<Record<string, FieldRule<unknown> | RequiredField<unknown>>>;

/** Type of the objects that conform to a set of `FieldRules`. */
export type InferFields<M extends FieldRules> = {
  [K in keyof M as M[K] extends RequiredField<unknown> ? K : never]: M[K] extends RequiredField<infer T>
    ? T
    : never;
} & {
  [K in keyof M as M[K] extends RequiredField<unknown> ? never : K]?: M[K] extends FieldRule<infer T>
    ? T
    : never;
};

/** Returns whether the members of an object conform to their rules and adds each violation to `at`. */
export function matchesFieldRules(value: object, members: FieldRules, at: ValidationContext): boolean {
  const before = at.violations.length;
  for (const [name, member] of Object.entries(members)) {
    const field: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    at.withPathSegment(name, () => {
      if (field !== undefined) (typeof member === "function" ? member : member.rule)(field, at);
      else if (typeof member !== "function") at.addViolation("is required");
    });
  }
  return at.violations.length === before;
}

/** Returns whether a value is a plain object, such as a parsed JSON object or an object literal. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns a short description of a value for error messages. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return value.length > 40 ? "a long string" : JSON.stringify(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === undefined) return "nothing";
  return typeof value === "object"
    ? isPlainObject(value)
      ? "an object"
      : "an object of a class"
    : `a ${typeof value}`;
}
