import { truncateToColumns, escapeControlCharacters } from "./text-width.ts";

/**
 * Maximum width of a Mermaid label in columns. Short labels keep a diagram below Mermaid's limit of 50,000
 * characters.
 */
const MAX_LABEL_COLUMNS = 160;

/**
 * Escapes text for Mermaid. Line breaks, HTML characters, and characters that start a comment, directive, or
 * formula are replaced by entities.
 */
export function escapeMermaid(text: string): string {
  return truncateToColumns(escapeControlCharacters(text).trim(), MAX_LABEL_COLUMNS)
    .replaceAll(/[#;<>&%:"{}`]/g, (character) => `#${character.charCodeAt(0)};`)
    .replaceAll("$$", () => "#36;#36;")
    .replaceAll("\n", "<br/>");
}
