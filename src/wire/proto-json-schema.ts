import { A2AError, type FieldViolation } from "../protocol/index.ts";

/**
 * Reading ProtoJSON by descriptors. A `Schema` reads one kind of value; `createMessageSchema`, `createListSchema`, `map` and the scalars of
 * `scalars.ts` compose into the schema of a protocol version. Decoding never throws for what it reads: it notes
 * every violation with its path, and the caller asks at the end.
 */
export interface Schema<T> {
  /** The value in its normal form. Undefined: nothing was set, or it was refused and the violation is noted. */
  decode(json: unknown, at: DecodingContext): T | undefined;
  /** True when JSON `null` is a value of this type; for all others it means "not set". */
  readonly isNullable?: boolean;
  /** True for maps, of which an empty one is the same as none; an empty message is one that is set. */
  readonly isMap?: boolean;
}

/** A request may be wrong in a million places; nobody reads more than these. */
const MAX_VIOLATIONS = 100;
const MAX_PATH_SEGMENT_LENGTH = 100;

/**
 * `isStrict`: requests, everything is checked. `tolerant`: answers, whatever can be used is taken. `canonical`: the same,
 * but nothing is filled in for the reader's comfort, so that every writer's form comes out the same.
 */
export type DecodingMode = "strict" | "tolerant" | "canonical";

/** One decoding under way: where it stands and what it has found. */
export class DecodingContext {
  readonly isStrict: boolean;
  /** Absent members that may be absent get their default. */
  readonly fillsDefaults: boolean;
  readonly violations: FieldViolation[] = [];
  /** How much was refused, noted or not. */
  refusalCount = 0;
  readonly #rootName: string;
  readonly #path: (string | number)[] = [];

  /** `root` names the whole in violations, for example `params`. */
  constructor(root: string, mode: DecodingMode) {
    this.#rootName = root;
    this.isStrict = mode === "strict";
    this.fillsDefaults = mode !== "canonical";
  }

  pushPath(step: string | number): void {
    this.#path.push(step);
  }

  popPath(): void {
    this.#path.pop();
  }

  /** Notes a violation at the present place. The description says how to put it right. */
  addViolation(description: string): undefined {
    this.refusalCount++;
    if (this.violations.length < MAX_VIOLATIONS)
      this.violations.push({ field: this.#formatPath(), description });
    return undefined;
  }

  #formatPath(): string {
    let path = "";
    for (const step of this.#path) {
      if (typeof step === "number") path += `[${step}]`;
      // Keys of a Struct may be as long as the request; a hundred copies of one must not be the answer to it.
      else path += `${path === "" ? "" : "."}${step.slice(0, MAX_PATH_SEGMENT_LENGTH)}`;
    }
    return path === "" ? this.#rootName : path;
  }
}

/** Reads a whole request strictly; throws INVALID_PARAMS with every violation. */
export function decodeStrictly<T>(type: Schema<T>, json: unknown, root: string): T {
  const at = new DecodingContext(root, "strict");
  const value = type.decode(json, at);
  if (value === undefined || at.violations.length > 0) throw A2AError.invalidParams(at.violations);
  return value;
}

/** Reads somebody else's answer and takes what can be used; throws INVALID_AGENT_RESPONSE when it cannot. */
export function decodeTolerantly<T>(
  type: Schema<T>,
  json: unknown,
  root: string,
  mode: "tolerant" | "canonical" = "tolerant",
): T {
  const at = new DecodingContext(root, mode);
  const value = type.decode(json, at);
  const [first] = at.violations;
  if (value !== undefined && !first) return value;
  const what = first ? `${first.field} ${first.description}` : `${root} is empty`;
  throw new A2AError("INVALID_AGENT_RESPONSE", `The answer is not valid A2A: ${what}.`, {
    violations: at.violations,
  });
}

/** A member of a message: its type and what its absence means. */
export interface FieldSchema<T> {
  readonly schema: Schema<T>;
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

export function required<T>(type: Schema<T>, fallback?: unknown): FieldSchema<T> {
  return { schema: type, presence: "required", fallback };
}

/** May be absent, and then reads as that value. */
export function withDefault<T>(type: Schema<T>, fallback: unknown): FieldSchema<T> {
  return { schema: type, presence: "implicit", fallback };
}

export function optional<T>(type: Schema<T>): FieldSchema<T> {
  return { schema: type, presence: "optional" };
}

export function oneof<T>(type: Schema<T>): FieldSchema<T> {
  return { schema: type, presence: "oneof" };
}

type UnionKeys<T> = T extends unknown ? keyof T : never;
type UnionValue<T, K> = T extends unknown ? (K extends keyof T ? Exclude<T[K], undefined> : never) : never;

/** A field for every member of `T` (of every variant of a union), so that the compiler asks for a forgotten one. */
export type FieldSchemas<T> = {
  readonly [K in UnionKeys<T>]-?: Schema<UnionValue<T, K>> | FieldSchema<UnionValue<T, K>>;
};

interface NamedFieldSchema extends FieldSchema<unknown> {
  readonly name: string;
  /** Its name on the wire, and another that is taken. */
  readonly wireName: string;
  readonly alternateName: string;
}

/** How a message is read, where that does not follow from its fields. */
export interface MessageSchemaOptions<T> {
  /** With `oneof` members, an answer must have one of them, too. Default false. */
  readonly requiresOneof?: boolean;
  /** The names on the wire of members that are called something else there: the proper one, then others that are taken. */
  readonly wireNames?: { readonly [K in UnionKeys<T>]?: readonly [string, ...string[]] };
}

/**
 * A message. Members are known by their camelCase and their snake_case name; two at once are refused, unknown ones
 * ignored. With `oneof` members, one must be there; an answer may lack it unless `requiresOneof` is set.
 */
export function createMessageSchema<T extends object>(
  fields: FieldSchemas<T>,
  options: MessageSchemaOptions<T> = {},
): Schema<T> {
  const { requiresOneof: always = false } = options;
  const names: Readonly<Record<string, readonly [string, ...string[]] | undefined>> = options.wireNames ?? {};
  const byName = new Map<string, NamedFieldSchema>();
  const named = Object.entries<Schema<unknown> | FieldSchema<unknown>>(fields).map(
    ([name, given]): NamedFieldSchema => {
      const taken = names[name] ?? [name];
      const [written, otherwise = toSnakeCase(written)] = taken;
      const about = "decode" in given ? { schema: given, presence: "implicit" as const } : given;
      const field = { ...about, name, wireName: written, alternateName: otherwise };
      for (const one of taken) byName.set(one, field).set(toSnakeCase(one), field);
      return field;
    },
  );
  const needed = named.filter(({ presence }) => presence === "required");
  const filled = named.filter(({ presence, fallback }) => presence === "implicit" && fallback !== undefined);
  const choices = named
    .filter(({ presence }) => presence === "oneof")
    .map(({ wireName: written }) => written);
  const oneOfThem = `exactly one of ${choices.join(", ")}`;

  return {
    decode(json, at): T | undefined {
      if (typeof json !== "object" || json === null || Array.isArray(json)) {
        return at.addViolation(`must be an object with named members, not ${formatJsonValue(json)}`);
      }
      const out: Record<string, unknown> = {};
      let chosen: string | undefined;
      for (const key in json) {
        const field = byName.get(key);
        if (field === undefined) continue;
        const value = (json as Record<string, unknown>)[key];
        if (value === null && !field.schema.isNullable) continue;
        const { name, wireName: written, presence } = field;
        at.pushPath(written);
        if (out[name] === undefined) decodeField(field, value, out, at);
        else at.addViolation(`is there twice, as ${written} and as ${field.alternateName}; send one`);
        at.popPath();
        if (presence !== "oneof") continue;
        if (chosen !== undefined && chosen !== written) {
          at.addViolation(`has both ${chosen} and ${written}; send ${oneOfThem}`);
        }
        chosen = written;
      }
      for (const field of needed) if (out[field.name] === undefined) resolveMissingField(field, out, at);
      if (at.fillsDefaults)
        for (const field of filled) if (out[field.name] === undefined) fillDefault(field, out, at);
      if (choices.length > 0 && chosen === undefined && (always || at.isStrict)) {
        at.addViolation(`must have ${oneOfThem}`);
      }
      return out as T;
    },
  };
}

// Stands for a refused value in an output that nobody will see, so that it does not count as missing, too.
const REFUSED_VALUE = Symbol("refused");

function decodeField(
  field: NamedFieldSchema,
  json: unknown,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  const { refusalCount: refusals } = at;
  const value = field.schema.decode(json, at);
  if (value === undefined) {
    if (at.refusalCount > refusals) out[field.name] = REFUSED_VALUE;
  } else if (
    field.presence === "implicit" &&
    (isEmpty(value) || (field.schema.isMap && isEmptyObject(value as object)))
  ) {
    // Not set, in the words of proto3.
  } else if (field.presence === "required" && at.isStrict && isEmpty(value)) {
    at.addViolation(Array.isArray(value) ? "must have at least one element" : "must not be empty");
    out[field.name] = REFUSED_VALUE;
  } else out[field.name] = value;
}

function resolveMissingField(
  field: NamedFieldSchema,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  at.pushPath(field.wireName);
  if (at.isStrict || field.fallback === undefined) at.addViolation("is required");
  else fillDefault(field, out, at);
  at.popPath();
}

/** Decodes the fallback, so that every message has its own and its members are complete, too. */
function fillDefault(
  { name, schema: type, fallback }: NamedFieldSchema,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  out[name] = type.decode(fallback, at);
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

function isEmptyObject(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** A repeated field. */
export function createListSchema<T>(type: Schema<T>): Schema<T[]> {
  return {
    decode(json, at): T[] | undefined {
      if (!Array.isArray(json)) return at.addViolation(`must be an array, not ${formatJsonValue(json)}`);
      const out: T[] = [];
      for (let index = 0; index < json.length; index++) {
        at.pushPath(index);
        const item: unknown = json[index];
        if (item === null && !type.isNullable) at.addViolation("must not be null; leave the element out");
        else {
          const value = type.decode(item, at);
          if (value !== undefined) out.push(value);
        }
        at.popPath();
      }
      return out;
    },
  };
}

/** A map with string keys. */
export function createMapSchema<T>(type: Schema<T>): Schema<Record<string, T>> {
  return {
    isMap: true,
    decode(json, at): Record<string, T> | undefined {
      if (typeof json !== "object" || json === null || Array.isArray(json)) {
        return at.addViolation(`must be an object, not ${formatJsonValue(json)}`);
      }
      const entries: [string, T][] = [];
      for (const [key, item] of Object.entries(json)) {
        at.pushPath(key);
        const value =
          item === null ? at.addViolation("must not be null; leave the key out") : type.decode(item, at);
        if (value !== undefined) entries.push([key, value]);
        at.popPath();
      }
      // Defines its keys, so that "__proto__" is a key like any other.
      return Object.fromEntries(entries);
    },
  };
}

/** `schema` with a further condition on requests: `complaint` says what is wrong with a value, or nothing. */
export function withCheck<T>(type: Schema<T>, complaint: (value: T) => string | undefined): Schema<T> {
  return {
    decode(json, at): T | undefined {
      const value = type.decode(json, at);
      if (value === undefined || !at.isStrict) return value;
      const problem = complaint(value);
      return problem === undefined ? value : at.addViolation(problem);
    },
  };
}

/** `schema`, and what becomes of a value that was read without complaint. */
export function withConversion<A, B>(
  type: Schema<A>,
  convert: (value: A, at: DecodingContext) => B | undefined,
): Schema<B> {
  return {
    decode(json, at): B | undefined {
      const { refusalCount: refusals } = at;
      const value = type.decode(json, at);
      if (value === undefined) return undefined;
      // Nobody will see the output of a refused request.
      return at.refusalCount > refusals ? (value as unknown as B) : convert(value, at);
    },
  };
}

/** A member that is checked, and not kept. */
export function createIgnoredSchema(type: Schema<unknown>): Schema<never> {
  return {
    decode(json, at): undefined {
      type.decode(json, at);
    },
  };
}

/** What a JSON value is, for people; short, whatever it is. */
export function formatJsonValue(json: unknown): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "an array";
  if (typeof json === "object") return "an object";
  if (typeof json === "string") return json.length > 40 ? "a long string" : JSON.stringify(json);
  return typeof json === "number" || typeof json === "boolean" ? String(json) : "nothing";
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
