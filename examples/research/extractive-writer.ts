/**
 * A writer without a model: it says nothing itself, but picks the sentences that have most of the question's words, the
 * rare ones counting more. What it says is in the documents, word for word.
 */
import type { FoundDocument } from "./search-index.ts";
import type { ReportWriter } from "./report-writer.ts";
import { isKorean, tokenize } from "./tokenizer.ts";

interface Sentence {
  text: string;
  heading: string;
  /** Of the document, from 1. */
  documentNumber: number;
  /** How well the search liked its passage. */
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
    const said = summary.map(({ text, documentNumber: source }) => `${text} [${source}]`).join(" ");
    return Promise.resolve(`## ${titles.summary}\n\n${said}\n\n## ${titles.findings}\n\n${analysis}`);
  },
};

function renderListItem({ text, heading, documentNumber: source }: Sentence): string {
  return `- **${heading}**: ${text} [${source}]`;
}

/** The best sentences, best first: a few of each document, none twice, in the language of the question where there are any. */
function selectSentences(query: string, documents: readonly FoundDocument[]): Sentence[] {
  const all = documents.flatMap((found, at) => splitSentences(found, at + 1));
  const own = all.filter(({ text }) => isKorean(text) === isKorean(query));
  const sentences = own.length > 0 ? own : all;
  const scores = scoreSentences(query, sentences);
  const ranked = sentences.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
  const best: Sentence[] = [];
  for (const sentence of ranked) {
    const { text, documentNumber: source } = sentence;
    const isKnown = best.some((other) => other.text === text);
    const isEnough = best.filter((other) => other.documentNumber === source).length >= MAX_PER_DOCUMENT;
    if (scores.get(sentence) && !isKnown && !isEnough) best.push(sentence);
    if (best.length === MAX_FINDINGS) break;
  }
  return best;
}

/** How much each sentence has of the question: rare words count more, its heading's half, and its passage's place, too. */
function scoreSentences(query: string, sentences: readonly Sentence[]): Map<Sentence, number> {
  const asked = [...new Set(tokenize(query))];
  const words = sentences.map(({ text }) => new Set(tokenize(text)));
  const weights = asked.map((word) => {
    const having = words.filter((some) => some.has(word)).length;
    return Math.log(1 + sentences.length / (1 + having));
  });
  const most = Math.max(...sentences.map(({ passageScore: passage }) => passage));
  return new Map(
    sentences.map((sentence, index) => {
      const heading = new Set(tokenize(sentence.heading));
      const score = asked.reduce((sum, word, at) => {
        const share = (words[index]?.has(word) ? 1 : 0) + (heading.has(word) ? 0.5 : 0);
        return sum + share * (weights[at] ?? 0);
      }, 0);
      return [sentence, score * Math.sqrt(sentence.passageScore / most)];
    }),
  );
}

function splitSentences({ passages }: FoundDocument, source: number): Sentence[] {
  return passages.flatMap(({ heading, text, score: passage }) =>
    text
      .split(/\n+|(?<=[.!?])\s+/)
      .map((line) => line.replace(/^[-*>|\d.\s]+/, "").trim())
      .filter((line) => tokenize(line).length > 3)
      .map((line) => ({ text: line, heading, documentNumber: source, passageScore: passage })),
  );
}
