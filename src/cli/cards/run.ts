import { Command } from "commander";
import {
  type AnswerScorer,
  buildComparisonReport,
  type RunReport,
  buildRunReport,
} from "../../cards/index.ts";
import {
  selectDatasetSamples,
  type CustomScorer,
  type Dataset,
  type ExperimentOutcome,
  readDataset,
  readQuestions,
  runExperiment,
} from "../../cards/experiments/index.ts";
import type { PlannerOptions, RoleModel, SolverOptions } from "../../cards/roles/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { CliError, createUsageError } from "../cli-error.ts";
import { ProgressReporter } from "../progress-reporter.ts";
import { ExitCodeError } from "../exit-code-error.ts";
import { readPackageVersion } from "../package-version.ts";
import { createAnswerScorer } from "./answer-scorer.ts";
import { renderRunComparison } from "./compare.ts";
import { type RoleModelCreationOptions, createRoleModel } from "./role-models.ts";
import { addCardsRunOptions, type CardsRunOptions, type RolePrompts } from "./run-options.ts";
import { renderRunStats } from "./render-run-stats.ts";
import { renderNoAnswersHint } from "./text-table.ts";

/** Outcome of an experiment, with a report about the recording. */
type ExperimentOutcomeWithReport = ExperimentOutcome & { readonly report: RunReport };

export function createCardsRunCommand(context: CliContext): Command {
  return addCardsRunOptions(new Command("run")).action(async (flags: CardsRunOptions) => {
    const data = flags.data ?? (context.env["COLLOQUY_DATA"] || undefined);
    const options = { ...flags, ...(data !== undefined && { data }) };
    const dataset = loadDataset(options);
    const models = await Promise.all(
      (options.model ?? [undefined]).map((name) => createRoleModels(name, options, dataset, context.env)),
    );
    const scorer =
      options.scorer === undefined
        ? undefined
        : await createAnswerScorer(options.scorer, (name) => {
            // Faults of the judge would change the scores of right answers.
            const { faults: _ofRoles, ...source } = readModelSource(options, dataset, context.env);
            return createRoleModel(name, source);
          });
    const outcomes: ExperimentOutcomeWithReport[] = [];
    const { repeat, seed = repeat > 1 ? 1 : undefined } = options;
    const repetitions = models.flatMap((model, position) =>
      options.method.flatMap((method) =>
        Array.from({ length: repeat }, (_, index) => ({
          model,
          position,
          method,
          seed: seed && seed + index,
        })),
      ),
    );
    for (const { model, position, method, seed: ownSeed } of repetitions) {
      if (context.interruptSignal.aborted) break;
      const seeded = { ...options, ...(ownSeed !== undefined && { seed: ownSeed }) };
      const run = {
        ...seeded,
        ...(options.runId !== undefined &&
          models.length > 1 && { runId: `${options.runId}-${position + 1}` }),
      };
      const outcome = await runExperimentMethod(method, dataset, model, scorer, run, context);
      outcomes.push({ ...outcome, report: buildRunReport(outcome.recording) });
    }
    writeExperimentOutcomes(outcomes, options, context);
    assertExperimentsSucceeded(outcomes);
  });
}

function loadDataset({ dataset, data, fields, n, offset, sample }: CardsRunOptions): Dataset {
  if (dataset === "questions" && data === undefined)
    throw createUsageError("The questions have no file.", "--dataset questions --data <file.csv|json|jsonl>");
  if (dataset !== "questions" && fields)
    throw createUsageError("--fields requires a file of questions.", "--dataset questions --data <file>");
  try {
    const all = dataset === "questions" ? readQuestions(data ?? "", fields) : readDataset(dataset, data);
    const part = { offset, ...(n !== undefined && { count: n }), ...(sample && { ids: sample }) };
    return selectDatasetSamples(all, part);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw createUsageError(error.message, "colloquy cards run --help");
  }
}

/**
 * Creates the models for all roles in the current process. Roles with the same model name share one model
 * instance.
 */
async function createRoleModels(
  model: string | undefined,
  options: CardsRunOptions,
  dataset: Dataset,
  env: CliContext["env"],
): Promise<Record<string, RoleModel>> {
  const { plannerModel = model, solverModel = model, planner: plannerUrl, solver: solverUrl } = options;
  if (options.tokenBudget !== undefined && !options.method.includes("a2a"))
    throw createUsageError("--token-budget limits only the method a2a.", "--max-tokens <count>");
  const single = options.method.find((method) => method !== "a2a");
  if (options.tokenBudget !== undefined && single !== undefined)
    throw createUsageError(
      `--token-budget has no effect on the method ${single}.`,
      "Run the methods one by one, and compare their records with colloquy cards compare.",
    );
  const prompts = Object.keys(options.prompts ?? {});
  if (prompts.length > 0 && !prompts.some((role) => hasRole(role, options.method)))
    throw createUsageError(
      `The prompts have no effect, because the run has no ${prompts.join(" and no ")}.`,
      "Name a role of the method: planner and solver for a2a, or answerer for other methods.",
    );
  const source = readModelSource(options, dataset, env);
  const usesPlanner = options.method.includes("a2a") && plannerUrl === undefined;
  const isMissing =
    (usesPlanner && plannerModel === undefined) || (solverUrl === undefined && solverModel === undefined);
  if (isMissing)
    throw createUsageError(
      "The run has no model.",
      "Pass --model with the name of a model, or --model oracle for a run of GSM8K without a model.",
    );
  const planner = plannerModel === undefined ? undefined : await createRoleModel(plannerModel, source);
  const solver =
    plannerModel === solverModel || solverModel === undefined
      ? planner
      : await createRoleModel(solverModel, source);
  return { ...(planner && { planner }), ...(solver && { solver }) };
}

function hasRole(role: string, methods: readonly string[]): boolean {
  return methods.some((method) => (method === "a2a") === (role !== "answerer"));
}

function readModelSource(
  { data, faults, cassette, replay = false, baseUrl, apiKeyEnv, extraBody }: CardsRunOptions,
  { samples }: Dataset,
  env: CliContext["env"],
): RoleModelCreationOptions {
  if (extraBody && baseUrl === undefined)
    throw createUsageError("--extra-body requires a server.", "--base-url <url>");
  if (replay && cassette === undefined)
    throw createUsageError("--replay requires a cassette.", "--cassette <file>");
  return {
    samples,
    data,
    replay,
    ...(faults && { faults }),
    ...(cassette !== undefined && { cassette }),
    ...(baseUrl !== undefined && {
      server: { baseUrl, ...readApiKey(apiKeyEnv, env), ...(extraBody && { extraBody }) },
    }),
  };
}

/** Reads the API key of an OpenAI-compatible server from the environment variable that the user names. */
function readApiKey(variable: string | undefined, env: CliContext["env"]): { apiKey?: string } {
  if (variable === undefined) return {};
  const apiKey = env[variable];
  if (!apiKey) throw createUsageError(`The variable ${variable} is not set.`, `export ${variable}=<key>`);
  return { apiKey };
}

async function runExperimentMethod(
  method: string,
  dataset: Dataset,
  model: Record<string, RoleModel>,
  scorer: AnswerScorer | CustomScorer | undefined,
  options: CardsRunOptions,
  context: CliContext,
): Promise<ExperimentOutcome> {
  const { planner, solver, out, runId, resume, concurrency, deadline, onError } = options;
  const { rpm, tpm, budget, tariff } = options;
  const links = { ...(planner !== undefined && { planner }), ...(solver !== undefined && { solver }) };
  const progress = new ProgressReporter(context, `${dataset.name} ${method}`);
  try {
    return await runExperiment({
      dataset,
      method,
      model,
      roleUrls: links,
      planner: { ...toPlannerOptions(options), ...toInstructions(options, "planner") },
      solver: { ...toSolverOptions(options), ...toInstructions(options, "solver") },
      answerer: { ...toSamplingOptions(options), ...toInstructions(options, "answerer") },
      ...(rpm !== undefined && { requestsPerMinute: rpm }),
      ...(tpm !== undefined && { tokensPerMinute: tpm }),
      ...(budget && { budget }),
      ...(tariff && { tariff }),
      outputFolder: out,
      concurrency,
      onError,
      deadlineMs: deadline,
      codeVersion: readPackageVersion(),
      signal: context.interruptSignal,
      onProgress: ({ done, total, scored, correct, failed }) =>
        progress.show({
          done,
          total,
          doneBefore: done - scored,
          note: `${correct} right of ${scored}${failed > 0 ? `, ${failed} failed` : ""}`,
        }),
      ...(runId !== undefined && {
        runId:
          (options.method.length > 1 ? `${runId}-${method.replaceAll("@", "_")}` : runId) +
          (options.repeat > 1 ? `-seed${options.seed ?? ""}` : ""),
      }),
      ...(resume && { resume }),
      ...(scorer !== undefined && { scorer }),
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw createUsageError(error.message, "colloquy cards run --help");
  } finally {
    progress.end();
  }
}

function toInstructions(
  { prompts }: CardsRunOptions,
  role: keyof RolePrompts,
): { readonly instructions?: string } {
  const instructions = prompts?.[role];
  return instructions === undefined ? {} : { instructions };
}

function toPlannerOptions(options: CardsRunOptions): PlannerOptions {
  const { mode, context, transcript, forceFirstSolver, maxTurns, maxSolverCalls, tokenBudget } = options;
  return {
    ...toSamplingOptions(options),
    ...(mode && { mode }),
    ...(context && { context }),
    ...(transcript && { transcript }),
    ...(forceFirstSolver && { forceFirstSolver }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxSolverCalls !== undefined && { maxSolverCalls }),
    ...(tokenBudget !== undefined && { tokenBudget }),
  };
}

function toSolverOptions(options: CardsRunOptions): SolverOptions {
  const { maxTokens, ...sampling } = toSamplingOptions(options);
  return {
    ...sampling,
    ...(maxTokens !== undefined && { maxAnswerTokens: maxTokens }),
    ...(options.calculator && { calculator: true }),
  };
}

function toSamplingOptions({ maxTokens, temperature, seed }: CardsRunOptions): {
  maxTokens?: number;
  temperature?: number;
  seed?: number;
} {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
  };
}

/** Writes the run statistics to stdout and the paths of the written files to stderr. */
function writeExperimentOutcomes(
  outcomes: readonly ExperimentOutcomeWithReport[],
  { output }: CardsRunOptions,
  { streams }: CliContext,
): void {
  const done = outcomes.filter(({ status }) => status === "completed");
  const comparison =
    done.length > 1 ? buildComparisonReport(done.map(({ recording }) => recording)) : undefined;
  if (output === "json") {
    const runs = outcomes.map(({ status, runId, file, specificationFile, report }) => ({
      runId,
      status,
      file,
      ...(specificationFile !== undefined && { seedFile: specificationFile }),
      report,
    }));
    new OutputWriter(streams, output).writeJson({ runs, ...(comparison && { comparison }) });
    return;
  }
  const texts = outcomes.map(({ report, runId }) => renderRunStats(report, runId));
  streams.out([...texts, ...(comparison ? [renderRunComparison(comparison)] : [])].join("\n"));
  for (const { file, specificationFile, failedSamples, report, runId } of outcomes) {
    const { outcomes: counts, done } = report.samples;
    const hasAnswer = Object.keys(counts).some((name) => name === "answered" || name === "unmarked");
    if (done > 0 && !hasAnswer) streams.err(`${renderNoAnswersHint(runId, counts)}\n`);
    for (const { sampleId, error, recordedAs = "not scored" } of failedSamples)
      streams.err(`${sampleId}: ${recordedAs}: ${error.replaceAll(/\s+/g, " ")}\n`);
    streams.err(
      [
        `record: ${file}`,
        ...(specificationFile === undefined ? [] : [`cards: ${specificationFile}`]),
        "",
      ].join("\n"),
    );
  }
  const [first] = outcomes;
  if (first)
    streams.err(
      `look at it: colloquy cards show ${first.file} --sample ${first.recording.run?.sample_ids[0] ?? ""}\n`,
    );
}

/**
 * Throws an error if the experiment run was not successful. The exit code is 3 if a problem has no score
 * because a model or an agent failed, 1 if a recording is incomplete or invalid, and 130 after Ctrl-C.
 */
function assertExperimentsSucceeded(outcomes: readonly ExperimentOutcomeWithReport[]): void {
  const failed = outcomes.find(({ status }) => status === "failed");
  if (failed) {
    const { runId, failureReason = "the reason is unknown", failedSamples } = failed;
    const ids = failedSamples.flatMap(({ sampleId, recordedAs }) => (recordedAs ? [] : [sampleId]));
    const listed = ids.length > 0 ? ` (${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""})` : "";
    const isMisconfigured = /\b(?:401|402|403|404)\b/.test(failureReason);
    const remedy = failureReason.startsWith("the run has spent its budget")
      ? "Run the command again with --resume and a larger --budget."
      : isMisconfigured
        ? "Correct the name of the model, the API key, or the URL, and run the command again with --resume."
        : "Run the same command again with --resume. If the error stays, add --on-error wrong or --on-error skip.";
    throw new CliError(
      "A2ACLI_ERR_UNREACHABLE",
      `Some problems of ${runId}${listed} have no verdict: ${failureReason}`,
      remedy,
    );
  }
  if (outcomes.some(({ status }) => status === "interrupted")) throw new ExitCodeError(130);
  if (outcomes.some(({ report, isDegraded }) => isDegraded || report.broken.length > 0))
    throw new ExitCodeError(1);
}
