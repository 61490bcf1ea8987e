import type { JsonValue } from "../protocol/index.ts";

/** What a framework hands around, as JSON: what JSON has no word for (functions, cycles) becomes null. */
export function toJson(value: unknown): JsonValue {
  try {
    const json = JSON.stringify(value, (_, field: unknown) =>
      typeof field === "bigint" ? String(field) : field,
    ) as string | undefined;
    return json === undefined ? null : (JSON.parse(json) as JsonValue);
  } catch {
    return null;
  }
}
