/** Weight of each word in a query. */
export type QueryWordWeights = ReadonlyMap<string, number>;

/**
 * An index that ranks texts by BM25 with the usual parameters k1 = 1.5 and b = 0.75. Each query word counts
 * once, and its score is multiplied by the word's weight. The index uses Lucene's formula for the inverse
 * document frequency. The result is never negative, even in an index of only ten texts.
 */
export class Bm25Index {
  readonly #wordCounts: readonly ReadonlyMap<string, number>[];
  readonly #lengths: readonly number[];
  readonly #meanLength: number;
  readonly #documentFrequencies = new Map<string, number>();

  constructor(texts: readonly string[]) {
    const words = texts.map(tokenizeWords);
    this.#wordCounts = words.map(countOccurrencesByWord);
    this.#lengths = words.map((list) => list.length);
    this.#meanLength = this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, texts.length);
    for (const counts of this.#wordCounts)
      for (const word of counts.keys())
        this.#documentFrequencies.set(word, (this.#documentFrequencies.get(word) ?? 0) + 1);
  }

  /**
   * Returns the positions of the texts, from the highest score to the lowest. Texts with equal scores keep
   * their order.
   */
  rank(query: QueryWordWeights): number[] {
    const scores = this.#wordCounts.map((_, text) => this.#computeScore(query, text));
    return scores.map((_, text) => text).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  }

  #computeScore(query: QueryWordWeights, text: number): number {
    const length = (this.#lengths[text] ?? 0) / (this.#meanLength || 1);
    let score = 0;
    for (const [word, weight] of query) {
      const count = this.#wordCounts[text]?.get(word) ?? 0;
      if (count > 0)
        score +=
          (weight * this.#computeInverseDocumentFrequency(word) * count * (PARAGRAPH_BM25_K1 + 1)) /
          (count + PARAGRAPH_BM25_K1 * (1 - PARAGRAPH_BM25_B + PARAGRAPH_BM25_B * length));
    }
    return score;
  }

  #computeInverseDocumentFrequency(word: string): number {
    const holders = this.#documentFrequencies.get(word) ?? 0;
    return Math.log(1 + (this.#wordCounts.length - holders + 0.5) / (holders + 0.5));
  }
}

/** Returns the words of a text in lower case and without English stop words. */
export function tokenizeWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word));
}

function countOccurrencesByWord(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const PARAGRAPH_BM25_K1 = 1.5;
const PARAGRAPH_BM25_B = 0.75;

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a also an and are as at be been being but by did do does for from had has have how in is it its not of on or " +
    "than that the these this those to was were what when where which who whom whose with"
  ).split(" "),
);
