/** Any JSON value, equivalent to `google.protobuf.Value`. JSON numbers are IEEE 754 doubles. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object, equivalent to `google.protobuf.Struct`. */
export type JsonObject = { [key: string]: JsonValue };

/** Returns true if a value that was parsed from JSON is an object, and neither an array nor `null`. */
export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
