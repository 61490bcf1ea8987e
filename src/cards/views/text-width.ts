import { eastAsianWidth } from "get-east-asian-width";
import { replaceControlCharacters } from "../../protocol/index.ts";

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const EMOJI_PATTERN = /^\p{RGI_Emoji}$/v;
const INVISIBLE_PATTERN = /^[\p{Control}\p{Format}\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u;

/**
 * Characters that belong to the grapheme before them, but have separate columns: marks of halfwidth katakana, and skin tones
 * that do not follow a person.
 */
const WIDE_EXTENDERS = /[\u{ff9e}\u{ff9f}\p{Emoji_Modifier}]/gu;

/**
 * Returns the width of a text in terminal columns: two for East Asian characters and emoji, zero for
 * combining characters, and one for other characters.
 */
export function measureColumns(text: string): number {
  // Most texts are ASCII, and segmenting them would be about fifty times slower.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) width += measureGrapheme(segment);
  return width;
}

/**
 * Returns a text of exactly `columns` terminal columns. Shorter texts are padded with spaces. Longer texts
 * are truncated between characters and end with `…`.
 */
export function fitToColumns(text: string, columns: number): string {
  const kept = truncateToColumns(text, columns);
  return kept + " ".repeat(Math.max(0, columns - measureColumns(kept)));
}

/**
 * Returns a text of at most `columns` terminal columns. Longer texts are truncated between characters and end
 * with the value of `end`.
 */
export function truncateToColumns(text: string, columns: number, end = "…"): string {
  // A text of this length cannot fit, and measuring it would be slow.
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

/** Wraps a text at spaces, if possible, into lines of at most `columns` terminal columns. */
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
        // The space at a line break is part of neither line.
        if (segment === " ") continue;
      }
      current += segment;
      used += width;
    }
    return [...lines, current];
  });
}

/**
 * Makes control characters visible, because control characters from an agent can overwrite terminal output or
 * change the text direction.
 */
export function escapeControlCharacters(text: string): string {
  return replaceControlCharacters(text.replaceAll("\r\n", "\n").replaceAll("\t", "    "));
}

/** Returns a text on one line with visible control characters. */
export function toSingleLine(text: string): string {
  return escapeControlCharacters(text.replaceAll(/\s+/g, " ").trim());
}

/** Returns a single-line text of at most `columns` terminal columns with visible control characters. */
export function truncateLine(text: string, columns: number, end?: string): string {
  return truncateToColumns(toSingleLine(text), columns, end);
}

function measureGrapheme(grapheme: string): number {
  if (INVISIBLE_PATTERN.test(grapheme)) return 0;
  if (EMOJI_PATTERN.test(grapheme)) return 2;
  const first = String.fromCodePoint(grapheme.codePointAt(0) ?? 0);
  const rest = grapheme.slice(first.length);
  if (rest === "" || !joinsNextCharacter(first)) {
    const wideExtenders = rest.match(WIDE_EXTENDERS) ?? [];
    return [first, ...wideExtenders].reduce((sum, text) => sum + eastAsianWidth(text.codePointAt(0) ?? 0), 0);
  }
  return measureGrapheme(first) + measureGrapheme(rest);
}

/** Returns true if a character forms one grapheme with each next character, even with a space (Unicode class Prepend). */
function joinsNextCharacter(character: string): boolean {
  return [...graphemeSegmenter.segment(`${character} `)].length === 1;
}
