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
import { omitUndefined, pickOptions } from "../../base/usage-checks/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { CliError, createUsageError } from "../cli-error.ts";
import { ProgressReporter } from "../progress-reporter.ts";
import { ExitCodeError } from "../exit-code-error.ts";
import { readPackageVersion } from "../package-version.ts";
import { createAnswerScorer, type RoleModelCreationOptions, createRoleModel } from "./role-models.ts";
import { renderRunComparison } from "./compare.ts";
import { addCardsRunOptions, type CardsRunOptions, type RolePrompts } from "./run-options.ts";
import { renderRunStats } from "./stats.ts";
import { renderNoAnswersHint } from "./text-table.ts";

/** Outcome of an experiment, with a report about the recording. */
type ExperimentOutcomeWithReport = ExperimentOutcome & { readonly report: RunReport };

export function createCardsRunCommand(context: CliContext): Command {
  return addCardsRunOptions(new Command("run")).action(async (flags: CardsRunOptions) => {
    const data = flags.data ?? (context.env["COLLOQUY_DATA"] || undefined);
    const options = { ...flags, ...omitUndefined({ data }) };
    const { method: methods, runId, repeat, seed: firstSeed = repeat > 1 ? 1 : undefined } = options;
    const dataset = loadDataset(options);
    assertOptionsHaveEffect(options);
    const source = readModelSource(options, dataset, context.env);
    const models = await Promise.all(
      (options.model ?? [undefined]).map((name) => createRoleModels(name, options, source)),
    );
    // Faults of the judge would change the scores of right answers.
    const { faults: _ofRoles, ...judgeSource } = source;
    const scorer =
      options.scorer === undefined
        ? undefined
        : await createAnswerScorer(options.scorer, (name) => createRoleModel(name, judgeSource));
    const outcomes: ExperimentOutcomeWithReport[] = [];
    for (const [position, model] of models.entries())
      for (const method of methods)
        for (let index = 0; index < repeat && !context.interruptSignal.aborted; index++) {
          const seed = firstSeed === undefined ? undefined : firstSeed + index;
          const suffix = [
            models.length > 1 ? `-${position + 1}` : "",
            methods.length > 1 ? `-${method.replaceAll("@", "_")}` : "",
            repeat > 1 ? `-seed${seed ?? ""}` : "",
          ].join("");
          const ids = { seed, runId: runId === undefined ? undefined : runId + suffix };
          const run = { ...options, ...omitUndefined(ids) };
          const outcome = await runExperimentMethod(method, dataset, model, scorer, run, context);
          outcomes.push({ ...outcome, report: buildRunReport(outcome.recording) });
        }
    writeExperimentOutcomes(outcomes, options, context);
    assertExperimentsSucceeded(outcomes);
  });
}

function loadDataset({ dataset, data, fields, n: count, offset, sample: ids }: CardsRunOptions): Dataset {
  if (dataset === "questions" && data === undefined)
    throw createUsageError("The questions have no file.", "--dataset questions --data <file.csv|json|jsonl>");
  if (dataset !== "questions" && fields)
    throw createUsageError("--fields requires a file of questions.", "--dataset questions --data <file>");
  try {
    const all = dataset === "questions" ? readQuestions(data ?? "", fields) : readDataset(dataset, data);
    return selectDatasetSamples(all, omitUndefined({ offset, count, ids }));
  } catch (error) {
    throw toUsageError(error);
  }
}

function toUsageError(error: unknown): unknown {
  return error instanceof RangeError ? createUsageError(error.message, "colloquy cards run --help") : error;
}

/** Throws if the methods of the run ignore an option. */
function assertOptionsHaveEffect({ method: methods, tokenBudget, prompts = {} }: CardsRunOptions): void {
  const single = methods.find((method) => method !== "a2a");
  if (tokenBudget !== undefined && !methods.includes("a2a"))
    throw createUsageError("--token-budget limits only the method a2a.", "--max-tokens <count>");
  if (tokenBudget !== undefined && single !== undefined)
    throw createUsageError(
      `--token-budget has no effect on the method ${single}.`,
      "Run the methods one by one, and compare their records with colloquy cards compare.",
    );
  const roles = Object.keys(prompts);
  const hasRole = (role: string): boolean =>
    role === "answerer" ? single !== undefined : methods.includes("a2a");
  if (roles.length > 0 && !roles.some(hasRole))
    throw createUsageError(
      `The prompts have no effect, because the run has no ${roles.join(" and no ")}.`,
      "Name a role of the method: planner and solver for a2a, or answerer for other methods.",
    );
}

/**
 * Creates the models for all roles in the current process. Roles with the same model name share one model
 * instance.
 */
async function createRoleModels(
  model: string | undefined,
  {
    plannerModel = model,
    solverModel = model,
    planner: plannerUrl,
    solver: solverUrl,
    method,
  }: CardsRunOptions,
  source: RoleModelCreationOptions,
): Promise<Record<string, RoleModel>> {
  const usesPlanner = method.includes("a2a") && plannerUrl === undefined;
  if ((usesPlanner && plannerModel === undefined) || (solverUrl === undefined && solverModel === undefined))
    throw createUsageError(
      "The run has no model.",
      "Pass --model with the name of a model, or --model oracle for a run of GSM8K without a model.",
    );
  const planner = plannerModel === undefined ? undefined : await createRoleModel(plannerModel, source);
  const solver =
    plannerModel === solverModel || solverModel === undefined
      ? planner
      : await createRoleModel(solverModel, source);
  return omitUndefined({ planner, solver });
}

function readModelSource(
  { model: names, faults, cassette, replay = false, baseUrl, apiKeyEnv, extraBody }: CardsRunOptions,
  { samples }: Dataset,
  env: CliContext["env"],
): RoleModelCreationOptions {
  if (extraBody && baseUrl === undefined)
    throw createUsageError("--extra-body requires a server.", "--base-url <url>");
  if (replay && cassette === undefined)
    throw createUsageError("--replay requires a cassette.", "--cassette <file>");
  const apiKey = readApiKey(apiKeyEnv, env);
  const server = baseUrl === undefined ? undefined : omitUndefined({ baseUrl, apiKey, extraBody });
  return { samples, replay, ...omitUndefined({ names, faults, cassette, server }) };
}

/** Reads the API key of an OpenAI-compatible server from the environment variable that the user names. */
function readApiKey(variable: string | undefined, env: CliContext["env"]): string | undefined {
  if (variable === undefined) return undefined;
  const apiKey = env[variable];
  if (!apiKey) throw createUsageError(`The variable ${variable} is not set.`, `export ${variable}=<key>`);
  return apiKey;
}

async function runExperimentMethod(
  method: string,
  dataset: Dataset,
  model: Record<string, RoleModel>,
  scorer: AnswerScorer | CustomScorer | undefined,
  options: CardsRunOptions,
  context: CliContext,
): Promise<ExperimentOutcome> {
  const { planner, solver, out, deadline, prompts = {} } = options;
  const { maxTokens: maxAnswerTokens, rpm: requestsPerMinute, tpm: tokensPerMinute } = options;
  const progress = new ProgressReporter(context, `${dataset.name} ${method}`);
  const getInstructions = (role: keyof RolePrompts): { readonly instructions?: string } =>
    omitUndefined({ instructions: prompts[role] });
  try {
    return await runExperiment({
      ...pickOptions<Pick<CardsRunOptions, SharedOption>>(
        options,
        "budget concurrency onError resume runId tariff",
      ),
      ...omitUndefined({ scorer, requestsPerMinute, tokensPerMinute }),
      dataset,
      method,
      model,
      roleUrls: omitUndefined({ planner, solver }),
      planner: {
        ...pickOptions<PlannerOptions>(options, "context forceFirstSolver maxTokens maxTurns seed"),
        ...pickOptions<PlannerOptions>(options, "temperature tokenBudget transcript"),
        ...getInstructions("planner"),
      },
      solver: {
        ...pickOptions<SolverOptions>(options, "seed temperature"),
        ...omitUndefined({ maxAnswerTokens }),
        ...getInstructions("solver"),
      },
      answerer: {
        ...pickOptions<Pick<CardsRunOptions, "maxTokens" | "seed" | "temperature">>(
          options,
          "maxTokens seed temperature",
        ),
        ...getInstructions("answerer"),
      },
      outputFolder: out,
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
    });
  } catch (error) {
    throw toUsageError(error);
  } finally {
    progress.end();
  }
}

type SharedOption = "budget" | "concurrency" | "onError" | "resume" | "runId" | "tariff";

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
