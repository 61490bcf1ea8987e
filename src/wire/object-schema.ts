import { isObject } from "../protocol/index.ts";
import { createConvertingSchema, createListSchema, createMapSchema } from "./composite-schemas.ts";
import {
  type MessageDefinitions,
  type MessageField,
  parseMessageDefinition,
  toSnakeCase,
} from "./message-notation.ts";
import { type DecodingContext, type DecodingSchema, formatJsonValue } from "./proto-json-schema.ts";
import { SCALAR_SCHEMAS } from "./scalar-schemas.ts";

/** A field of a message, with the schema of its value, which is a list or a map if the field is one. */
interface FieldSchema extends MessageField {
  readonly valueSchema: DecodingSchema<unknown>;
  /**
   * Rule for missing and empty values of the member.
   * - An empty value of an `implicit` member counts as not set and is omitted.
   * - An empty value of an `optional` member is kept.
   * - A `required` member must be present and not empty.
   * - A message has at most one of its `oneof` members. This member may be empty.
   */
  readonly presence: "implicit" | "optional" | "required" | "oneof";
  /**
   * Default value of a missing member. For `implicit` members, the default applies in strict and tolerant
   * mode. For `required` members, the default applies in tolerant and canonical mode. If a `required`
   * member has no default and is missing, the decoder rejects the message.
   */
  readonly fallback: unknown;
}

/** Schemas by the name of their message or type. */
export type FindSchema = (name: string) => DecodingSchema<unknown>;

/** Converts the decoded members of a message to the model. */
type MessageConversion = (value: never, at: DecodingContext) => unknown;

/**
 * Returns a function that finds the schema of a message or type by its name. `types` contains the schemas of types that
 * are not messages, and `conversions` the conversions of decoded messages by message name.
 */
export function createMessageSchemas(
  definitions: MessageDefinitions,
  types: Readonly<Record<string, DecodingSchema<unknown>>>,
  conversions: Readonly<Record<string, MessageConversion>> = {},
): FindSchema {
  const schemas = new Map(Object.entries({ ...SCALAR_SCHEMAS, ...types }));
  const findSchema = (name: string): DecodingSchema<unknown> => {
    const known = schemas.get(name);
    if (known) return known;
    const definition = definitions[name];
    if (definition === undefined) throw new Error(`The message "${name}" is not defined.`);
    const fields = parseMessageDefinition(definition);
    const message = createObjectSchema(fields.map((field) => createFieldSchema(field, findSchema)));
    const convert = conversions[name] as ((value: unknown, at: DecodingContext) => unknown) | undefined;
    const schema = convert ? { ...createConvertingSchema(message, convert), emptyValue: {} } : message;
    schemas.set(name, schema);
    return schema;
  };
  return findSchema;
}

function createFieldSchema(field: MessageField, findSchema: FindSchema): FieldSchema {
  const { isOneofMember, isList, isMap, suffix } = field;
  const item = findSchema(field.schema);
  const valueSchema = isList ? createListSchema(item) : isMap ? createMapSchema(item) : item;
  const isRequired = suffix === "+" || suffix === "*";
  const isOptional = suffix === "?" || suffix === "!";
  return {
    ...field,
    valueSchema,
    presence: isOneofMember ? "oneof" : isRequired ? "required" : isOptional ? "optional" : "implicit",
    fallback: suffix === "*" || suffix === "~" ? valueSchema.emptyValue : undefined,
  };
}

/**
 * Creates a schema for a message. The decoder accepts each member under its camelCase name or its snake_case name, but
 * not under both names. The decoder ignores unknown members. If the message has `oneof` members, a request must have
 * exactly one of them. A response may omit them, unless they have the suffix `+`.
 */
function createObjectSchema(fields: readonly FieldSchema[]): DecodingSchema<object> {
  const byName = new Map<string, FieldSchema>();
  for (const field of fields)
    for (const name of [field.wireName, field.alternateName])
      byName.set(name, field).set(toSnakeCase(name), field);
  const requiredFields = fields.filter(({ presence }) => presence === "required");
  const defaultedFields = fields.filter(
    ({ presence, fallback }) => presence === "implicit" && fallback !== undefined,
  );
  const choices = fields.filter(({ presence }) => presence === "oneof").map(({ wireName }) => wireName);
  const oneofHint = `exactly one of ${choices.join(", ")}`;
  const requiresOneof = fields.some(({ presence, suffix }) => presence === "oneof" && suffix === "+");

  return {
    emptyValue: {},
    decode(json, at): object | undefined {
      if (!isObject(json)) {
        return at.addViolation(`must be an object with named members, not ${formatJsonValue(json)}`);
      }
      const out: Record<string, unknown> = {};
      let chosen: string | undefined;
      for (const key in json) {
        const field = byName.get(key);
        if (field === undefined) continue;
        const value = json[key];
        if (value === null && !field.valueSchema.isNullable) continue;
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
      return out;
    },
  };
}

// Placeholder for a rejected value, so the member is not also reported as missing. The output of a rejected
// request is never used.
const SUBSTITUTE_FOR_REJECTED_VALUE = Symbol("refused");

function decodeObjectField(
  field: FieldSchema,
  json: unknown,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  const { refusalCount: refusalsBefore } = at;
  const value = field.valueSchema.decode(json, at);
  if (value === undefined) {
    if (at.refusalCount > refusalsBefore) out[field.name] = SUBSTITUTE_FOR_REJECTED_VALUE;
  } else if (
    field.presence === "implicit" &&
    (isEmptyScalarOrList(value) || (field.valueSchema.isMap && isEmptyObject(value as object)))
  ) {
    // In proto3 an empty value counts as not set.
  } else if (field.presence === "required" && at.isStrict && isEmptyScalarOrList(value)) {
    at.addViolation(Array.isArray(value) ? "must have at least one element" : "must not be empty");
    out[field.name] = SUBSTITUTE_FOR_REJECTED_VALUE;
  } else out[field.name] = value;
}

function resolveMissingField(field: FieldSchema, out: Record<string, unknown>, at: DecodingContext): void {
  at.pushPath(field.wireName);
  if (at.isStrict || field.fallback === undefined) at.addViolation("is required");
  else setDecodedDefaultFieldValue(field, out, at);
  at.popPath();
}

/** Decodes the fallback value, so that each message gets its own complete copy. */
function setDecodedDefaultFieldValue(
  { name, valueSchema, fallback }: FieldSchema,
  out: Record<string, unknown>,
  at: DecodingContext,
): void {
  out[name] = valueSchema.decode(fallback, at);
}

function isEmptyScalarOrList(value: unknown): boolean {
  return value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

function isEmptyObject(value: object): boolean {
  return Object.keys(value).length === 0;
}
