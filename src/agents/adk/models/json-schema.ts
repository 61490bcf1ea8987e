import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import type { GenaiSchema } from "./genai-types.ts";

/**
 * Converts a `genai` schema to JSON Schema. ADK describes parameters in `genai`'s dialect of JSON Schema,
 * which has upper-case types, `nullable`, and numbers as strings.
 */
export function toJsonSchema(schema: GenaiSchema | undefined): JsonObject {
  if (!schema) return { type: "object", properties: {} };
  const {
    type,
    nullable,
    properties,
    items,
    anyOf,
    enum: values,
    example,
    propertyOrdering: _,
    minItems,
    maxItems,
    minLength,
    maxLength,
    minProperties,
    maxProperties,
    default: fallback,
    ...same
  } = schema;
  const result: JsonObject = { ...(same as JsonObject) };
  if (fallback !== undefined) result["default"] = fallback as JsonValue;
  const name = type ? type.toLowerCase() : "";
  if (name && name !== "type_unspecified") result["type"] = nullable ? [name, "null"] : name;
  if (properties) result["properties"] = mapValues(properties, toJsonSchema);
  else if (name === "object") result["properties"] = {};
  if (items) result["items"] = toJsonSchema(items);
  if (anyOf) result["anyOf"] = [...anyOf.map(toJsonSchema), ...(nullable && !type ? [{ type: "null" }] : [])];
  // A nullable enum must list `null` among its values.
  if (values) result["enum"] = nullable ? [...values, null] : values;
  if (example !== undefined) result["examples"] = [example as JsonValue];
  const counts = { minItems, maxItems, minLength, maxLength, minProperties, maxProperties };
  for (const [limit, count] of Object.entries(counts)) {
    if (count !== undefined) result[limit] = Number(count);
  }
  return result;
}

function mapValues<A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
