import { eastAsianWidth } from "get-east-asian-width";

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const EMOJI_PATTERN = /^\p{RGI_Emoji}$/v;
const INVISIBLE_PATTERN = /^[\p{Control}\p{Format}\p{Mark}\p{Default_Ignorable_Code_Point}]+$/v;

/** The columns that a text takes in a terminal: two for Chinese, Japanese, Korean and emoji, none for what only marks. */
export function measureColumns(text: string): number {
  // Most texts; taking them apart into characters costs fifty times as much.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) width += measureGrapheme(segment);
  return width;
}

/** The text in exactly so many columns: filled up with spaces, or cut between characters and ended with `…`. */
export function fitToColumns(text: string, columns: number): string {
  const kept = truncateToColumns(text, columns);
  return kept + " ".repeat(Math.max(0, columns - measureColumns(kept)));
}

/** The text in at most so many columns: cut between characters and ended with `end`, when it is longer. */
export function truncateToColumns(text: string, columns: number, end = "…"): string {
  // A text of that length does not fit, and measuring a whole book to show its first line takes too long.
  if (text.length <= columns * 20 && measureColumns(text) <= columns) return text;
  if (columns < end.length) return "";
  let kept = "";
  let used = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) {
    const next = used + measureGrapheme(segment);
    if (next > columns - end.length) break;
    kept += segment;
    used = next;
  }
  return kept + end;
}

/** The text in lines of at most so many columns, broken at spaces where there are any. */
export function wrapText(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let current = "";
    let used = 0;
    for (const { segment } of graphemeSegmenter.segment(line)) {
      const width = measureGrapheme(segment);
      if (used + width > columns && current !== "") {
        const space = segment === " " ? -1 : current.lastIndexOf(" ");
        lines.push(space > 0 ? current.slice(0, space) : current);
        current = space > 0 ? current.slice(space + 1) : "";
        used = measureColumns(current);
        // The space at which a line is broken is in neither.
        if (segment === " ") continue;
      }
      current += segment;
      used += width;
    }
    return [...lines, current];
  });
}

/** What an agent says is shown in somebody's terminal: what could rewrite the screen, or its order, becomes visible. */
export function escapeControlCharacters(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", "    ")
    .replaceAll(/[^\P{Control}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (control) =>
      control < " " ? String.fromCharCode(0x2400 + control.charCodeAt(0)) : "\ufffd",
    );
}

/** `escapeControlCharacters` on one line. */
export function toSingleLine(text: string): string {
  return escapeControlCharacters(text.replaceAll(/\s+/g, " ").trim());
}

/** Returns a text on one line of at most `columns` columns, with control characters made visible. */
export function truncateLine(text: string, columns: number, end?: string): string {
  return truncateToColumns(toSingleLine(text), columns, end);
}

function measureGrapheme(grapheme: string): number {
  if (INVISIBLE_PATTERN.test(grapheme)) return 0;
  return EMOJI_PATTERN.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}
