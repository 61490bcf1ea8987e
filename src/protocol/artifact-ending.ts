import type { Part } from "./message.ts";

/**
 * The form in which a streamed artifact ends. With `whole`, the last chunk repeats the entire content and
 * replaces the earlier chunks (`append: false`, `lastChunk: true`), as in the servers of ADK. With `pieces`,
 * the last chunk adds the remaining content (`append: true`, `lastChunk: true`).
 *
 * In both forms, a client that applies `append` as A2A defines ends with the content exactly once. ADK for
 * Python stores only the last chunk and therefore needs `whole`. Clients that join the text of all chunks
 * need `pieces`.
 */
export type ArtifactEnding = "whole" | "pieces";

/**
 * Splits the last piece off a list of parts, so that the last chunk of an artifact is not empty. The last
 * piece is the last character of a text, or an entire part of another kind. A character is a Unicode code
 * point, so surrogate pairs stay together.
 */
export function splitLastPiece(parts: readonly Part[]): [rest: Part[], lastPiece: Part[]] {
  const last = parts.at(-1);
  if (!last) return [[], []];
  const rest = parts.slice(0, -1);
  if (!("text" in last)) return [rest, [last]];
  const isPair = /[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(last.text);
  const at = last.text.length - (isPair ? 2 : 1);
  if (at > 0) rest.push({ ...last, text: last.text.slice(0, at) });
  return [rest, [{ ...last, text: last.text.slice(at) }]];
}
