/** Any JSON value, as `google.protobuf.Value` has it. Numbers are IEEE doubles. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object, as `google.protobuf.Struct` has it. */
export type JsonObject = { [key: string]: JsonValue };

/** Returns `true` if a value that was parsed from JSON is an object, and neither an array nor `null`. */
export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
