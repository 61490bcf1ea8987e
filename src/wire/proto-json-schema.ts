import { A2AError, type FieldViolation, isObject } from "../protocol/index.ts";
import { isDeviationAccepted, type LeniencyName, type PeerLeniency } from "./leniency.ts";

/**
 * A decoder for values of one ProtoJSON type. The schema of a protocol version consists of schemas that
 * `createObjectSchema`, `createListSchema`, `createMapSchema`, and `scalar-schemas.ts` provide. A schema
 * does not throw if the input is invalid. The schema adds every violation with its path to the
 * `DecodingContext`, which the caller checks at the end.
 */
export interface DecodingSchema<T> {
  /**
   * Decodes a JSON value to its normal form. Returns `undefined` if the value is not set or invalid. For
   * an invalid value, the schema also adds a violation.
   */
  decode(json: unknown, at: DecodingContext): T | undefined;
  /**
   * `true` if `null` is a valid value. For all other types, `null` means that the value is not set.
   */
  readonly isNullable?: boolean;
  /** `true` for maps. An empty map counts as missing, but an empty message counts as present. */
  readonly isMap?: boolean;
}

/** Maximum number of violations that an error reports for one request. */
const MAX_VIOLATIONS = 20;
/** Maximum number of elements in a list of a request, such as the parts of a message. */
const MAX_REQUEST_LIST_LENGTH = 1_000;
const MAX_PATH_SEGMENT_LENGTH = 100;

/**
 * How strictly the decoder checks its input.
 * - In `strict` mode, which is used for requests, the decoder validates all values.
 * - In `tolerant` mode, which is used for responses, the decoder ignores unknown values, and missing members
 *   get defaults.
 * - The `canonical` mode is like `tolerant` mode, but only required members get defaults. The same card
 *   therefore decodes to the same value, even if different programs wrote the card.
 */
type DecodingMode = "strict" | "tolerant" | "canonical";

/** State of a decoding process: the current path, and all violations found so far. */
export class DecodingContext {
  readonly isStrict: boolean;
  /** `true` if missing optional members get their default value. */
  readonly fillsDefaults: boolean;
  readonly violations: FieldViolation[] = [];
  /** Number of all violations, which may exceed the number of reported violations. */
  refusalCount = 0;
  readonly #rootName: string;
  readonly #leniency: PeerLeniency;
  readonly #path: (string | number)[] = [];

  /** The parameter `root` is the path of the top-level value, for example `params`. */
  constructor(root: string, mode: DecodingMode, leniency: PeerLeniency = "all") {
    this.#rootName = root;
    this.#leniency = leniency;
    this.isStrict = mode === "strict";
    this.fillsDefaults = mode !== "canonical";
  }

  /** Returns whether the decoder accepts a deviation from the specification that real peers have. */
  accepts(name: LeniencyName): boolean {
    return isDeviationAccepted(name, this.#leniency);
  }

  pushPath(step: string | number): void {
    this.#path.push(step);
  }

  popPath(): void {
    this.#path.pop();
  }

  /**
   * Adds a violation at the current path. The description of a violation should explain how to correct the
   * value.
   */
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
      // A Struct key can be as long as the request. Truncation keeps the error response small.
      else path += `${path === "" ? "" : "."}${step.slice(0, MAX_PATH_SEGMENT_LENGTH)}`;
    }
    return path === "" ? this.#rootName : path;
  }
}

/** Decodes a complete request in strict mode. Throws an `INVALID_PARAMS` error that lists every violation. */
export function decodeRequestStrictly<T>(
  schema: DecodingSchema<T>,
  json: unknown,
  root: string,
  leniency?: PeerLeniency,
): T {
  const at = new DecodingContext(root, "strict", leniency);
  const value = schema.decode(json, at);
  if (value === undefined || at.violations.length > 0)
    throw A2AError.invalidParams(at.violations, at.refusalCount);
  return value;
}

/**
 * Decodes a response of another agent in tolerant mode. Throws `INVALID_AGENT_RESPONSE` if the response is
 * unusable.
 */
export function decodeResponseTolerantly<T>(
  schema: DecodingSchema<T>,
  json: unknown,
  root: string,
  mode: "tolerant" | "canonical" = "tolerant",
  leniency?: PeerLeniency,
): T {
  const at = new DecodingContext(root, mode, leniency);
  const value = schema.decode(json, at);
  const [first] = at.violations;
  if (value !== undefined && !first) return value;
  const problem = first ? `${first.field} ${first.description}` : `${root} is empty`;
  throw new A2AError("INVALID_AGENT_RESPONSE", `The agent's response is not valid A2A: ${problem}.`, {
    violations: at.violations,
  });
}

/** Schema of a message member, with the rule for absent values. */
interface FieldSchema<T> {
  readonly schema: DecodingSchema<T>;
  /**
   * Rule for missing and empty values of the member.
   * - An empty value of an `implicit` member counts as not set and is omitted.
   * - An empty value of an `optional` member is kept.
   * - A `required` member must be present and not empty.
   * - A message has at most one of its `defineOneofMember` members. This member may be empty.
   */
  readonly presence: "implicit" | "optional" | "required" | "oneof";
  /**
   * Default value of a missing member. For `implicit` members, the default applies in strict and tolerant
   * mode. For `required` members, the default applies in tolerant and canonical mode. If a `required`
   * member has no default and is missing, the decoder rejects the message.
   */
  readonly fallback?: unknown;
}

/** Declares a required member of a message. In tolerant mode, `fallback` replaces a missing value. */
export function required<T>(schema: DecodingSchema<T>, fallback?: unknown): FieldSchema<T> {
  return { schema, presence: "required", fallback };
}

/** Declares a message member that decodes to `fallback` if the member is absent. */
export function withDefault<T>(schema: DecodingSchema<T>, fallback: unknown): FieldSchema<T> {
  return { schema, presence: "implicit", fallback };
}

/** Declares an optional message member that keeps empty values. */
export function optional<T>(schema: DecodingSchema<T>): FieldSchema<T> {
  return { schema, presence: "optional" };
}

/** Declares a message member that belongs to the oneof of the message. */
export function defineOneofMember<T>(schema: DecodingSchema<T>): FieldSchema<T> {
  return { schema, presence: "oneof" };
}

type UnionKeys<T> = T extends unknown ? keyof T : never;
type MemberTypeAcrossUnionVariants<T, K> = T extends unknown
  ? K extends keyof T
    ? Exclude<T[K], undefined>
    : never
  : never;

/**
 * Schemas for all members of the message type `T`. If `T` is a union, the type has a schema for each
 * member of every variant. The compiler reports an error if a member has no schema.
 */
export type FieldSchemas<T> = {
  readonly [K in UnionKeys<T>]-?:
    | DecodingSchema<MemberTypeAcrossUnionVariants<T, K>>
    | FieldSchema<MemberTypeAcrossUnionVariants<T, K>>;
};

interface NamedFieldSchema extends FieldSchema<unknown> {
  readonly name: string;
  /**
   * Name of the member in the JSON of the protocol. The decoder also accepts the member under the name in
   * `alternateName`.
   */
  readonly wireName: string;
  readonly alternateName: string;
}

/** Options for `createObjectSchema`. */
interface ObjectSchemaOptions<T> {
  /** If `true`, both requests and responses must have a `defineOneofMember` member. Default: `false`. */
  readonly requiresOneof?: boolean;
  /**
   * Protocol names of renamed members. The preferred name comes first, followed by other accepted names.
   */
  readonly wireNames?: { readonly [K in UnionKeys<T>]?: readonly [string, ...string[]] };
}

/**
 * Creates a schema for a message. The decoder accepts each member under its camelCase name or its snake_case name, but
 * not under both names. The decoder ignores unknown members. If the schema has `defineOneofMember` members, a request
 * must have exactly one `defineOneofMember` member. A response may omit the `defineOneofMember` member, unless
 * `requiresOneof` is set.
 */
export function createObjectSchema<T extends object>(
  fields: FieldSchemas<T>,
  options: ObjectSchemaOptions<T> = {},
): DecodingSchema<T> {
  const { requiresOneof = false } = options;
  const names: Readonly<Record<string, readonly [string, ...string[]] | undefined>> = options.wireNames ?? {};
  const byName = new Map<string, NamedFieldSchema>();
  const namedFields = Object.entries<DecodingSchema<unknown> | FieldSchema<unknown>>(fields).map(
    ([name, fieldSchema]): NamedFieldSchema => {
      const acceptedNames = names[name] ?? [name];
      const [wireName, alternateName = toSnakeCase(wireName)] = acceptedNames;
      const member =
        "decode" in fieldSchema ? { schema: fieldSchema, presence: "implicit" as const } : fieldSchema;
      const field = { ...member, name, wireName, alternateName };
      for (const acceptedName of acceptedNames)
        byName.set(acceptedName, field).set(toSnakeCase(acceptedName), field);
      return field;
    },
  );
  const requiredFields = namedFields.filter(({ presence }) => presence === "required");
  const defaultedFields = namedFields.filter(
    ({ presence, fallback }) => presence === "implicit" && fallback !== undefined,
  );
  const choices = namedFields.filter(({ presence }) => presence === "oneof").map(({ wireName }) => wireName);
  const oneofHint = `exactly one of ${choices.join(", ")}`;

  return {
    decode(json, at): T | undefined {
      if (!isObject(json)) {
        return at.addViolation(`must be an object with named members, not ${formatJsonValue(json)}`);
      }
      const out: Record<string, unknown> = {};
      let chosen: string | undefined;
      for (const key in json) {
        const field = byName.get(key);
        if (field === undefined) continue;
        const value = json[key];
        if (value === null && !field.schema.isNullable) continue;
        const { name, wireName, presence } = field;
        at.pushPath(wireName);
        if (out[name] === undefined) decodeObjectField(field, value, out, at);
        else at.addViolation(`is present twice, as ${wireName} and as ${field.alternateName}; send only one`);
        at.popPath();
        if (presence !== "oneof") continue;
        if (chosen !== undefined && chosen !== wireName) {
          at.addViolation(`has both ${chosen} and ${wireName}; send ${oneofHint}`);
        }
        chosen = wireName;
      }
      for (const field of requiredFields)
        if (out[field.name] === undefined) resolveMissingField(field, out, at);
      if (at.fillsDefaults)
        for (const field of defaultedFields)
          if (out[field.name] === undefined) setDecodedDefaultFieldValue(field, out, at);
      if (choices.length > 0 && chosen === undefined && (requiresOneof || at.isStrict)) {
        at.addViolation(`must have ${oneofHint}`);
      }
      return out as T;
    },
  };
}

// Placeholder for a rejected value, so the member is not also reported as missing. The output of a rejected
// request is never used.
const SUBSTITUTE_FOR_REJECTED_VALUE = Symbol("refused");

function decodeObjectField(
  field: NamedFieldSchema,
  json: unknown,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  const { refusalCount: refusalsBefore } = at;
  const value = field.schema.decode(json, at);
  if (value === undefined) {
    if (at.refusalCount > refusalsBefore) out[field.name] = SUBSTITUTE_FOR_REJECTED_VALUE;
  } else if (
    field.presence === "implicit" &&
    (isEmptyScalarOrList(value) || (field.schema.isMap && isEmptyObject(value as object)))
  ) {
    // In proto3 an empty value counts as not set.
  } else if (field.presence === "required" && at.isStrict && isEmptyScalarOrList(value)) {
    at.addViolation(Array.isArray(value) ? "must have at least one element" : "must not be empty");
    out[field.name] = SUBSTITUTE_FOR_REJECTED_VALUE;
  } else out[field.name] = value;
}

function resolveMissingField(
  field: NamedFieldSchema,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  at.pushPath(field.wireName);
  if (at.isStrict || field.fallback === undefined) at.addViolation("is required");
  else setDecodedDefaultFieldValue(field, out, at);
  at.popPath();
}

/** Decodes the fallback value, so that each message gets its own complete copy. */
function setDecodedDefaultFieldValue(
  { name, schema, fallback }: NamedFieldSchema,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  out[name] = schema.decode(fallback, at);
}

function isEmptyScalarOrList(value: unknown): boolean {
  return value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

function isEmptyObject(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** Creates a schema for a repeated field, which has at most 1,000 elements in a request. */
export function createListSchema<T>(schema: DecodingSchema<T>): DecodingSchema<T[]> {
  return {
    decode(json, at): T[] | undefined {
      if (!Array.isArray(json)) return at.addViolation(`must be an array, not ${formatJsonValue(json)}`);
      if (at.isStrict && json.length > MAX_REQUEST_LIST_LENGTH)
        return at.addViolation(`has ${json.length} elements; send at most ${MAX_REQUEST_LIST_LENGTH}`);
      const out: T[] = [];
      for (let index = 0; index < json.length; index++) {
        at.pushPath(index);
        const item: unknown = json[index];
        if (item === null && !schema.isNullable) at.addViolation("must not be null; leave the element out");
        else {
          const value = schema.decode(item, at);
          if (value !== undefined) out.push(value);
        }
        at.popPath();
      }
      return out;
    },
  };
}

/** Creates a schema for a map with string keys. */
export function createMapSchema<T>(schema: DecodingSchema<T>): DecodingSchema<Record<string, T>> {
  return {
    isMap: true,
    decode(json, at): Record<string, T> | undefined {
      if (!isObject(json)) return at.addViolation(`must be an object, not ${formatJsonValue(json)}`);
      const entries: [string, T][] = [];
      for (const [key, item] of Object.entries(json)) {
        at.pushPath(key);
        const value =
          item === null ? at.addViolation("must not be null; leave the key out") : schema.decode(item, at);
        if (value !== undefined) entries.push([key, value]);
        at.popPath();
      }
      // Object.fromEntries defines its keys, so "__proto__" becomes a normal key.
      return Object.fromEntries(entries);
    },
  };
}

/**
 * Adds a check to a schema. The check applies only to requests. The function `findViolation` returns the
 * description of a violation, or `undefined` if the value is valid.
 */
export function createCheckedSchema<T>(
  schema: DecodingSchema<T>,
  findViolation: (value: T) => string | undefined,
): DecodingSchema<T> {
  return {
    decode(json, at): T | undefined {
      const value = schema.decode(json, at);
      if (value === undefined || !at.isStrict) return value;
      const violation = findViolation(value);
      return violation === undefined ? value : at.addViolation(violation);
    },
  };
}

/** Creates a schema that decodes a value with another schema and then converts the value. */
export function createConvertingSchema<A, B>(
  schema: DecodingSchema<A>,
  convert: (value: A, at: DecodingContext) => B | undefined,
): DecodingSchema<B> {
  return {
    decode(json, at): B | undefined {
      const { refusalCount: refusalsBefore } = at;
      const value = schema.decode(json, at);
      if (value === undefined) return undefined;
      // The output of a rejected request is never used.
      return at.refusalCount > refusalsBefore ? (value as unknown as B) : convert(value, at);
    },
  };
}

/** Creates a schema that validates a member and discards its value. */
export function createValidateOnlySchema(schema: DecodingSchema<unknown>): DecodingSchema<never> {
  return {
    decode(json, at): undefined {
      schema.decode(json, at);
    },
  };
}

/** Formats a JSON value as a short text for error messages. */
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
