import { isObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

/**
 * Formats the value of a metadata member for people. The titles of documents replace their texts, and a short phrase
 * replaces each failed try. All other objects are JSON.
 */
export function formatCardMetadataValue(name: string, value: JsonValue): string {
  if (typeof value === "string") return value;
  if (name === "context" && isObject(value)) return formatContext(value);
  if (Array.isArray(value)) {
    const texts = value.map((item) =>
      name === "failed_tries" && isObject(item) ? formatFailedTry(item) : item,
    );
    if (texts.every((item) => typeof item === "string")) return texts.join(" | ");
  }
  return JSON.stringify(value);
}

function formatContext({ documents, ...rest }: JsonObject): string {
  const other = Object.keys(rest).length > 0 ? [JSON.stringify(rest)] : [];
  if (!Array.isArray(documents))
    return documents === undefined ? other.join("") : JSON.stringify({ documents, ...rest });
  const titles = documents.map((entry) => (isObject(entry) ? entry["title"] : undefined));
  const named = titles.filter((title) => typeof title === "string");
  const count = documents.length === 1 ? "1 document" : `${documents.length} documents`;
  return [named.length > 0 ? `${count}: ${named.join(" | ")}` : count, ...other].join("  ");
}

function formatFailedTry({ reason, error, http_status, wait_ms }: JsonObject): string {
  const status = typeof http_status === "number" ? ` ${http_status}` : "";
  const wait = typeof wait_ms === "number" && wait_ms > 0 ? ` (repeated after ${wait_ms / 1_000} s)` : "";
  return `${typeof reason === "string" ? reason : "failed"}${status}: ${typeof error === "string" ? error : "unknown"}${wait}`;
}
