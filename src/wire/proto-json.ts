import { A2AError, type FieldViolation } from "../protocol/index.ts";

/**
 * Reading ProtoJSON by descriptors. A `Type` reads one kind of value; `message`, `list`, `map` and the scalars of
 * `scalars.ts` compose into the schema of a protocol version. Decoding never throws for what it reads: it notes
 * every violation with its path, and the caller asks at the end.
 */
export interface Type<T> {
  /** The value in its normal form. Undefined: nothing was set, or it was refused and the violation is noted. */
  decode(json: unknown, at: Decoding): T | undefined;
  /** True when JSON `null` is a value of this type; for all others it means "not set". */
  readonly nullable?: boolean;
  /** True for maps, of which an empty one is the same as none; an empty message is one that is set. */
  readonly isMap?: boolean;
}

/** A request may be wrong in a million places; nobody reads more than these. */
const MAX_VIOLATIONS = 100;
const MAX_STEP = 100;

/**
 * `strict`: requests, everything is checked. `tolerant`: answers, whatever can be used is taken. `canonical`: the same,
 * but nothing is filled in for the reader's comfort, so that every writer's form comes out the same.
 */
export type DecodingMode = "strict" | "tolerant" | "canonical";

/** One decoding under way: where it stands and what it has found. */
export class Decoding {
  readonly strict: boolean;
  /** Absent members that may be absent get their default. */
  readonly fills: boolean;
  readonly violations: FieldViolation[] = [];
  /** How much was refused, noted or not. */
  refusals = 0;
  readonly #root: string;
  readonly #path: (string | number)[] = [];

  /** `root` names the whole in violations, for example `params`. */
  constructor(root: string, mode: DecodingMode) {
    this.#root = root;
    this.strict = mode === "strict";
    this.fills = mode !== "canonical";
  }

  enter(step: string | number): void {
    this.#path.push(step);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Notes a violation at the present place. The description says how to put it right. */
  refuse(description: string): undefined {
    this.refusals++;
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push({ field: this.#where(), description });
    return undefined;
  }

  #where(): string {
    let path = "";
    for (const step of this.#path) {
      if (typeof step === "number") path += `[${step}]`;
      // Keys of a Struct may be as long as the request; a hundred copies of one must not be the answer to it.
      else path += `${path === "" ? "" : "."}${step.slice(0, MAX_STEP)}`;
    }
    return path === "" ? this.#root : path;
  }
}

/** Reads a whole request strictly; throws INVALID_PARAMS with every violation. */
export function decodeStrictly<T>(type: Type<T>, json: unknown, root: string): T {
  const at = new Decoding(root, "strict");
  const value = type.decode(json, at);
  if (value === undefined || at.violations.length > 0) throw A2AError.invalidParams(at.violations);
  return value;
}

/** Reads somebody else's answer and takes what can be used; throws INVALID_AGENT_RESPONSE when it cannot. */
export function decodeTolerantly<T>(
  type: Type<T>,
  json: unknown,
  root: string,
  mode: "tolerant" | "canonical" = "tolerant",
): T {
  const at = new Decoding(root, mode);
  const value = type.decode(json, at);
  const [first] = at.violations;
  if (value !== undefined && !first) return value;
  const what = first ? `${first.field} ${first.description}` : `${root} is empty`;
  throw new A2AError("INVALID_AGENT_RESPONSE", `The answer is not valid A2A: ${what}.`, {
    violations: at.violations,
  });
}

/** A member of a message: its type and what its absence means. */
export interface Field<T> {
  readonly type: Type<T>;
  /**
   * `implicit`: an empty value is the same as none and is left out. `optional`: an empty value is kept.
   * `required`: must be there and not empty. `oneof`: at most one member of these is there, empty or not.
   */
  readonly presence: "implicit" | "optional" | "required" | "oneof";
  /**
   * What stands for a missing value: for an `implicit` one always; for a `required` one only where the reader is
   * tolerant, and without it the message is unusable.
   */
  readonly fallback?: unknown;
}

export function required<T>(type: Type<T>, fallback?: unknown): Field<T> {
  return { type, presence: "required", fallback };
}

/** May be absent, and then reads as that value. */
export function defaulted<T>(type: Type<T>, fallback: unknown): Field<T> {
  return { type, presence: "implicit", fallback };
}

export function optional<T>(type: Type<T>): Field<T> {
  return { type, presence: "optional" };
}

export function oneof<T>(type: Type<T>): Field<T> {
  return { type, presence: "oneof" };
}

type KeysOf<T> = T extends unknown ? keyof T : never;
type ValueOf<T, K> = T extends unknown ? (K extends keyof T ? Exclude<T[K], undefined> : never) : never;

/** A field for every member of `T` (of every variant of a union), so that the compiler asks for a forgotten one. */
export type Fields<T> = {
  readonly [K in KeysOf<T>]-?: Type<ValueOf<T, K>> | Field<ValueOf<T, K>>;
};

interface NamedField extends Field<unknown> {
  readonly name: string;
  /** Its name on the wire, and another that is taken. */
  readonly written: string;
  readonly otherwise: string;
}

/** How a message is read, where that does not follow from its fields. */
export interface MessageOptions<T> {
  /** With `oneof` members, an answer must have one of them, too. Default false. */
  readonly always?: boolean;
  /** The names on the wire of members that are called something else there: the proper one, then others that are taken. */
  readonly names?: { readonly [K in KeysOf<T>]?: readonly [string, ...string[]] };
}

/**
 * A message. Members are known by their camelCase and their snake_case name; two at once are refused, unknown ones
 * ignored. With `oneof` members, one must be there; an answer may lack it unless `always` is set.
 */
export function message<T extends object>(fields: Fields<T>, options: MessageOptions<T> = {}): Type<T> {
  const { always = false } = options;
  const names: Readonly<Record<string, readonly [string, ...string[]] | undefined>> = options.names ?? {};
  const byName = new Map<string, NamedField>();
  const named = Object.entries<Type<unknown> | Field<unknown>>(fields).map(([name, given]): NamedField => {
    const taken = names[name] ?? [name];
    const [written, otherwise = snakeCase(written)] = taken;
    const about = "decode" in given ? { type: given, presence: "implicit" as const } : given;
    const field = { ...about, name, written, otherwise };
    for (const one of taken) byName.set(one, field).set(snakeCase(one), field);
    return field;
  });
  const needed = named.filter(({ presence }) => presence === "required");
  const filled = named.filter(({ presence, fallback }) => presence === "implicit" && fallback !== undefined);
  const choices = named.filter(({ presence }) => presence === "oneof").map(({ written }) => written);
  const oneOfThem = `exactly one of ${choices.join(", ")}`;

  return {
    decode(json, at): T | undefined {
      if (typeof json !== "object" || json === null || Array.isArray(json)) {
        return at.refuse(`must be an object with named members, not ${nameOf(json)}`);
      }
      const out: Record<string, unknown> = {};
      let chosen: string | undefined;
      for (const key in json) {
        const field = byName.get(key);
        if (field === undefined) continue;
        const value = (json as Record<string, unknown>)[key];
        if (value === null && !field.type.nullable) continue;
        const { name, written, presence } = field;
        at.enter(written);
        if (out[name] === undefined) decodeField(field, value, out, at);
        else at.refuse(`is there twice, as ${written} and as ${field.otherwise}; send one`);
        at.leave();
        if (presence !== "oneof") continue;
        if (chosen !== undefined && chosen !== written) {
          at.refuse(`has both ${chosen} and ${written}; send ${oneOfThem}`);
        }
        chosen = written;
      }
      for (const field of needed) if (out[field.name] === undefined) takeMissing(field, out, at);
      if (at.fills) for (const field of filled) if (out[field.name] === undefined) fill(field, out, at);
      if (choices.length > 0 && chosen === undefined && (always || at.strict)) {
        at.refuse(`must have ${oneOfThem}`);
      }
      return out as T;
    },
  };
}

// Stands for a refused value in an output that nobody will see, so that it does not count as missing, too.
const REFUSED = Symbol("refused");

function decodeField(field: NamedField, json: unknown, out: Record<string, unknown>, at: Decoding): void {
  const { refusals } = at;
  const value = field.type.decode(json, at);
  if (value === undefined) {
    if (at.refusals > refusals) out[field.name] = REFUSED;
  } else if (
    field.presence === "implicit" &&
    (isEmpty(value) || (field.type.isMap && isBare(value as object)))
  ) {
    // Not set, in the words of proto3.
  } else if (field.presence === "required" && at.strict && isEmpty(value)) {
    at.refuse(Array.isArray(value) ? "must have at least one element" : "must not be empty");
    out[field.name] = REFUSED;
  } else out[field.name] = value;
}

function takeMissing(field: NamedField, out: Record<string, unknown>, at: Decoding): void {
  at.enter(field.written);
  if (at.strict || field.fallback === undefined) at.refuse("is required");
  else fill(field, out, at);
  at.leave();
}

/** Decodes the fallback, so that every message has its own and its members are complete, too. */
function fill({ name, type, fallback }: NamedField, out: Record<string, unknown>, at: Decoding): void {
  out[name] = type.decode(fallback, at);
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

function isBare(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** A repeated field. */
export function list<T>(type: Type<T>): Type<T[]> {
  return {
    decode(json, at): T[] | undefined {
      if (!Array.isArray(json)) return at.refuse(`must be an array, not ${nameOf(json)}`);
      const out: T[] = [];
      for (let index = 0; index < json.length; index++) {
        at.enter(index);
        const item: unknown = json[index];
        if (item === null && !type.nullable) at.refuse("must not be null; leave the element out");
        else {
          const value = type.decode(item, at);
          if (value !== undefined) out.push(value);
        }
        at.leave();
      }
      return out;
    },
  };
}

/** A map with string keys. */
export function map<T>(type: Type<T>): Type<Record<string, T>> {
  return {
    isMap: true,
    decode(json, at): Record<string, T> | undefined {
      if (typeof json !== "object" || json === null || Array.isArray(json)) {
        return at.refuse(`must be an object, not ${nameOf(json)}`);
      }
      const entries: [string, T][] = [];
      for (const [key, item] of Object.entries(json)) {
        at.enter(key);
        const value =
          item === null ? at.refuse("must not be null; leave the key out") : type.decode(item, at);
        if (value !== undefined) entries.push([key, value]);
        at.leave();
      }
      // Defines its keys, so that "__proto__" is a key like any other.
      return Object.fromEntries(entries);
    },
  };
}

/** `type` with a further condition on requests: `complaint` says what is wrong with a value, or nothing. */
export function checked<T>(type: Type<T>, complaint: (value: T) => string | undefined): Type<T> {
  return {
    decode(json, at): T | undefined {
      const value = type.decode(json, at);
      if (value === undefined || !at.strict) return value;
      const problem = complaint(value);
      return problem === undefined ? value : at.refuse(problem);
    },
  };
}

/** `type`, and what becomes of a value that was read without complaint. */
export function converted<A, B>(type: Type<A>, convert: (value: A, at: Decoding) => B | undefined): Type<B> {
  return {
    decode(json, at): B | undefined {
      const { refusals } = at;
      const value = type.decode(json, at);
      if (value === undefined) return undefined;
      // Nobody will see the output of a refused request.
      return at.refusals > refusals ? (value as unknown as B) : convert(value, at);
    },
  };
}

/** A member that is checked, and not kept. */
export function ignored(type: Type<unknown>): Type<never> {
  return {
    decode(json, at): undefined {
      type.decode(json, at);
    },
  };
}

/** What a JSON value is, for people; short, whatever it is. */
export function nameOf(json: unknown): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "an array";
  if (typeof json === "object") return "an object";
  if (typeof json === "string") return json.length > 40 ? "a long string" : JSON.stringify(json);
  return typeof json === "number" || typeof json === "boolean" ? String(json) : "nothing";
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
