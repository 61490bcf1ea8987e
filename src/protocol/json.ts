/** Any JSON value, equivalent to `google.protobuf.Value`. JSON numbers are IEEE 754 doubles. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object, equivalent to `google.protobuf.Struct`. */
export type JsonObject = { [key: string]: JsonValue };

/** Returns true if a value that was parsed from JSON is an object, and neither an array nor `null`. */
export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Returns true if two JSON values are equal. The order of the members of an object has no meaning. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [entries, others] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    entries.length === others.size &&
    entries.every(([name, value]) => others.has(name) && isSameJson(value, others.get(name)))
  );
}
