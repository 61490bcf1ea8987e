import {
  type ErrorCard,
  type HotpotQaSample,
  type ResultCard,
  type DatasetSample,
  scoreGsm8k,
  scoreHotpotQaAnswer,
  scoreSupportingFacts,
  type ScoreRecordInput,
  type SupportingFact,
} from "../../cards/index.ts";
import { extractAnswer } from "../../roles/index.ts";

/** The rules of the datasets. Of GSM8K `strict` wants the number where an answer belongs, `flexible` takes the last one. */
export type ScoreRule = "gsm8k/strict" | "gsm8k/flexible" | "hotpotqa/em";

export function resolveScoreRule(dataset: DatasetSample["dataset"], rule?: string): ScoreRule {
  const rules: readonly ScoreRule[] =
    dataset === "gsm8k" ? ["gsm8k/strict", "gsm8k/flexible"] : ["hotpotqa/em"];
  const found = rules.find(
    (candidate) => rule === undefined || candidate === rule || candidate === `${dataset}/${rule}`,
  );
  if (found) return found;
  throw new RangeError(`${dataset} is not scored by ${JSON.stringify(rule)}; there is ${rules.join(", ")}.`);
}

type ReplyScore = Pick<ScoreRecordInput, "gold" | "correct" | "rule" | "predicted" | "measures">;

/**
 * Whether a reply has the answer. Only a result `completed` is one, or `success` of a solver that was given the whole
 * problem: what a limit left over may hold the right number by chance. The answer of a planner is the content of its card; a whole solution has it where `Answer:` stands.
 * `shown` are the titles of the documents that solvers were given.
 */
export function scoreReply(
  sample: DatasetSample,
  reply: ResultCard | ErrorCard,
  rule: ScoreRule,
  { isWhole, shown }: { readonly isWhole: boolean; readonly shown: ReadonlySet<string> },
): ReplyScore {
  const status = reply.message_type === "result" ? reply.metadata.status : "error";
  const isAnswer = status === "completed" || (isWhole && status === "success");
  const text = isAnswer ? reply.content : "";
  if (sample.dataset === "gsm8k") {
    const solution = isAnswer && !isWhole ? `Answer: ${text}` : text;
    const { predicted, correct } = scoreGsm8k(
      solution,
      sample.gold,
      rule === "gsm8k/flexible" ? "flexible" : "strict",
    );
    return { gold: sample.gold, correct, rule, ...(predicted !== undefined && { predicted }) };
  }
  const predicted = isWhole ? (extractAnswer(text, "hotpotqa") ?? "") : text.trim();
  const { exact, f1 } = scoreHotpotQaAnswer(predicted, sample.gold);
  return {
    gold: sample.gold,
    correct: exact === 1,
    rule,
    ...(predicted !== "" && { predicted }),
    measures: { em: exact, f1, ...scoreParagraphs(sample, shown) },
  };
}

/** How well the paragraphs were found that solvers were shown, where some were left out. `shown` are their titles. */
function scoreParagraphs(sample: HotpotQaSample, shown: ReadonlySet<string>): Record<string, number> {
  if (shown.size === 0 || shown.size === sample.paragraphs.length) return {};
  const gold = new Set(sample.supportingFacts.map(({ title }) => title));
  const { exact, precision, recall, f1 } = scoreSupportingFacts(
    toSupportingFacts(shown),
    toSupportingFacts(gold),
  );
  return {
    paragraphs_em: exact,
    paragraphs_precision: precision,
    paragraphs_recall: recall,
    paragraphs_f1: f1,
    paragraphs_all: recall === 1 ? 1 : 0,
  };
}

/** Paragraphs as if each had one sentence. */
function toSupportingFacts(titles: Iterable<string>): SupportingFact[] {
  return Array.from(titles, (title) => ({ title, sentence: 0 }));
}
