import { truncateToColumns, escapeControlCharacters } from "./text-width.ts";

/** Of a label, in columns; Mermaid refuses a diagram of more than 50,000. */
const MAX_LABEL_COLUMNS = 160;

/** As Mermaid's entities, what would end the line, begin a comment, a directive or a formula, or be taken for HTML. */
export function escapeMermaid(text: string): string {
  return truncateToColumns(escapeControlCharacters(text).trim(), MAX_LABEL_COLUMNS)
    .replaceAll(/[#;<>&%:"{}`]/g, (character) => `#${character.charCodeAt(0)};`)
    .replaceAll("$$", () => "#36;#36;")
    .replaceAll("\n", "<br/>");
}
