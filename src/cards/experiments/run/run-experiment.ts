import { defineOptionNames, pickOptions } from "../../../base/usage-checks/index.ts";
import {
  addTokenCounts,
  type AnswerScorer,
  type CardRecorder,
  type CardTokenUsage,
  computeTokenPrice,
  convertUsageToTokenCounts,
  type DatasetSample,
  type ErrorCard,
  getAnswerForm,
  type MessageCard,
  type Recording,
  type ResultCard,
  sumUsageTokens,
  type TokenCounts,
} from "../../index.ts";
import {
  type ControllerSolveResult,
  createRequestLimit,
  createTaskContextFromDocuments,
  excludeDelays,
} from "../../roles/index.ts";
import type { Dataset } from "../read-dataset.ts";
import {
  openRunFile,
  type RunFile,
  type OpenRunFileOptions,
  type RunRecordInput,
  type ScoreRecordInput,
  writeMessageCardListFile,
} from "../recorder/index.ts";
import {
  buildRunDescription,
  type ExperimentRoleOptions,
  resolveRoleModels,
  startExperimentRoles,
  type ExperimentMethod,
  parseExperimentMethod,
} from "./experiment-roles.ts";
import {
  type CustomScorer,
  getReplyErrorType,
  resolveScorer,
  scoreReply,
  findUnreachableSubtask,
  isReplyOfMisconfiguredModel,
  isReplyOfRejectedRequest,
  isReplyOfUnreachableRole,
} from "./score-reply.ts";

/** Options for `runExperiment`. */
export interface ExperimentOptions
  extends
    Omit<ExperimentRoleOptions, "method">,
    Pick<OpenRunFileOptions, "outputFolder" | "resume" | "redact" | "fsync" | "tariff"> {
  /** Dataset with the problems to solve. */
  readonly dataset: Dataset;
  /**
   * Method that solves the problems, which is `a2a` (default), `cot`, `direct`, `cot-sc@k`, `direct-sc@k`, or `debate@k`.
   */
  readonly method?: ExperimentMethod | string;
  /**
   * Scorer of the answers: a name, or your own scorer. Default: `number` if all correct answers are numbers, and
   * `f1` otherwise.
   */
  readonly scorer?: AnswerScorer | (string & {}) | CustomScorer;
  /**
   * ID of the experiment run. The name of the record file contains this ID. The default run ID contains the
   * dataset, the method, and the model, as in `gsm8k_a2a_claude`.
   */
  readonly runId?: string;
  /**
   * Maximum number of model requests in flight, over all problems and all local roles. As many problems are
   * solved at the same time. If a method sends several requests for a problem at once, fewer problems are
   * solved at the same time. Default: 4.
   */
  readonly concurrency?: number;
  /**
   * Maximum number of model requests in any period of one minute. Waiting requests do not use up the deadline of their
   * problem. Default: no limit.
   */
  readonly requestsPerMinute?: number;
  /**
   * Maximum number of input and output tokens in any period of one minute. When the limit is reached, no request
   * starts until it has passed. Default: no limit.
   */
  readonly tokensPerMinute?: number;
  /**
   * Maximum number of input and output tokens of the run, and maximum cost in the currency of `tariff`. When the
   * budget is spent, the run fails, and `resume` with a larger budget continues. Model calls with unknown tokens do not
   * count. Default: no limit.
   */
  readonly budget?: { readonly tokens?: number; readonly cost?: number };
  /**
   * Treatment of a problem without an answer, because a model or an agent failed or the deadline passed:
   *
   * - `fail` (default): the problem has no score, the run fails, and a resumed run solves the problem again.
   * - `wrong`: the problem counts as wrong.
   * - `skip`: the problem has no score, and comparisons exclude the problem.
   *
   * With `wrong` and `skip`, the run ends. A run that is stopped because of `maxConsecutiveFailures` or
   * because of an invalid API key keeps its last failed problems without a score.
   */
  readonly onError?: "fail" | "wrong" | "skip";
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
  "answerer onError budget codeVersion concurrency dataset deadlineMs fsync maxConsecutiveFailures method model",
  "onProgress outputFolder planner redact requestsPerMinute resume roleUrls runId scorer serverLayout signal",
  "solver tariff tokensPerMinute",
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
  /** Number of problems that failed because a model or an agent was unreachable or rejected a request. */
  readonly failed: number;
}

/** A problem without an answer. */
export interface FailedSample {
  readonly sampleId: string;
  /** Error that ended the problem. */
  readonly error: string;
  /** What the run recorded, which is nothing for problems that a resumed run solves again. */
  readonly recordedAs: "wrong" | "skipped" | undefined;
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
  /** Problems that ended with an error since the run was started or resumed. */
  readonly failedSamples: readonly FailedSample[];
  /** Whether record lines were lost because of write errors. */
  readonly isDegraded: boolean;
}

/**
 * Solves the problems of a dataset with a method and records every message card. Each role of an experiment
 * is an A2A agent, which has its own server by default. The option `resume` continues a run that was
 * interrupted or killed. A resumed run solves every remaining problem and repeats no finished problem.
 *
 * If a model or an agent is unreachable, or if a model rejects a request, the option `onError` decides
 * whether the problem counts as wrong, is skipped, or gets no score. A resumed run retries all problems
 * without a score. If a model rejects the API key or the name of the model, the run stops at once.
 */
export async function runExperiment(options: ExperimentOptions): Promise<ExperimentOutcome> {
  assertKnownOptions(options);
  const { dataset, concurrency = 4, signal = new AbortController().signal } = options;
  const method =
    typeof options.method === "object" ? options.method : parseExperimentMethod(options.method ?? "a2a");
  const scorer = typeof options.scorer === "object" ? options.scorer : resolveScorer(dataset, options.scorer);
  if (options.budget?.cost !== undefined && !options.tariff)
    throw new RangeError("A budget with a cost requires the option tariff (--tariff).");
  const run = buildRunDescription({ ...options, method }, typeof scorer === "object" ? scorer.name : scorer);
  let writeError: unknown;
  const file = openRunFile(run, {
    ...pickOptions<OpenRunFileOptions>(options, "fsync outputFolder redact resume tariff"),
    onDegraded: (cause) => (writeError = cause),
  });
  const experimentRun = new ExperimentRun(file, run, { ...options, method }, scorer, signal);
  try {
    await experimentRun.solvePendingSamples(concurrency);
  } catch (error) {
    file.endRun("failed");
    throw error;
  }
  const { outcomeStatus: status } = experimentRun;
  const failureReason = experimentRun.isLastScoreSaved
    ? status === "failed"
      ? experimentRun.failureReason
      : undefined
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
    failedSamples: experimentRun.failedSamples,
    isDegraded: file.isDegraded,
  };
}

const DEFAULT_DEADLINE_MS = 120_000;

class ExperimentRun {
  readonly #file: RunFile;
  readonly #run: RunRecordInput;
  readonly #options: ExperimentOptions & { readonly method: ExperimentMethod };
  readonly #scorer: AnswerScorer | CustomScorer;
  readonly #signal: AbortSignal;
  readonly #giveUpController = new AbortController();
  readonly #pendingSamples: DatasetSample[];
  /** Message cards of the unfinished problems, some of them twice. */
  readonly #cards = new Map<string, MessageCard[]>();
  #scored = 0;
  #correct = 0;
  #skipped = 0;
  #failed = 0;
  #isStopped = false;
  #tokens: TokenCounts;
  /** Failed problems since the last problem with an answer. */
  #recentFailures: SampleFailure[] = [];
  readonly failedSamples: FailedSample[] = [];
  failureReason: string | undefined;
  /** Whether the score of the last problem was written to the record file. */
  isLastScoreSaved = true;

  constructor(
    file: RunFile,
    run: RunRecordInput,
    options: ExperimentOptions & { readonly method: ExperimentMethod },
    scorer: AnswerScorer | CustomScorer,
    signal: AbortSignal,
  ) {
    this.#file = file;
    this.#run = run;
    this.#options = options;
    this.#scorer = scorer;
    this.#signal = signal;
    const { calls, abandoned } = file.readRecording();
    this.#tokens = sumUsageTokens([...calls, ...abandoned.calls].map(({ usage }) => usage));
    this.#pendingSamples = options.dataset.samples.filter(({ id }) => !file.doneSampleIds.has(id));
  }

  get outcomeStatus(): ExperimentOutcome["status"] {
    if (this.#isStopped || this.failedSamples.some(({ recordedAs }) => recordedAs === undefined))
      return "failed";
    return this.#doneCount === this.#options.dataset.samples.length ? "completed" : "interrupted";
  }

  get #doneCount(): number {
    return this.#file.doneSampleIds.size + this.#scored + this.#skipped;
  }

  async solvePendingSamples(concurrency: number): Promise<void> {
    if (this.#pendingSamples.length === 0) return;
    this.#countTokens(undefined);
    if (this.#isStopped) return;
    const { method } = this.#options;
    const limit = createRequestLimit({
      concurrency,
      ...pickOptions<ExperimentOptions>(this.#options, "requestsPerMinute tokensPerMinute"),
      onUsage: (usage) => this.#countTokens(usage),
    });
    const models = Object.entries(resolveRoleModels(this.#options));
    const model = Object.fromEntries(models.map(([role, one]) => [role, limit.wrap(one)]));
    const { answerForm = "text" } =
      typeof this.#scorer === "object" ? this.#scorer : { answerForm: getAnswerForm(this.#scorer) };
    const answerer = { answerForm, ...this.#options.answerer };
    const setup = await startExperimentRoles(
      { ...this.#options, answerer, model },
      collectCards(this.#file, this.#cards),
      this.#file.writer,
      excludeDelays(limit),
    );
    // Each problem of a majority vote sends all its requests at once.
    const workers = Math.ceil(concurrency / ("samples" in method ? method.samples : 1));
    const stop = AbortSignal.any([this.#signal, this.#giveUpController.signal]);
    const { deadlineMs = DEFAULT_DEADLINE_MS, dataset } = this.#options;
    const solve = (sample: DatasetSample): Promise<ControllerSolveResult> =>
      setup.controller.solve({
        task: sample.question,
        to: setup.entryRole,
        ...("paragraphs" in sample &&
          sample.paragraphs.length > 0 && { context: createTaskContextFromDocuments(sample.paragraphs) }),
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
        if (!stop.aborted) await this.#recordOutcome(sample, reply, stop);
      }
    };
    try {
      await Promise.all(Array.from({ length: workers }, worker));
      if (stop.aborted) this.#leaveFailuresUnscored();
      else this.#recordFailures();
    } finally {
      await setup.close();
    }
  }

  #takeNextSample(stop: AbortSignal): DatasetSample | undefined {
    return stop.aborted ? undefined : this.#pendingSamples.shift();
  }

  async #recordOutcome(
    sample: DatasetSample,
    reply: ResultCard | ErrorCard,
    signal: AbortSignal,
  ): Promise<void> {
    const cards = this.#cards.get(sample.id) ?? [];
    this.#cards.delete(sample.id);
    const isFailure =
      isReplyOfUnreachableRole(reply) ||
      isReplyOfRejectedRequest(reply) ||
      getReplyErrorType(reply) === "timeout";
    const failure = isFailure ? reply : findUnreachableSubtask(cards);
    if (failure) this.#handleFailure(sample, failure);
    else {
      // The roles work, so the problems before this one failed for their own reasons.
      this.#recordFailures();
      const score = await scoreReply(this.#scorer, { ...sample, signal }, reply);
      const { turn } = reply.metadata;
      this.#recordScore(sample, {
        ...score,
        ...(turn !== undefined && { turns: turn }),
      });
    }
    this.#options.onProgress?.({
      done: this.#doneCount,
      total: this.#options.dataset.samples.length,
      scored: this.#scored,
      correct: this.#correct,
      failed: this.#failed,
    });
  }

  #handleFailure(sample: DatasetSample, failure: ResultCard | ErrorCard): void {
    const outcome = getReplyErrorType(failure);
    const { deadlineMs = DEFAULT_DEADLINE_MS } = this.#options;
    const error =
      outcome === "timeout" ? `no answer within the deadline of ${deadlineMs / 1_000} s` : failure.content;
    this.failureReason = error;
    this.#failed += 1;
    this.#recentFailures.push({ sample, error, outcome });
    const { maxConsecutiveFailures = 10 } = this.#options;
    if (isReplyOfMisconfiguredModel(failure) || this.#recentFailures.length >= maxConsecutiveFailures)
      this.#stop();
  }

  /** Adds the tokens of a model call, and stops the run if its budget is spent. */
  #countTokens(usage: CardTokenUsage | undefined): void {
    const { budget: { tokens = Infinity, cost = Infinity } = {}, tariff } = this.#options;
    this.#tokens = addTokenCounts(this.#tokens, convertUsageToTokenCounts(usage));
    const total = this.#tokens.input + this.#tokens.output;
    const price = tariff ? computeTokenPrice(this.#tokens, tariff) : 0;
    if (this.#isStopped || (total < tokens && price < cost)) return;
    const spent = total < tokens ? `cost ${price.toFixed(4)} of ${cost}` : `${total} of ${tokens} tokens`;
    this.failureReason = `the run has spent its budget: ${spent}`;
    this.#stop();
  }

  /** Stops the run. The recent failures stay without a score, because nothing worked since. */
  #stop(): void {
    this.#isStopped = true;
    this.#leaveFailuresUnscored();
    this.#giveUpController.abort();
  }

  #leaveFailuresUnscored(): void {
    for (const { sample, error } of this.#recentFailures.splice(0))
      this.failedSamples.push({ sampleId: sample.id, error, recordedAs: undefined });
  }

  /** Records the recent failures as the option `onError` determines. */
  #recordFailures(): void {
    const { onError = "fail" } = this.#options;
    for (const { sample, error, outcome } of this.#recentFailures.splice(0)) {
      if (onError === "fail") this.failedSamples.push({ sampleId: sample.id, error, recordedAs: undefined });
      else if (onError === "wrong") {
        const { gold } = sample;
        const isKept = this.#recordScore(sample, {
          gold,
          correct: false,
          rule: this.#run.rule,
          error,
          outcome,
        });
        this.failedSamples.push({ sampleId: sample.id, error, recordedAs: isKept ? "wrong" : undefined });
      } else {
        const line = { run_id: this.#run.run_id, sample_id: sample.id, error };
        const isKept = this.#file.recordSkippedSample(line);
        if (isKept) this.#skipped += 1;
        else this.#handleLostLine();
        this.failedSamples.push({ sampleId: sample.id, error, recordedAs: isKept ? "skipped" : undefined });
      }
    }
  }

  #recordScore(sample: DatasetSample, score: Omit<ScoreRecordInput, "run_id" | "sample_id">): boolean {
    const line = { run_id: this.#run.run_id, sample_id: sample.id, ...score };
    this.isLastScoreSaved = this.#file.recordSampleScore(line);
    if (this.isLastScoreSaved) {
      this.#scored += 1;
      if (score.correct) this.#correct += 1;
    } else this.#handleLostLine();
    return this.isLastScoreSaved;
  }

  /** Stops the run, because further results could not be saved. */
  #handleLostLine(): void {
    this.isLastScoreSaved = false;
    this.#stop();
  }
}

/** Returns a recorder that also adds the message cards of each problem to `cards`. */
function collectCards(recorder: CardRecorder, cards: Map<string, MessageCard[]>): CardRecorder {
  return {
    recordModelCall: (input) => recorder.recordModelCall(input),
    recordCard: (input) => {
      recorder.recordCard(input);
      const { sample_id, card } = input;
      if (sample_id !== undefined) cards.set(sample_id, [...(cards.get(sample_id) ?? []), card]);
    },
  };
}

/** A problem that ended with an error. */
interface SampleFailure {
  readonly sample: DatasetSample;
  readonly error: string;
  readonly outcome: string;
}
