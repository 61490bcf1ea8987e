import { defineOptionNames, pickOptions } from "../../diagnostics/index.ts";
import type { ErrorCard, Recording, ResultCard, RunRecordInput, DatasetSample } from "../../cards/index.ts";
import { createTaskContextFromDocuments, type ControllerSolveResult } from "../../roles/index.ts";
import type { Dataset } from "../data/index.ts";
import {
  openRunFile,
  type RunFile,
  type OpenRunFileOptions,
  writeMessageCardListFile,
} from "../recorder/index.ts";
import { buildRunDescription } from "./run-description.ts";
import { scoreReply, resolveScoreRule, type ScoreRule } from "./score-reply.ts";
import { type ExperimentRoleOptions, startExperimentRoles } from "./experiment-roles.ts";
import { type ExperimentMethod, parseExperimentMethod } from "./experiment-method.ts";
import { SolverDocumentTitleRecorder } from "./solver-document-title-recorder.ts";
import {
  isReplyOfUnreachableRole,
  UnreachableRoleSubtaskRecorder,
} from "./unreachable-role-subtask-recorder.ts";

/** Options for `runExperiment`. */
export interface ExperimentOptions
  extends
    Omit<ExperimentRoleOptions, "method">,
    Pick<OpenRunFileOptions, "outputFolder" | "resume" | "redactCard" | "fsync"> {
  /** Dataset with the problems to solve. */
  readonly dataset: Dataset;
  /**
   * Method that solves the problems, which is `a2a` (default), `cot`, `direct`, `cot-sc@k`, or `direct-sc@k`.
   */
  readonly method?: ExperimentMethod | string;
  /**
   * Name of the rule that scores the answers. The default rule is `gsm8k/strict` or `hotpotqa/em`, depending
   * on the dataset.
   */
  readonly scoreRule?: string;
  /**
   * ID of the experiment run. The name of the record file contains this ID. The default run ID contains the
   * dataset, the method, the model, and the number of problems.
   */
  readonly runId?: string;
  /** Maximum number of problems that are solved at the same time. Default: 4. */
  readonly concurrency?: number;
  /** Maximum time in milliseconds for solving one problem. Default: 120,000. */
  readonly deadlineMs?: number;
  /** Number of consecutive problems with an unreachable model or agent that stops the run. Default: 10. */
  readonly maxConsecutiveFailures?: number;
  /** Version of your code, stored in the run line. Default: `unknown`. */
  readonly codeVersion?: string;
  /**
   * Signal that interrupts the run. An interrupted run keeps finished problems, and `resume` continues with
   * all other problems.
   */
  readonly signal?: AbortSignal;
  /** Called with the progress of the run after each problem. */
  readonly onProgress?: (progress: ExperimentProgress) => void;
}

const assertKnownOptions = defineOptionNames<ExperimentOptions>()(
  "runExperiment",
  "answerer codeVersion concurrency dataset deadlineMs fsync maxConsecutiveFailures method model",
  "onProgress outputFolder planner redactCard resume roleUrls runId scoreRule serverLayout signal",
  "solver",
);

/** Progress of an experiment run. */
export interface ExperimentProgress {
  /** Number of scored problems, including problems that were scored before the run was resumed. */
  readonly done: number;
  /** Total number of problems in the run. */
  readonly total: number;
  /** Number of problems that were scored since the run was started or resumed. */
  readonly scored: number;
  /** Number of correct answers since the run was started or resumed. */
  readonly correct: number;
  /** Number of problems that have no score because a model or an agent was unreachable. */
  readonly unreachable: number;
}

/** Outcome of an experiment run. */
export interface ExperimentOutcome {
  readonly status: "completed" | "interrupted" | "failed";
  readonly runId: string;
  readonly file: string;
  /**
   * Path of the file that contains the message cards in the format of the card specification, or `undefined`
   * if the run is not completed.
   */
  readonly specificationFile: string | undefined;
  readonly recording: Recording;
  /** Reason why the run failed, such as an unreachable model or a write error of the record file. */
  readonly failureReason: string | undefined;
  /** Whether record lines were lost because of write errors. */
  readonly isDegraded: boolean;
}

/**
 * Solves the problems of a dataset with a method and records every message card. Each role of an experiment
 * is an A2A agent, which has its own server by default. The option `resume` continues a run that was
 * interrupted or killed. A resumed run solves every remaining problem and repeats no finished problem.
 *
 * If a model or an agent is unreachable, the problem gets no score and counts as neither correct nor wrong. A
 * resumed run retries all problems without a score.
 */
export async function runExperiment(options: ExperimentOptions): Promise<ExperimentOutcome> {
  assertKnownOptions(options);
  const { dataset, concurrency = 4, signal = new AbortController().signal } = options;
  const method =
    typeof options.method === "object" ? options.method : parseExperimentMethod(options.method ?? "a2a");
  const rule = resolveScoreRule(dataset.name, options.scoreRule);
  const run = buildRunDescription({ ...options, method }, rule);
  let writeError: unknown;
  const file = openRunFile(run, {
    ...pickOptions<OpenRunFileOptions>(options, "fsync outputFolder redactCard resume"),
    onDegraded: (cause) => (writeError = cause),
  });
  const experimentRun = new ExperimentRun(file, run, { ...options, method }, rule, signal);
  try {
    await experimentRun.solvePendingSamples(concurrency);
  } catch (error) {
    file.endRun("failed");
    throw error;
  }
  const { outcomeStatus: status } = experimentRun;
  const failureReason = experimentRun.isLastScoreSaved
    ? experimentRun.failureReason
    : `${file.path} could not be written: ${String(writeError)}`;
  file.endRun(status);
  const recording = file.readRecording();
  return {
    status,
    runId: run.run_id,
    file: file.path,
    specificationFile:
      status === "completed" ? writeMessageCardListFile(recording, options.outputFolder) : undefined,
    recording,
    failureReason,
    isDegraded: file.isDegraded,
  };
}

class ExperimentRun {
  readonly #file: RunFile;
  readonly #run: RunRecordInput;
  readonly #options: ExperimentOptions & { readonly method: ExperimentMethod };
  readonly #rule: ScoreRule;
  readonly #signal: AbortSignal;
  readonly #giveUpController = new AbortController();
  readonly #pendingSamples: DatasetSample[];
  readonly #shownDocuments: SolverDocumentTitleRecorder;
  readonly #unreachableSubtasks: UnreachableRoleSubtaskRecorder;
  #scored = 0;
  #correct = 0;
  #unreachable = 0;
  #consecutiveFailures = 0;
  failureReason: string | undefined;
  /** Whether the score of the last problem was written to the record file. */
  isLastScoreSaved = true;

  constructor(
    file: RunFile,
    run: RunRecordInput,
    options: ExperimentOptions & { readonly method: ExperimentMethod },
    rule: ScoreRule,
    signal: AbortSignal,
  ) {
    this.#file = file;
    this.#run = run;
    this.#options = options;
    this.#rule = rule;
    this.#signal = signal;
    this.#shownDocuments = new SolverDocumentTitleRecorder(file);
    this.#unreachableSubtasks = new UnreachableRoleSubtaskRecorder(this.#shownDocuments);
    this.#pendingSamples = options.dataset.samples.filter(({ id }) => !file.doneSampleIds.has(id));
  }

  get outcomeStatus(): ExperimentOutcome["status"] {
    if (this.#unreachable > 0) return "failed";
    const isDone = this.#file.doneSampleIds.size + this.#scored === this.#options.dataset.samples.length;
    return isDone ? "completed" : "interrupted";
  }

  async solvePendingSamples(concurrency: number): Promise<void> {
    if (this.#pendingSamples.length === 0) return;
    const setup = await startExperimentRoles(this.#options, this.#unreachableSubtasks);
    const stop = AbortSignal.any([this.#signal, this.#giveUpController.signal]);
    const { deadlineMs = 120_000, dataset } = this.#options;
    const solve = (sample: DatasetSample): Promise<ControllerSolveResult> =>
      setup.controller.solve({
        task: sample.question,
        to: setup.entryRole,
        ...(sample.dataset === "hotpotqa" && { context: createTaskContextFromDocuments(sample.paragraphs) }),
        dataset: dataset.name,
        sampleId: sample.id,
        runId: this.#run.run_id,
        signal: stop,
        deadlineMs,
      });
    const worker = async (): Promise<void> => {
      for (let sample = this.#takeNextSample(stop); sample; sample = this.#takeNextSample(stop)) {
        const { reply } = await solve(sample);
        // A problem that was stopped from outside is not done, whatever its reply is.
        if (!stop.aborted) this.#recordOutcome(sample, reply);
      }
    };
    try {
      await Promise.all(Array.from({ length: concurrency }, worker));
    } finally {
      await setup.close();
    }
  }

  #takeNextSample(stop: AbortSignal): DatasetSample | undefined {
    return stop.aborted ? undefined : this.#pendingSamples.shift();
  }

  #recordOutcome(sample: DatasetSample, reply: ResultCard | ErrorCard): void {
    const shown = this.#shownDocuments.takeSampleDocumentTitles(sample.id);
    const subtaskFailure = this.#unreachableSubtasks.takeSampleFailureReason(sample.id);
    const failureReason = isReplyOfUnreachableRole(reply) ? reply.content : subtaskFailure;
    if (failureReason !== undefined) {
      this.failureReason = failureReason;
      this.#unreachable += 1;
      this.#consecutiveFailures += 1;
      if (this.#consecutiveFailures >= (this.#options.maxConsecutiveFailures ?? 10))
        this.#giveUpController.abort();
    } else {
      this.#consecutiveFailures = 0;
      const isWhole = this.#options.method.kind !== "a2a";
      const score = scoreReply(sample, reply, this.#rule, { isWhole, shown });
      const { turn } = reply.metadata;
      this.isLastScoreSaved = this.#file.recordSampleScore({
        run_id: this.#run.run_id,
        sample_id: sample.id,
        ...score,
        ...(turn !== undefined && { turns: turn }),
      });
      if (this.isLastScoreSaved) {
        this.#scored += 1;
        if (score.correct) this.#correct += 1;
      } else {
        // Further results could not be saved, so the run stops.
        this.#unreachable += 1;
        this.#giveUpController.abort();
      }
    }
    this.#options.onProgress?.({
      done: this.#file.doneSampleIds.size + this.#scored,
      total: this.#options.dataset.samples.length,
      scored: this.#scored,
      correct: this.#correct,
      unreachable: this.#unreachable,
    });
  }
}
