/**
 * Report writer without a model. The writer quotes the sentences of the documents that share the most words
 * with the question. Rare words have a higher weight.
 */
import type { FoundDocument } from "./search-index.ts";
import type { ReportWriter } from "./report-writer.ts";
import { isKorean, tokenize } from "./tokenizer.ts";

interface Sentence {
  text: string;
  heading: string;
  /** Number of the document, starting at 1. */
  documentNumber: number;
  /** Search score of the passage that contains the sentence. */
  passageScore: number;
}

const MAX_FINDINGS = 8;
const MAX_PER_DOCUMENT = 3;
const SUMMARY_SENTENCES = 3;
const TITLES = {
  en: { summary: "Summary", findings: "Findings" },
  ko: { summary: "요약", findings: "분석 결과" },
};

export const extractiveWriter: ReportWriter = {
  analyze: ({ query, documents }) =>
    Promise.resolve(selectSentences(query, documents).map(renderListItem).join("\n")),
  write({ query, documents, analysis, language }) {
    const titles = TITLES[language];
    const summary = selectSentences(query, documents).slice(0, SUMMARY_SENTENCES);
    const body = summary.map(({ text, documentNumber }) => `${text} [${documentNumber}]`).join(" ");
    return Promise.resolve(`## ${titles.summary}\n\n${body}\n\n## ${titles.findings}\n\n${analysis}`);
  },
};

function renderListItem({ text, heading, documentNumber }: Sentence): string {
  return `- **${heading}**: ${text} [${documentNumber}]`;
}

/**
 * Selects the best sentences in descending order, without duplicates and with a limit for each document.
 * Sentences in the language of the question are preferred.
 */
function selectSentences(query: string, documents: readonly FoundDocument[]): Sentence[] {
  const all = documents.flatMap((found, at) => splitSentences(found, at + 1));
  const own = all.filter(({ text }) => isKorean(text) === isKorean(query));
  const sentences = own.length > 0 ? own : all;
  const scores = scoreSentences(query, sentences);
  const ranked = sentences.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
  const best: Sentence[] = [];
  for (const sentence of ranked) {
    const { text, documentNumber } = sentence;
    const isKnown = best.some((other) => other.text === text);
    const isEnough =
      best.filter((other) => other.documentNumber === documentNumber).length >= MAX_PER_DOCUMENT;
    if (scores.get(sentence) && !isKnown && !isEnough) best.push(sentence);
    if (best.length === MAX_FINDINGS) break;
  }
  return best;
}

/**
 * Scores each sentence by the words it shares with the question. Rare words count more, words in the heading
 * count half, and the passage's search score is a factor.
 */
function scoreSentences(query: string, sentences: readonly Sentence[]): Map<Sentence, number> {
  const queryWords = [...new Set(tokenize(query))];
  const words = sentences.map(({ text }) => new Set(tokenize(text)));
  const weights = queryWords.map((word) => {
    const matches = words.filter((sentenceWords) => sentenceWords.has(word)).length;
    return Math.log(1 + sentences.length / (1 + matches));
  });
  const maxPassageScore = Math.max(...sentences.map(({ passageScore }) => passageScore));
  return new Map(
    sentences.map((sentence, index) => {
      const heading = new Set(tokenize(sentence.heading));
      const score = queryWords.reduce((sum, word, at) => {
        const share = (words[index]?.has(word) ? 1 : 0) + (heading.has(word) ? 0.5 : 0);
        return sum + share * (weights[at] ?? 0);
      }, 0);
      return [sentence, score * Math.sqrt(sentence.passageScore / maxPassageScore)];
    }),
  );
}

function splitSentences({ passages }: FoundDocument, documentNumber: number): Sentence[] {
  return passages.flatMap(({ heading, text, score: passageScore }) =>
    text
      .split(/\n+|(?<=[.!?])\s+/)
      .map((line) => line.replace(/^[-*>|\d.\s]+/, "").trim())
      .filter((line) => tokenize(line).length > 3)
      .map((line) => ({ text: line, heading, documentNumber, passageScore })),
  );
}
