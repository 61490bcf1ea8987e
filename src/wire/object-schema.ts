import { isObject } from "../protocol/index.ts";
import { type DecodingContext, type DecodingSchema, formatJsonValue } from "./proto-json-schema.ts";

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

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
