/** Shorter words have no endings that ROUGE removes. */
const MIN_STEMMED_LENGTH = 4;
const CHINESE_JAPANESE_KOREAN = /[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/gu;
/** A letter of Thai, Lao, Khmer, or Myanmar with the signs that belong to it. */
const SOUTHEAST_ASIAN = /(?!\p{M})[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]/gu;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}]+/u;

/**
 * Computes the share of words that two texts have in common: the F-measure of ROUGE-1 with Porter stems, from 0 to 1.
 * The words are split as by `response_match_score` of ADK for Python 2.13, which splits Chinese, Japanese, Korean, and
 * Southeast Asian texts into characters.
 */
export function computeRouge1(reference: string, candidate: string): number {
  const expected = splitIntoStems(reference);
  const actual = splitIntoStems(candidate);
  if (expected.length === 0 || actual.length === 0) return 0;
  const counts = new Map<string, number>();
  for (const stem of expected) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  let common = 0;
  for (const stem of actual) {
    const left = counts.get(stem) ?? 0;
    if (left === 0) continue;
    common++;
    counts.set(stem, left - 1);
  }
  return (2 * common) / (expected.length + actual.length);
}

function splitIntoStems(text: string): string[] {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(CHINESE_JAPANESE_KOREAN, " $& ")
    .replaceAll(SOUTHEAST_ASIAN, " $&")
    .split(BETWEEN_WORDS)
    .filter((word) => word !== "")
    .map((word) =>
      /^[a-z0-9]+$/.test(word) && word.length >= MIN_STEMMED_LENGTH ? findPorterStem(word) : word,
    );
}

/**
 * The stems of Porter's algorithm (1980) with the extensions of NLTK, which ROUGE uses in Python. The packages of npm
 * implement the algorithm without the extensions, and differ in 2 % of the words of HotpotQA.
 */
export function findPorterStem(word: string): string {
  const irregular = IRREGULAR_STEMS.get(word);
  if (irregular !== undefined) return irregular;
  if (word.length <= 2) return word;
  const plain = removeParticiple(removePlural(word)).replace(/^(.+)y$/, (whole, stem: string) =>
    stem.length > 1 && isConsonant(stem, stem.length - 1) ? `${stem}i` : whole,
  );
  const derived = removeSecondSuffix(plain);
  const short = applyFirst(applyFirst(derived, THIRD_SUFFIXES, isLong), FOURTH_SUFFIXES, isVeryLong);
  return removeFinalLetters(short);
}

const IRREGULAR_STEMS: ReadonlyMap<string, string> = new Map([
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["innings", "inning"],
  ["outings", "outing"],
  ["cannings", "canning"],
  ...["sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed"].map(
    (word) => [word, word] as const,
  ),
]);

/** Suffixes with their replacements. The first suffix of a word decides, even if the rest of the word is too short. */
type Suffixes = readonly (readonly [suffix: string, replacement: string])[];

function parseSuffixes(text: string): Suffixes {
  return text.split(" ").map((rule) => {
    const [suffix = "", replacement = ""] = rule.split(":");
    return [suffix, replacement];
  });
}

const SECOND_SUFFIXES = parseSuffixes(
  "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful",
);
const THIRD_SUFFIXES = parseSuffixes("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:");
const FOURTH_SUFFIXES = parseSuffixes(
  "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize",
);

function applyFirst(
  word: string,
  suffixes: Suffixes,
  accepts: (stem: string, suffix: string) => boolean,
): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (!found) return word;
  const [suffix, replacement] = found;
  const stem = word.slice(0, -suffix.length);
  return accepts(stem, suffix) ? stem + replacement : word;
}

function removePlural(word: string): string {
  if (word.endsWith("ies")) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith("sses")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

function removeParticiple(word: string): string {
  if (word.endsWith("ied")) return word.slice(0, word.length === 4 ? -1 : -2);
  if (word.endsWith("eed")) return isLong(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const suffix = ["ed", "ing"].find((end) => word.endsWith(end) && hasVowel(word.slice(0, -end.length)));
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  const last = stem.length - 1;
  if (last > 0 && stem[last] === stem[last - 1] && isConsonant(stem, last))
    return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsInShortSyllable(stem) ? `${stem}e` : stem;
}

function removeSecondSuffix(word: string): string {
  if (word.endsWith("alli") && isLong(word.slice(0, -4))) return removeSecondSuffix(word.slice(0, -2));
  if (word.endsWith("logi")) return isLong(word.slice(0, -3)) ? word.slice(0, -1) : word;
  return applyFirst(word, SECOND_SUFFIXES, isLong);
}

function removeFinalLetters(word: string): string {
  const stem = word.slice(0, -1);
  const length = measure(stem);
  const isRemoved = word.endsWith("e") && (length > 1 || (length === 1 && !endsInShortSyllable(stem)));
  const rest = isRemoved ? stem : word;
  return rest.endsWith("ll") && measure(rest.slice(0, -1)) > 1 ? rest.slice(0, -1) : rest;
}

function isLong(stem: string): boolean {
  return measure(stem) > 0;
}

function isVeryLong(stem: string, suffix: string): boolean {
  return measure(stem) > 1 && (suffix !== "ion" || /[st]$/.test(stem));
}

/** Counts the changes from a vowel to a consonant. */
function measure(stem: string): number {
  return listConsonants(stem).filter((isOne, at, all) => isOne && all[at - 1] === false).length;
}

function hasVowel(stem: string): boolean {
  return listConsonants(stem).includes(false);
}

function isConsonant(word: string, at: number): boolean {
  return listConsonants(word)[at] === true;
}

/** States for each letter whether it is a consonant. A `y` after a consonant is a vowel. */
function listConsonants(word: string): boolean[] {
  const flags: boolean[] = [];
  for (const letter of word)
    flags.push(letter === "y" ? flags.at(-1) !== true : !["a", "e", "i", "o", "u"].includes(letter));
  return flags;
}

/** Returns true for an end such as `hop`, but not `snow`, `box`, or `tray`, and for a word such as `at`. */
function endsInShortSyllable(word: string): boolean {
  const [third, second, last] = [false, false, false, ...listConsonants(word)].slice(-3);
  if (word.length === 2) return second === false && last === true;
  return third === true && second === false && last === true && !/[wxy]$/.test(word);
}
