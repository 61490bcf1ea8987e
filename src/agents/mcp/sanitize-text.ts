import { truncateText } from "../../protocol/index.ts";

/**
 * Matches characters that models read but people cannot see, such as control characters, direction marks,
 * zero-width spaces, and tag characters. Invisible characters can hide entire sentences.
 */
const INVISIBLE_CHARACTERS =
  /(?![\n\t])\p{Cc}|[\u200b\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Removes invisible characters from the text of a remote agent, and truncates the text to `maxLength`
 * characters.
 */
export function stripInvisibleAndTruncateText(text: string, maxLength: number): string {
  const visible = text.toWellFormed().replaceAll("\r\n", "\n").replaceAll(INVISIBLE_CHARACTERS, "").trim();
  return visible.length <= maxLength ? visible : truncateText(visible, maxLength - 1, "…");
}

/** Returns at most the last `maxLength` characters of a text, and does not split a surrogate pair. */
export function truncateStart(text: string, maxLength: number): string {
  const end = text.slice(-maxLength);
  return end.isWellFormed() ? end : end.slice(1);
}
