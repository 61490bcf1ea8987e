import type { FieldViolation } from "../../../protocol/index.ts";

/** Nobody reads more than these. */
const MAX_VIOLATIONS = 100;

/** One reading under way: where it stands, and what it has found so far. It never throws for what it reads. */
export class ValidationContext {
  readonly violations: FieldViolation[] = [];
  readonly #path: string[] = [];

  /** So much is wrong that the rest need not be read. */
  get isFull(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  /** Reads what stands at `step`, a member's name or a place in a list. */
  withPathSegment(step: string | number, read: () => void): void {
    this.#path.push(typeof step === "number" ? `[${step}]` : `.${step.slice(0, 100)}`);
    read();
    this.#path.pop();
  }

  /** Notes a violation at the present place; false, so that a predicate can end with it. */
  addViolation(description: string): false {
    if (!this.isFull) this.violations.push({ field: this.#path.join("").slice(1) || "card", description });
    return false;
  }
}

/** What must hold of a member's value. Notes every violation; true when there was none. */
export type FieldRule<T> = (value: unknown, at: ValidationContext) => value is T;

/** A member that must be there (`rule` makes it); one with a bare `FieldRule` may be missing. */
export interface RequiredField<T> {
  readonly rule: FieldRule<T>;
}

/** Rules by the name of the member. Other members are nobody's business. */
export type FieldRules = Readonly<Record<string, FieldRule<unknown> | RequiredField<unknown>>>;

/** The object that `FieldRules` describe. */
export type InferFields<M extends FieldRules> = {
  [K in keyof M as M[K] extends RequiredField<unknown> ? K : never]: M[K] extends RequiredField<infer T>
    ? T
    : never;
} & {
  [K in keyof M as M[K] extends RequiredField<unknown> ? never : K]?: M[K] extends FieldRule<infer T>
    ? T
    : never;
};

/** Whether an object has what its members ask for. */
export function matchesFieldRules(value: object, members: FieldRules, at: ValidationContext): boolean {
  const before = at.violations.length;
  for (const [name, member] of Object.entries(members)) {
    const given: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    at.withPathSegment(name, () => {
      if (given !== undefined) (typeof member === "function" ? member : member.rule)(given, at);
      else if (typeof member !== "function") at.addViolation("is required");
    });
  }
  return at.violations.length === before;
}

/** A plain object, from JSON or a literal. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** What a value is, for people; short, whatever it is. */
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
