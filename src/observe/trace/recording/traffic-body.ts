import { isObject, type JsonObject, type JsonValue } from "../../../protocol/index.ts";
import type { Redactor } from "../../logging/index.ts";
import { TRUNCATED_BODY_KEY } from "../truncated-body.ts";

/** Number of characters that remain of a body that is too long. */
const TRUNCATED_TEXT_LENGTH = 1_000;

/** Members of A2A objects that show the structure of traffic, and none of its content. */
const STRUCTURE_MEMBERS: ReadonlySet<string> = new Set([
  "task",
  "message",
  "statusUpdate",
  "artifactUpdate",
  "status",
  "state",
  "timestamp",
  "artifact",
  "artifactId",
  "append",
  "lastChunk",
  "id",
  "taskId",
  "contextId",
  "messageId",
  "role",
  "referenceTaskIds",
  "kind",
  "final",
  "error",
  "code",
  "result",
  "method",
  "jsonrpc",
]);

/**
 * Returns the JSON text that replaces a body that is longer than the limit of the writer: an object with the number
 * of characters of the body and with its first 1,000 characters. With `keepsStructure`, the object also contains the
 * ids and the states of the body. The redactor sees more than the beginning, because a secret must not be cut before
 * it is recognized.
 */
export function encodeTruncatedBody(
  bodyText: string,
  keepsStructure: boolean,
  redactor: Pick<Redactor, "redactAndTruncate">,
): string {
  const text = redactor.redactAndTruncate(bodyText, TRUNCATED_TEXT_LENGTH);
  const structure = keepsStructure ? removeBodyContent(JSON.parse(bodyText) as JsonValue) : undefined;
  return JSON.stringify({
    ...(isObject(structure) && structure),
    [TRUNCATED_BODY_KEY]: { length: bodyText.length, text },
  });
}

/** Returns a copy of a JSON value that contains ids, states, and times, but no texts, files, or metadata. */
export function removeBodyContent(body: JsonValue): JsonValue {
  if (Array.isArray(body)) return body.map(removeBodyContent);
  if (!isObject(body)) return body;
  const structure: JsonObject = {};
  for (const [name, value] of Object.entries(body))
    if (STRUCTURE_MEMBERS.has(name)) structure[name] = removeBodyContent(value);
  return structure;
}

/** Returns the JSON text of a body without its content, like `removeBodyContent`. */
export function encodeBodyStructure(bodyText: string): string {
  return JSON.stringify(removeBodyContent(JSON.parse(bodyText) as JsonValue));
}
