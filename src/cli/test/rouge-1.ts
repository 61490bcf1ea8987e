import { findPorterStem } from "./porter-stem.ts";

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
