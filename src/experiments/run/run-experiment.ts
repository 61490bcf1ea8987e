import type { ErrorCard, Recording, ResultCard, RunSeen, Sample } from "../../cards/index.ts";
import { documentsContext, type Solution } from "../../roles/index.ts";
import type { Dataset } from "../data/index.ts";
import { openRunFile, type RunFile, type RunFileOptions, writeSeedFile } from "../recorder/index.ts";
import { describeRun } from "./about-run.ts";
import { judge, ruleFor, type ScoreRule } from "./judge.ts";
import { type LineUpOptions, openLineUp } from "./line-up.ts";
import { type Method, parseMethod } from "./method.ts";
import { ShownDocuments } from "./shown.ts";
import { isOutOfReach, Unreached } from "./unreached.ts";

export interface ExperimentOptions
  extends Omit<LineUpOptions, "method">, Pick<RunFileOptions, "out" | "resume" | "redact" | "fsync"> {
  readonly dataset: Dataset;
  /** `a2a`, `cot`, `direct`, `cot-sc@k`. Default `a2a`. */
  readonly method?: Method | string;
  /** By which answers are scored. Default `gsm8k/strict`, `hotpotqa/em`. */
  readonly rule?: string;
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
  readonly giveUpAfter?: number;
  /** Which Colloquy this is, for the record. Default `unknown`. */
  readonly code?: string;
  /** Interrupts the run; what is done stays done, and `resume` goes on. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** How far a run has come. */
export interface Progress {
  /** Problems with a verdict, those of earlier parts with them. */
  readonly done: number;
  readonly total: number;
  /** Of this part. */
  readonly judged: number;
  readonly correct: number;
  /** Without a verdict, because a model or an agent could not be reached. */
  readonly failed: number;
}

export interface ExperimentOutcome {
  readonly status: "completed" | "interrupted" | "failed";
  readonly runId: string;
  readonly file: string;
  /** The cards as the specification has them; written when the run is completed. */
  readonly seedFile: string | undefined;
  readonly recording: Recording;
  /** Why it failed: the last that could not be reached, or that the record cannot be written. */
  readonly why: string | undefined;
  /** Lines were lost, because they could not be written. */
  readonly degraded: boolean;
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
  const rule = ruleFor(dataset.name, options.rule);
  const run = describeRun({ ...options, method }, rule);
  let lost: unknown;
  const file = openRunFile(run, { ...options, onDegraded: (cause) => (lost = cause) });
  const work = new Work(file, run, { ...options, method }, rule, signal);
  try {
    await work.all(concurrency);
  } catch (error) {
    file.end("failed");
    throw error;
  }
  const { status } = work;
  const why = work.isKept ? work.why : `${file.file} cannot be written: ${String(lost)}`;
  file.end(status);
  const recording = file.read();
  return {
    status,
    runId: run.run_id,
    file: file.file,
    seedFile: status === "completed" ? writeSeedFile(recording, options.out) : undefined,
    recording,
    why,
    degraded: file.degraded,
  };
}

/** The problems of a run and how far they are. */
class Work {
  readonly #file: RunFile;
  readonly #run: RunSeen;
  readonly #options: ExperimentOptions & { readonly method: Method };
  readonly #rule: ScoreRule;
  readonly #signal: AbortSignal;
  readonly #givenUp = new AbortController();
  readonly #waiting: Sample[];
  readonly #shown: ShownDocuments;
  readonly #unreached: Unreached;
  #judged = 0;
  #correct = 0;
  #failed = 0;
  #inARow = 0;
  why: string | undefined;
  /** The last verdict is on disk. */
  isKept = true;

  constructor(
    file: RunFile,
    run: RunSeen,
    options: ExperimentOptions & { readonly method: Method },
    rule: ScoreRule,
    signal: AbortSignal,
  ) {
    this.#file = file;
    this.#run = run;
    this.#options = options;
    this.#rule = rule;
    this.#signal = signal;
    this.#shown = new ShownDocuments(file);
    this.#unreached = new Unreached(this.#shown);
    this.#waiting = options.dataset.samples.filter(({ id }) => !file.done.has(id));
  }

  get status(): ExperimentOutcome["status"] {
    if (this.#failed > 0) return "failed";
    const isDone = this.#file.done.size + this.#judged === this.#options.dataset.samples.length;
    return isDone ? "completed" : "interrupted";
  }

  async all(concurrency: number): Promise<void> {
    if (this.#waiting.length === 0) return;
    const lineUp = await openLineUp(this.#options, this.#unreached);
    const stop = AbortSignal.any([this.#signal, this.#givenUp.signal]);
    const { deadlineMs = 120_000, dataset } = this.#options;
    const solve = (sample: Sample): Promise<Solution> =>
      lineUp.controller.solve({
        task: sample.question,
        to: lineUp.to,
        ...(sample.dataset === "hotpotqa" && { context: documentsContext(sample.paragraphs) }),
        dataset: dataset.name,
        sampleId: sample.id,
        runId: this.#run.run_id,
        signal: stop,
        deadlineMs,
      });
    const worker = async (): Promise<void> => {
      for (let sample = this.#next(stop); sample; sample = this.#next(stop)) {
        const { reply } = await solve(sample);
        // A problem that was stopped from outside is not done, whatever it has come to.
        if (!stop.aborted) this.#judge(sample, reply);
      }
    };
    try {
      await Promise.all(Array.from({ length: concurrency }, worker));
    } finally {
      await lineUp.close();
    }
  }

  #next(stop: AbortSignal): Sample | undefined {
    return stop.aborted ? undefined : this.#waiting.shift();
  }

  #judge(sample: Sample, reply: ResultCard | ErrorCard): void {
    const shown = this.#shown.take(sample.id);
    const unreached = this.#unreached.take(sample.id);
    const why = isOutOfReach(reply) ? reply.content : unreached;
    if (why !== undefined) {
      this.why = why;
      this.#failed += 1;
      this.#inARow += 1;
      if (this.#inARow >= (this.#options.giveUpAfter ?? 10)) this.#givenUp.abort();
    } else {
      this.#inARow = 0;
      const isWhole = this.#options.method.kind !== "a2a";
      const verdict = judge(sample, reply, this.#rule, { isWhole, shown });
      const { turn } = reply.metadata;
      this.isKept = this.#file.score({
        run_id: this.#run.run_id,
        sample_id: sample.id,
        ...verdict,
        ...(turn !== undefined && { turns: turn }),
      });
      if (this.isKept) {
        this.#judged += 1;
        if (verdict.correct) this.#correct += 1;
      } else {
        // Whatever is found out from here on would be paid for in vain.
        this.#failed += 1;
        this.#givenUp.abort();
      }
    }
    this.#options.onProgress?.({
      done: this.#file.done.size + this.#judged,
      total: this.#options.dataset.samples.length,
      judged: this.#judged,
      correct: this.#correct,
      failed: this.#failed,
    });
  }
}
