import type { JsonValue } from "../../protocol/index.ts";

/**
 * Converts a JavaScript value to a JSON value. Values that JSON cannot represent, such as functions and
 * cyclic objects, become null.
 */
export function toJsonValue(value: unknown): JsonValue {
  try {
    const json = JSON.stringify(value, (_, field: unknown) =>
      typeof field === "bigint" ? String(field) : field,
    ) as string | undefined;
    return json === undefined ? null : (JSON.parse(json) as JsonValue);
  } catch {
    return null;
  }
}
