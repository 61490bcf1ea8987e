import { toSingleLine } from "../../../cards/index.ts";

/** Characters that are about two columns wide: East Asian scripts, full-width forms, and emoji. */
const WIDE_CHARACTER =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

const STACKED_MARK = /[\p{Mn}\p{Me}]/u;
/** Maximum number of marks on one character. The scripts of the world need no more, and more would cover other rows. */
const MAX_STACKED_MARKS = 3;

/** Returns the approximate width of a label in columns of average characters. */
export function measureLabel(text: string): number {
  let columns = 0;
  for (const character of text) columns += measureCharacter(character);
  return columns;
}

/**
 * Returns a label on one line with visible control characters, about `columns` columns wide. Longer text ends with `…`.
 * The exact width depends on the font of the browser.
 */
export function truncateLabel(text: string, columns: number): string {
  const kept: string[] = [];
  let used = 0;
  let marks = 0;
  // A longer text cannot fit, and reading all of it would be slow.
  for (const character of toSingleLine(text.slice(0, 4 * columns))) {
    marks = STACKED_MARK.test(character) ? marks + 1 : 0;
    if (marks > MAX_STACKED_MARKS) continue;
    used += measureCharacter(character);
    if (used > columns) return `${kept.slice(0, -1).join("")}…`;
    kept.push(character);
  }
  return kept.join("");
}

function measureCharacter(character: string): number {
  return WIDE_CHARACTER.test(character) ? 2 : 1;
}
