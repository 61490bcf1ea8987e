import { ANSWER_SCORERS, type AnswerScorer, type DatasetSample } from "../../cards/index.ts";
import {
  openCassetteFile,
  createJudgeScorer,
  type CustomScorer,
  type ScorableAnswer,
} from "../../cards/experiments/index.ts";
import {
  createAiSdkModel,
  createCassetteModel,
  type FaultOptions,
  withFaults,
  createOpenAiCompatibleModel,
  type OpenAiCompatibleModelOptions,
  createOracleModel,
  type RoleModel,
} from "../../cards/roles/index.ts";
import { createUsageError } from "../cli-error.ts";
import { basename, resolve } from "node:path";
import { isObject } from "../../protocol/index.ts";
import { importFile } from "../serve/import-file.ts";

export interface RoleModelCreationOptions {
  readonly samples: readonly DatasetSample[];
  /** Names of all models of the command. */
  readonly names?: readonly string[];
  readonly faults?: FaultOptions;
  /** File that stores recorded model answers for replay. */
  readonly cassette?: string;
  readonly replay?: boolean;
  /** OpenAI-compatible server of all models that are not built in. */
  readonly server?: Pick<OpenAiCompatibleModelOptions, "baseUrl" | "apiKey" | "extraBody">;
}

/**
 * Creates the model for a role from a model name: a built-in deterministic model, or a model of the AI SDK.
 */
export async function createRoleModel(name: string, source: RoleModelCreationOptions): Promise<RoleModel> {
  const { cassette, replay, faults } = source;
  // The inner model is also needed for replay, because its evidence kind must be recorded: an oracle's answer
  // is not a model's answer.
  const inner = await createRoleModelWithoutCassette(name, source);
  const options = { inner, id: name, ...(replay && { mode: "replay" as const }) };
  const model = cassette === undefined ? inner : createCassetteModel(openCassetteFile(cassette), options);
  return faults ? withFaults(model, faults) : model;
}

async function createRoleModelWithoutCassette(
  name: string,
  { samples, replay, server, names = [] }: RoleModelCreationOptions,
): Promise<RoleModel> {
  if (name === "oracle") {
    const known = samples.filter((sample) => sample.dataset === "gsm8k");
    if (known.length === 0) throw createUsageError("The oracle supports only GSM8K.", "Use a real model.");
    return createOracleModel(known);
  }
  // Replaying a cassette requires neither the model's package nor an API key.
  if (replay) return createPlaceholderModelForReplay(name);
  const [, ownName, ownUrl] = /^([^@]+)@(https?:\/\/.+)$/.exec(name) ?? [];
  // The API key belongs to the server of --base-url.
  if (ownName !== undefined && ownUrl !== undefined) {
    const model = createOpenAiCompatibleModel({ model: ownName, baseUrl: ownUrl });
    // The ID of a run contains the names of its models.
    const isAmbiguous = names.some((other) => other !== name && other.replace(/@https?:.*/, "") === ownName);
    return isAmbiguous ? { ...model, id: name } : model;
  }
  if (server) return createOpenAiCompatibleModel({ ...server, model: name.replace(/^openai:/, "") });
  const { redirectModelWarnings, loadLanguageModel } = await import("../../agents/adk/models/index.ts");
  redirectModelWarnings((warning) => process.emitWarning(warning));
  try {
    return createAiSdkModel(loadLanguageModel(name), { id: name });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw createUsageError(why, "Run colloquy cards run --help for the values of --model.", cause);
  }
}

function createPlaceholderModelForReplay(id: string): RoleModel {
  const fail = (): never => {
    throw createUsageError(`--replay requires the cassette with the answers of ${id}.`, "--cassette <file>");
  };
  return { id, evidenceKind: "live-model", complete: () => Promise.resolve(fail()) };
}

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
