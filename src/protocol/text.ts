/**
 * Returns at most the first `maxLength` characters of a text, followed by `end` if the text was longer. Never splits
 * a surrogate pair, and replaces unpaired surrogates in a truncated text.
 */
export function truncateText(text: string, maxLength: number, end = ""): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength);
  return (head.isWellFormed() ? head : head.slice(0, -1).toWellFormed()) + end;
}

/**
 * Control characters except tabs and line feeds, line separators, and controls of the reading direction
 * (CVE-2021-42574). A terminal executes these characters, and they can make one text look like another text.
 */
const CONTROL_CHARACTERS =
  // oxlint-disable-next-line no-control-regex -- The pattern finds control characters.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Replaces control characters other than tabs and line feeds by the result of `replace`. By default, the symbol of a
 * control character replaces it.
 */
export function replaceControlCharacters(
  text: string,
  replace: (character: string) => string = toControlSymbol,
): string {
  return text.replaceAll(CONTROL_CHARACTERS, replace);
}

function toControlSymbol(character: string): string {
  return character < " " ? String.fromCharCode(0x2400 + character.charCodeAt(0)) : "\ufffd";
}
