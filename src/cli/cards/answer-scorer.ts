import { basename, resolve } from "node:path";
import { ANSWER_SCORERS, type AnswerScorer } from "../../cards/index.ts";
import { createJudgeScorer, type CustomScorer, type ScorableAnswer } from "../../cards/experiments/index.ts";
import type { RoleModel } from "../../cards/roles/index.ts";
import { isObject } from "../../protocol/index.ts";
import { createUsageError } from "../cli-error.ts";
import { importFile } from "../serve/import-file.ts";

const SCORER_FORMS = `Use ${ANSWER_SCORERS.join(", ")}, a file such as ./score.ts, or judge:MODEL.`;

/**
 * Creates the scorer that `--scorer` names: a built-in scorer, a language model that judges the answers, or the default
 * export of a module.
 */
export async function createAnswerScorer(
  text: string,
  createModel: (name: string) => Promise<RoleModel>,
): Promise<AnswerScorer | CustomScorer> {
  const known = ANSWER_SCORERS.find((name) => name === text);
  if (known) return known;
  if (text.startsWith("judge:")) return createJudgeScorer(await createModel(text.slice("judge:".length)));
  if (!/\.[cm]?[jt]s$/.test(text)) throw createUsageError(`${text} is not a scorer.`, SCORER_FORMS);
  let exports: Record<string, unknown>;
  try {
    exports = await importFile(resolve(text));
  } catch (cause) {
    throw createUsageError(`${text} cannot be loaded: ${String(cause)}`, SCORER_FORMS, cause);
  }
  const { default: score } = exports;
  if (typeof score !== "function")
    throw createUsageError(
      `${text} has no default export that is a function.`,
      "export default ({ predicted, gold }) => predicted === gold;",
    );
  return {
    name: basename(text),
    async score(answer) {
      const result: unknown = await (score as (answer: ScorableAnswer) => unknown)(answer);
      if (typeof result === "boolean") return { correct: result };
      const { correct, measures = {} } = Object(result) as { correct?: unknown; measures?: unknown };
      if (
        typeof correct === "boolean" &&
        isObject(measures) &&
        Object.values(measures).every(Number.isFinite)
      )
        return { correct, measures: measures as Record<string, number> };
      throw createUsageError(
        `${text} returned no score.`,
        "Return a boolean, or { correct, measures } with numbers as measures.",
      );
    },
  };
}
