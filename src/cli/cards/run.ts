import { Command } from "commander";
import { comparisonOf, type Report, reportOf } from "../../cards/index.ts";
import {
  choose,
  type Dataset,
  type ExperimentOutcome,
  readDataset,
  runExperiment,
} from "../../experiments/index.ts";
import type { PlannerOptions, RoleModel, SolverOptions } from "../../roles/index.ts";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { Problem } from "../problem.ts";
import { Progress } from "../progress.ts";
import { Verdict } from "../verdict.ts";
import { packageVersion } from "../version.ts";
import { compareText } from "./compare.ts";
import { type ModelSource, roleModelOf } from "./role-models.ts";
import { addRunOptions, type RunOptions } from "./run-options.ts";
import { statsText } from "./stats-text.ts";

/** With what its record says. */
type Outcome = ExperimentOutcome & { readonly report: Report };

export function cardsRunCommand(context: Context): Command {
  return addRunOptions(new Command("run")).action(async (given: RunOptions) => {
    const data = given.data ?? (context.env["COLLOQUY_DATA"] || undefined);
    const options = { ...given, ...(data !== undefined && { data }) };
    const dataset = datasetOf(options);
    const model = await modelsOf(options, dataset);
    const outcomes: Outcome[] = [];
    for (const method of options.method) {
      if (context.interrupted.aborted) break;
      const outcome = await runOne(method, dataset, model, options, context);
      outcomes.push({ ...outcome, report: reportOf(outcome.recording) });
    }
    print(outcomes, options, context);
    endOf(outcomes);
  });
}

function datasetOf({ dataset, data, n, offset, sample }: RunOptions): Dataset {
  try {
    const part = { offset, ...(n !== undefined && { n }), ...(sample && { ids: sample }) };
    return choose(readDataset(dataset, data), part);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Problem("A2ACLI_ERR_USAGE", error.message, "colloquy cards run --help");
  }
}

/** A model for each role that is asked here; one and the same for roles that have none of their own. */
async function modelsOf(options: RunOptions, { samples }: Dataset): Promise<Record<string, RoleModel>> {
  const {
    model,
    plannerModel = model,
    solverModel = model,
    data,
    faults,
    cassette,
    replay = false,
  } = options;
  if (replay && cassette === undefined)
    throw new Problem("A2ACLI_ERR_USAGE", "--replay has nothing to take answers from.", "--cassette <file>");
  const source: ModelSource = {
    samples,
    data,
    replay,
    ...(faults && { faults }),
    ...(cassette !== undefined && { cassette }),
  };
  const planner = await roleModelOf(plannerModel, source);
  return { planner, solver: plannerModel === solverModel ? planner : await roleModelOf(solverModel, source) };
}

async function runOne(
  method: string,
  dataset: Dataset,
  model: Record<string, RoleModel>,
  options: RunOptions,
  context: Context,
): Promise<ExperimentOutcome> {
  const { planner, solver, out, runId, resume, rule, concurrency, deadline } = options;
  const links = { ...(planner !== undefined && { planner }), ...(solver !== undefined && { solver }) };
  const progress = new Progress(context, `${dataset.name} ${method}`);
  try {
    return await runExperiment({
      dataset,
      method,
      model,
      links,
      planner: plannerOf(options),
      solver: solverOf(options),
      answerer: samplingOf(options),
      out,
      concurrency,
      deadlineMs: deadline,
      code: packageVersion(),
      signal: context.interrupted,
      onProgress: ({ done, total, judged, correct, failed }) =>
        progress.show({
          done,
          total,
          before: done - judged,
          note: `${correct} right of ${judged}${failed > 0 ? `, ${failed} out of reach` : ""}`,
        }),
      ...(runId !== undefined && {
        runId: options.method.length > 1 ? `${runId}-${method.replaceAll("@", "_")}` : runId,
      }),
      ...(resume && { resume }),
      ...(rule !== undefined && { rule }),
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Problem("A2ACLI_ERR_USAGE", error.message, "colloquy cards run --help");
  } finally {
    progress.end();
  }
}

function plannerOf(options: RunOptions): PlannerOptions {
  const { mode, context, transcript, forceFirstSolver, maxTurns, maxSolverCalls, tokenBudget } = options;
  return {
    ...samplingOf(options),
    ...(mode && { mode }),
    ...(context && { context }),
    ...(transcript && { transcript }),
    ...(forceFirstSolver && { forceFirstSolver }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxSolverCalls !== undefined && { maxSolverCalls }),
    ...(tokenBudget !== undefined && { tokenBudget }),
  };
}

function solverOf(options: RunOptions): SolverOptions {
  const { maxTokens, ...sampling } = samplingOf(options);
  return {
    ...sampling,
    ...(maxTokens !== undefined && { maxAnswerTokens: maxTokens }),
    ...(options.calculator && { calculator: true }),
  };
}

function samplingOf({ maxTokens, temperature, seed }: RunOptions): {
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

/** Figures on stdout; where the files are, on stderr, because it is no figure. */
function print(outcomes: readonly Outcome[], { output }: RunOptions, { streams }: Context): void {
  const done = outcomes.filter(({ status }) => status === "completed");
  const comparison = done.length > 1 ? comparisonOf(done.map(({ recording }) => recording)) : undefined;
  if (output === "json") {
    const runs = outcomes.map(({ status, runId, file, seedFile, report }) => ({
      runId,
      status,
      file,
      ...(seedFile !== undefined && { seedFile }),
      report,
    }));
    new Output(streams, output).document({ runs, ...(comparison && { comparison }) });
    return;
  }
  const texts = outcomes.map(({ report, runId }) => statsText(report, runId));
  streams.out([...texts, ...(comparison ? [compareText(comparison)] : [])].join("\n"));
  for (const { file, seedFile } of outcomes)
    streams.err(
      [`record: ${file}`, ...(seedFile === undefined ? [] : [`cards: ${seedFile}`]), ""].join("\n"),
    );
  const [first] = outcomes;
  if (first)
    streams.err(
      `look at it: colloquy cards show ${first.file} --sample ${first.recording.run?.sample_ids[0] ?? ""}\n`,
    );
}

/** The exit code: 3 when somebody could not be reached, 1 when the record is not what it should be, 130 by Ctrl-C. */
function endOf(outcomes: readonly Outcome[]): void {
  const failed = outcomes.find(({ status }) => status === "failed");
  if (failed)
    throw new Problem(
      "A2ACLI_ERR_UNREACHABLE",
      `Some problems of ${failed.runId} have no verdict: ${failed.why ?? "nobody said why"}`,
      "The same again with --resume.",
    );
  if (outcomes.some(({ status }) => status === "interrupted")) throw new Verdict(130);
  if (outcomes.some(({ report, degraded }) => degraded || report.broken.length > 0)) throw new Verdict(1);
}
