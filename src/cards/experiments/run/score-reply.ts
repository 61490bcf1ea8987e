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
} from "../../index.ts";
import { extractAnswer } from "../../roles/index.ts";

/**
 * Rule that scores answers to the problems in a dataset. `gsm8k/strict` requires a number directly after an
 * answer marker, and `gsm8k/flexible` accepts the last number in the text.
 */
export type ScoreRule = "gsm8k/strict" | "gsm8k/flexible" | "hotpotqa/em";

/**
 * Returns the scoring rule for a dataset and throws a `RangeError` if the dataset does not support the rule.
 */
export function resolveScoreRule(dataset: DatasetSample["dataset"], rule?: string): ScoreRule {
  const rules: readonly ScoreRule[] =
    dataset === "gsm8k" ? ["gsm8k/strict", "gsm8k/flexible"] : ["hotpotqa/em"];
  const found = rules.find(
    (candidate) => rule === undefined || candidate === rule || candidate === `${dataset}/${rule}`,
  );
  if (found) return found;
  throw new RangeError(
    `${dataset} does not support the scoring rule ${JSON.stringify(rule)}. Use ${rules.join(" or ")}.`,
  );
}

type ReplyScore = Pick<ScoreRecordInput, "gold" | "correct" | "rule" | "predicted" | "measures">;

/**
 * Scores the reply to a problem. A result with the status `completed` counts as an answer. A result with the
 * status `success` counts as an answer only if the solver received the complete problem. A partial result
 * counts as wrong, because its number may be correct only by chance. A planner's answer is the content of its
 * result card. In a complete solution, the answer follows `Answer:`. `shown` contains the titles of the
 * documents that the planner sent to solvers.
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

/** Scores the selection of paragraphs if the solvers received some but not all paragraphs of the problem. */
function scoreParagraphs(sample: HotpotQaSample, shown: ReadonlySet<string>): Record<string, number> {
  if (shown.size === 0 || shown.size === sample.paragraphs.length) return {};
  const gold = new Set(sample.supportingFacts.map(({ title }) => title));
  const { exact, precision, recall, f1 } = scoreSupportingFacts(
    createSupportingFactsFromTitles(shown),
    createSupportingFactsFromTitles(gold),
  );
  return {
    paragraphs_em: exact,
    paragraphs_precision: precision,
    paragraphs_recall: recall,
    paragraphs_f1: f1,
    paragraphs_all: recall === 1 ? 1 : 0,
  };
}

function createSupportingFactsFromTitles(titles: Iterable<string>): SupportingFact[] {
  return Array.from(titles, (title) => ({ title, sentence: 0 }));
}
