/** Any JSON value, equivalent to `google.protobuf.Value`. JSON numbers are IEEE 754 doubles. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object, equivalent to `google.protobuf.Struct`. */
export type JsonObject = { [key: string]: JsonValue };

/** Returns true if a value that was parsed from JSON is an object, and neither an array nor `null`. */
export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Parses JSON text, or returns `undefined` if the text is not valid JSON. */
export function parseJsonOrUndefined(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
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

/**
 * Estimates the size of a JSON value in characters, without serializing the value. The estimate counts the
 * characters of text, and a few characters for each member, number, and list. The estimate stops above `limit`.
 */
export function estimateJsonSize(value: unknown, limit: number = Infinity): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size > limit) break;
      size += estimateJsonSize(item, limit - size) + 1;
    }
    return size;
  }
  // `for…in` creates no lists of members, and is several times faster than `Object.entries`.
  for (const name in value) {
    if (size > limit) break;
    const member: unknown = value[name as keyof typeof value];
    if (member !== undefined) size += name.length + 4 + estimateJsonSize(member, limit - size);
  }
  return size;
}
