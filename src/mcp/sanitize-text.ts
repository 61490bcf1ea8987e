/**
 * What no reader sees and a model still reads: control characters, marks that turn the direction of text around, spaces
 * without a width, and the tag characters in which whole sentences can be hidden.
 */
const INVISIBLE_CHARACTERS =
  /(?![\n\t])\p{Cc}|[\u200b\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** A stranger's text for people and models: what can not be seen is left out, and what is too long is cut. */
export function sanitizeText(text: string, maxLength: number): string {
  const seen = text.toWellFormed().replaceAll("\r\n", "\n").replaceAll(INVISIBLE_CHARACTERS, "").trim();
  return seen.length <= maxLength ? seen : `${truncateEnd(seen, maxLength - 1)}…`;
}

/** The beginning of a text, at most `maxLength` long; no character is cut in halves. */
export function truncateEnd(text: string, maxLength: number): string {
  const start = text.slice(0, maxLength);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** The end of a text, in the same way. */
export function truncateStart(text: string, maxLength: number): string {
  const end = text.slice(-maxLength);
  return end.isWellFormed() ? end : end.slice(1);
}
