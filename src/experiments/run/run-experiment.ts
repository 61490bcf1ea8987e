import type { ErrorCard, Recording, ResultCard, RunRecordInput, DatasetSample } from "../../cards/index.ts";
import { createDocumentsContext, type SolveResult } from "../../roles/index.ts";
import type { Dataset } from "../data/index.ts";
import { openRunFile, type RunFile, type RunFileOptions, writeSpecificationFile } from "../recorder/index.ts";
import { describeRun } from "./run-description.ts";
import { scoreReply, resolveScoreRule, type ScoreRule } from "./score-reply.ts";
import { type ExperimentSetupOptions, startExperimentSetup } from "./experiment-setup.ts";
import { type ExperimentMethod, parseMethod } from "./experiment-method.ts";
import { ShownDocumentRecorder } from "./shown-document-recorder.ts";
import { isUnreachable, UnreachableSubtaskRecorder } from "./unreachable-subtask-recorder.ts";

export interface ExperimentOptions
  extends
    Omit<ExperimentSetupOptions, "method">,
    Pick<RunFileOptions, "outputFolder" | "resume" | "redactCard" | "fsync"> {
  readonly dataset: Dataset;
  /** `a2a`, `cot`, `direct`, `cot-sc@k`. Default `a2a`. */
  readonly method?: ExperimentMethod | string;
  /** By which answers are scored. Default `gsm8k/strict`, `hotpotqa/em`. */
  readonly scoreRule?: string;
  /** Names the run and its file. Default: made of dataset, method, model and the number of problems. */
  readonly runId?: string;
  /** Problems at a time. Default 4. */
  readonly concurrency?: number;
  /** For a problem, in milliseconds; then it is stopped. Default 120,000. */
  readonly deadlineMs?: number;
  /**
   * The run is given up when so many problems in a row come to nothing because a model or an agent cannot be reached.
   * Default 10.
   */
  readonly maxConsecutiveFailures?: number;
  /** Which Colloquy this is, for the record. Default `unknown`. */
  readonly codeVersion?: string;
  /** Interrupts the run; what is done stays done, and `resume` goes on. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ExperimentProgress) => void;
}

/** How far a run has come. */
export interface ExperimentProgress {
  /** Problems with a verdict, those of earlier parts with them. */
  readonly done: number;
  readonly total: number;
  /** Of this part. */
  readonly scored: number;
  readonly correct: number;
  /** Without a verdict, because a model or an agent could not be reached. */
  readonly unreachable: number;
}

export interface ExperimentOutcome {
  readonly status: "completed" | "interrupted" | "failed";
  readonly runId: string;
  readonly file: string;
  /** The cards as the specification has them; written when the run is completed. */
  readonly specificationFile: string | undefined;
  readonly recording: Recording;
  /** Why it failed: the last that could not be reached, or that the record cannot be written. */
  readonly failureReason: string | undefined;
  /** Lines were lost, because they could not be written. */
  readonly isDegraded: boolean;
}

/**
 * Runs a method over problems, with each role an A2A agent on a server of its own, and writes down every card. Interrupted
 * or killed, it goes on with `resume`: no problem is solved twice, and none is lost.
 *
 * A problem for which a model or an agent could not be reached, the planner's or a solver's, has no verdict, neither right
 * nor wrong; `resume` tries it again.
 */
export async function runExperiment(options: ExperimentOptions): Promise<ExperimentOutcome> {
  const { dataset, concurrency = 4, signal = new AbortController().signal } = options;
  const method = typeof options.method === "object" ? options.method : parseMethod(options.method ?? "a2a");
  const rule = resolveScoreRule(dataset.name, options.scoreRule);
  const run = describeRun({ ...options, method }, rule);
  let writeError: unknown;
  const file = openRunFile(run, { ...options, onDegraded: (cause) => (writeError = cause) });
  const experimentRun = new ExperimentRun(file, run, { ...options, method }, rule, signal);
  try {
    await experimentRun.solveAll(concurrency);
  } catch (error) {
    file.endRun("failed");
    throw error;
  }
  const { status } = experimentRun;
  const failureReason = experimentRun.isLastScoreSaved
    ? experimentRun.failureReason
    : `${file.path} cannot be written: ${String(writeError)}`;
  file.endRun(status);
  const recording = file.readRecording();
  return {
    status,
    runId: run.run_id,
    file: file.path,
    specificationFile:
      status === "completed" ? writeSpecificationFile(recording, options.outputFolder) : undefined,
    recording,
    failureReason,
    isDegraded: file.isDegraded,
  };
}

/** The problems of a run and how far they are. */
class ExperimentRun {
  readonly #file: RunFile;
  readonly #run: RunRecordInput;
  readonly #options: ExperimentOptions & { readonly method: ExperimentMethod };
  readonly #rule: ScoreRule;
  readonly #signal: AbortSignal;
  readonly #giveUpController = new AbortController();
  readonly #pendingSamples: DatasetSample[];
  readonly #shownDocuments: ShownDocumentRecorder;
  readonly #unreachableSubtasks: UnreachableSubtaskRecorder;
  #scored = 0;
  #correct = 0;
  #unreachable = 0;
  #consecutiveFailures = 0;
  failureReason: string | undefined;
  /** The last verdict is on disk. */
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
    this.#shownDocuments = new ShownDocumentRecorder(file);
    this.#unreachableSubtasks = new UnreachableSubtaskRecorder(this.#shownDocuments);
    this.#pendingSamples = options.dataset.samples.filter(({ id }) => !file.doneSampleIds.has(id));
  }

  get status(): ExperimentOutcome["status"] {
    if (this.#unreachable > 0) return "failed";
    const isDone = this.#file.doneSampleIds.size + this.#scored === this.#options.dataset.samples.length;
    return isDone ? "completed" : "interrupted";
  }

  async solveAll(concurrency: number): Promise<void> {
    if (this.#pendingSamples.length === 0) return;
    const setup = await startExperimentSetup(this.#options, this.#unreachableSubtasks);
    const stop = AbortSignal.any([this.#signal, this.#giveUpController.signal]);
    const { deadlineMs = 120_000, dataset } = this.#options;
    const solve = (sample: DatasetSample): Promise<SolveResult> =>
      setup.controller.solve({
        task: sample.question,
        to: setup.entryRole,
        ...(sample.dataset === "hotpotqa" && { context: createDocumentsContext(sample.paragraphs) }),
        dataset: dataset.name,
        sampleId: sample.id,
        runId: this.#run.run_id,
        signal: stop,
        deadlineMs,
      });
    const worker = async (): Promise<void> => {
      for (let sample = this.#takeNextSample(stop); sample; sample = this.#takeNextSample(stop)) {
        const { reply } = await solve(sample);
        // A problem that was stopped from outside is not done, whatever it has come to.
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
    const shown = this.#shownDocuments.takeTitles(sample.id);
    const subtaskFailure = this.#unreachableSubtasks.takeFailureReason(sample.id);
    const failureReason = isUnreachable(reply) ? reply.content : subtaskFailure;
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
      this.isLastScoreSaved = this.#file.recordScore({
        run_id: this.#run.run_id,
        sample_id: sample.id,
        ...score,
        ...(turn !== undefined && { turns: turn }),
      });
      if (this.isLastScoreSaved) {
        this.#scored += 1;
        if (score.correct) this.#correct += 1;
      } else {
        // Whatever is found out from here on would be paid for in vain.
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
