/**
 * Tokenizer for the search and the extractive writer. The tokenizer stems English words and splits Korean
 * words into bigrams.
 */

const STOP_WORDS = new Set(
  "a an and are as at be by can do does for from has have how i in is it its may me of on or so that the their them they this to was what when where which who why will with you your between tell about explain describe please".split(
    " ",
  ),
);

/**
 * Returns the tokens of a text. In Korean, particles are attached to words without spaces, so each pair of
 * letters is a token: 프로토콜은 → 프로 로토 토콜 콜은.
 */
export function tokenize(text: string): string[] {
  const words: string[] = [];
  for (const [run] of text
    .normalize("NFC")
    .toLowerCase()
    .matchAll(/[\p{Script=Hangul}]+|[\p{L}\p{N}]+/gu)) {
    if (/\p{Script=Hangul}/u.test(run)) words.push(...splitIntoBigrams(run));
    else if (!STOP_WORDS.has(run)) words.push(stemWord(run));
  }
  return words;
}

function splitIntoBigrams(run: string): string[] {
  return run.length < 3 ? [run] : Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2));
}

/** Removes a plural ending, so that singular and plural forms match. */
function stemWord(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

export function isKorean(text: string): boolean {
  return /\p{Script=Hangul}/u.test(text);
}
