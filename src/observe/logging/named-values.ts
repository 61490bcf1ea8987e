/** Finds names and their values in texts that are no JSON, such as assignments, members, and headers. */
import { REDACTED_VALUE } from "./secret-patterns.ts";

/** Position of a value in a text, without its quotes. */
interface NamedValue {
  readonly start: number;
  readonly end: number;
  readonly isSecret: boolean;
}

/** Values that state something about a secret, and types of secrets in code. */
const HARMLESS_VALUE =
  /^(?:null|undefined|none|true|false|string|number|boolean|unknown|any|required|optional|missing|invalid|expired|\d{1,3}|\*{3})$/i;
const AUTHORIZATION_SCHEME = /^(?:Bearer|Basic|DPoP|Negotiate|ApiKey|Token)\s{1,4}$/i;

/** Maximum number of characters of a name, and of the spaces and backslashes beside a separator. */
const MAX_NAME_LENGTH = 64;
const MAX_PADDING = 8;
const NAME_CHARACTER = /[\w.-]/;

/**
 * Returns the name before a separator, which can be in quotes and in brackets. The name `key` includes the word before,
 * as in `API key`.
 */
export function findNameBefore(
  text: string,
  separatorAt: number,
): { readonly name: string; readonly start: number } {
  let end = separatorAt;
  const skip = (characters: string, max: number): void => {
    for (let count = 0; count < max && end > 0 && characters.includes(text[end - 1] as string); count++)
      end -= 1;
  };
  skip(" \t", MAX_PADDING);
  skip("]", 1);
  skip("\"'`", 1);
  skip("\\", MAX_PADDING);
  const findStart = (from: number): number => {
    let start = from;
    while (start > 0 && from - start < MAX_NAME_LENGTH && NAME_CHARACTER.test(text[start - 1] as string))
      start -= 1;
    return start;
  };
  const start = findStart(end);
  const isKeyOfTwoWords = text[start - 1] === " " && /^(?:key|tokens)$/i.test(text.slice(start, end));
  const nameStart = isKeyOfTwoWords ? findStart(start - 1) : start;
  return { name: text.slice(nameStart, end), start: nameStart };
}

/** Finds the value after a name: a string in quotes, the rest of a header, or a word. */
export function findValue(text: string, nameStart: number, name: string, separatorEnd: number): NamedValue {
  let at = separatorEnd;
  while (at - separatorEnd < MAX_PADDING && /\s/.test(text[at] ?? "")) at += 1;
  let backslashes = 0;
  while (text[at + backslashes] === "\\") backslashes += 1;
  const quote = text[at + backslashes];
  if (isQuote(quote)) {
    const start = at + backslashes + 1;
    const end = findClosingQuote(text, start, quote, backslashes);
    const beginning = text.slice(start, Math.min(end, start + 16));
    return { start, end, isSecret: end > start && !HARMLESS_VALUE.test(beginning) };
  }
  if (/(?:authorization|cookie2?)$/i.test(name))
    return toHeaderValue(text, at, findHeaderEnd(text, nameStart, at));
  const stop = text[separatorEnd - 1] === ">" && text[separatorEnd - 2] !== "=" ? "<" : WORD_END;
  let end = at;
  while (end < text.length && !stop.includes(text[end] as string) && !isEscapedQuote(text, end)) end += 1;
  const value = text.slice(at, end);
  if (value === "" || HARMLESS_VALUE.test(value)) return { start: at, end, isSecret: false };
  // In a sentence such as "the token: no key matches", the word is no secret.
  const isInSentence = at > separatorEnd && /^ \\?["A-Za-z]/.test(text.slice(end, end + 3));
  return { start: at, end, isSecret: !isInSentence || !isPlainWord(value) };
}

const WORD_END = " \t\n\r,;&\"'`<>)]}";

export function isQuote(character: string | undefined): character is string {
  return character !== undefined && "\"'`".includes(character);
}

function isEscapedQuote(text: string, at: number): boolean {
  return text[at] === "\\" && isQuote(text[at + 1]);
}

/** A header ends with its line, or with the string that contains it. */
function findHeaderEnd(text: string, nameStart: number, at: number): number {
  const lineEnd = text.indexOf("\n", at);
  const maxEnd = lineEnd === -1 ? text.length : lineEnd;
  const quote = text[nameStart - 1];
  if (!isQuote(quote)) return maxEnd;
  let level = 0;
  while (text[nameStart - 2 - level] === "\\" && level < MAX_PADDING) level += 1;
  return findClosingQuote(text, at, quote, level, maxEnd);
}

/** Credentials of most schemes are one word. Other schemes have a list of parameters. */
function toHeaderValue(text: string, at: number, lineEnd: number): NamedValue {
  const schemeEnd = text.slice(at, Math.min(lineEnd, at + 20)).search(/\s[^\s]/) + 1;
  const scheme = schemeEnd > 0 ? text.slice(at, at + schemeEnd) : "";
  if (!AUTHORIZATION_SCHEME.test(scheme)) {
    const value = text.slice(at, lineEnd);
    return {
      start: at,
      end: lineEnd,
      isSecret: value !== "" && value !== REDACTED_VALUE && !isSentence(value),
    };
  }
  const start = at + schemeEnd;
  let end = start;
  while (end < lineEnd && !WORD_END.includes(text[end] as string)) end += 1;
  return { start, end, isSecret: !text.startsWith(REDACTED_VALUE, start) };
}

/** Returns the position of the quote that ends a string, or the maximum end. */
function findClosingQuote(
  text: string,
  start: number,
  quote: string,
  level: number,
  maxEnd = text.length,
): number {
  let backslashes = 0;
  for (let at = start; at < maxEnd; at++) {
    const character = text[at];
    if (character === "\\") backslashes += 1;
    else {
      const isClosing = level === 0 ? backslashes % 2 === 0 : backslashes === level;
      if (character === quote && isClosing) return at - level;
      backslashes = 0;
    }
  }
  return maxEnd;
}

/** A word without digits and signs is not a secret if the text around it is a sentence. */
export function isPlainWord(value: string): boolean {
  return value.length < 20 && /^[A-Za-z'-]+[.:!?]?$/.test(value);
}

function isSentence(value: string): boolean {
  const words = value.trim().split(" ");
  return words.length > 2 && words.every((word) => isPlainWord(word.replace(/[,;]$/, "")));
}
