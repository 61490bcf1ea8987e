import type { Task } from "../protocol/index.ts";

/** Maximum length of the text of a task that a text index contains, in UTF-16 code units. */
const MAX_TEXT_LENGTH = 32_768;
/**
 * Maximum total length of the different words of a task. Only texts whose normal form is longer have more, and texts of a
 * script without spaces in which nearly every pair of neighbors is different.
 */
const MAX_WORDS_LENGTH = 65_536;
/** Number of code points after which a word is cut. PostgreSQL stores no words above 2,046 bytes. */
const MAX_WORD_LENGTH = 64;
const MAX_QUERY_WORDS = 32;

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
const DIACRITICS = /[\u0300-\u036f]+/g;
/** The first character of a text whose script has no spaces between words, for example Chinese. */
const UNSPACED = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** Such a character with at most 8 marks, or a run of other characters. */
const TOKENS =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]\p{M}{0,8}|[^\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+/gu;

/** The words of a search. A task matches if it contains all of them. */
export interface TextQuery {
  /** Words that a task contains as entire words. */
  readonly words: readonly string[];
  /** The last word of the search. A task contains a word that begins with it. */
  readonly prefix: string;
}

/**
 * Returns the different words of the messages and artifacts of a task, for a text index. All stores index these words,
 * and leave neither the splitting nor the comparison of words to a database, so that each store finds the same tasks.
 * The words consist of letters, digits, and marks, without uppercase letters and diacritics.
 */
export function listTaskWords({ history = [], status, artifacts = [] }: Task): string[] {
  const contents = [...history, ...(status.message ? [status.message] : []), ...artifacts];
  const words = new Set<string>();
  let textLength = 0;
  let wordsLength = 0;
  for (const part of contents.flatMap(({ parts }) => parts)) {
    if (!("text" in part)) continue;
    for (const word of listWords(part.text.slice(0, MAX_TEXT_LENGTH - textLength))) {
      if (words.has(word)) continue;
      wordsLength += word.length;
      if (wordsLength > MAX_WORDS_LENGTH) return [...words];
      words.add(word);
    }
    textLength += part.text.length;
    if (textLength >= MAX_TEXT_LENGTH) break;
  }
  return [...words];
}

/** Splits the text of a search into words, at most 32. Returns `undefined` if the text has no word. */
export function parseTextQuery(text: string): TextQuery | undefined {
  const words = splitWords(text.slice(0, MAX_TEXT_LENGTH)).slice(0, MAX_QUERY_WORDS);
  const prefix = words.pop();
  return prefix === undefined ? undefined : { words, prefix };
}

/**
 * Returns the words of a text for an index. In scripts that have no spaces between words, each character and each pair of
 * neighbors is a word, so that a search finds every part of a text.
 */
export function listWords(text: string): string[] {
  return splitText(text, (characters) => [...characters, ...listPairs(characters)]);
}

/**
 * Splits the text of a search into words. Of a script that has no spaces between words, each pair of neighboring
 * characters is a word. `splitWords` returns a word of a text unchanged.
 */
export function splitWords(text: string): string[] {
  return splitText(text, (characters) => (characters.length > 1 ? listPairs(characters) : characters));
}

function listPairs(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** Splits a text into words. `toWords` splits a run of characters of a script without spaces. */
function splitText(text: string, toWords: (characters: string[]) => string[]): string[] {
  const words: string[] = [];
  for (const word of foldText(text).match(WORDS) ?? []) {
    let characters: string[] = [];
    for (const token of word.match(TOKENS) ?? [])
      if (UNSPACED.test(token)) characters.push(token);
      else {
        words.push(...toWords(characters), cutWord(token));
        characters = [];
      }
    words.push(...toWords(characters));
  }
  return words;
}

function cutWord(word: string): string {
  return word.length > MAX_WORD_LENGTH ? Array.from(word).slice(0, MAX_WORD_LENGTH).join("") : word;
}

/** Converts texts that differ in case, diacritics, or compatibility characters to the same text. */
function foldText(text: string): string {
  const folded = text.normalize("NFKD").replace(DIACRITICS, "").toLowerCase().toUpperCase().toLowerCase();
  // `toLowerCase` chooses one of two letters for a Greek sigma by its position in the word.
  return folded.replaceAll("ς", "σ").normalize("NFKD").replace(DIACRITICS, "");
}
