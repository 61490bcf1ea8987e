import { type CardTokenUsage, type QueryCard, removeThinking, type TaskCard } from "../../index.ts";
import type { Run } from "../../../engine/index.ts";
import { computeRetryDelay, describeModelFailure, type ModelFailure } from "../model-failure.ts";
import type { ModelReply, ModelRequest } from "../role-model.ts";
import type { Role } from "../role.ts";
import { NO_USAGE } from "../token-usage.ts";
import type { CardJournal } from "./card-journal.ts";
import { formatError } from "./format-error.ts";
import { ModelCallReporter } from "./model-call-reporter.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { untilAborted } from "../../../client/index.ts";
import type { UsageTracker } from "./usage-tracker.ts";

/** Options for `ModelCaller`. */
interface ModelCallerOptions {
  readonly role: Role;
  /** Message card that the role works on. */
  readonly requestCard: TaskCard | QueryCard;
  readonly journal: CardJournal;
  readonly usage: UsageTracker;
  /** Reports the model calls to the server of the role, for its traffic record. */
  readonly reportCall: Run["reportCall"];
  /** Stops the call, and the wait before the next try. */
  readonly signal: AbortSignal;
  /** Returns the id of the final card, or `undefined` before the final card exists. */
  readonly findFinalCardId: () => string | undefined;
}

/** Error for a failed model call. */
export class ModelError extends Error {
  override readonly name = "ModelFailed";
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure, cause: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}

/** Calls the model of a role, with retries, and records each try. */
export class ModelCaller {
  readonly #options: ModelCallerOptions;

  constructor(options: ModelCallerOptions) {
    this.#options = options;
  }

  /** Calls the model, and repeats a call after a failure that may be temporary. Throws a `ModelError`. */
  async call(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply> {
    const { role, journal } = this.#options;
    const { model } = journal.runtime;
    if (!model) throw new Error(`The ${role.name} has no model. Set the option "model".`);
    this.#options.signal.throwIfAborted();
    const { clock } = journal.runtime;
    const report = new ModelCallReporter(this.#options.reportCall, model.id, request, clock);
    for (let tries = 1; ; tries++) {
      const startedAt = clock.monotonic();
      const stopTracking = this.#options.usage.startModelCallTimer();
      try {
        const raw = await model.complete({ ...request, role: role.name, signal: this.#options.signal });
        stopTracking();
        const usage = raw.usage ?? NO_USAGE;
        this.#options.usage.addModelUsage(usage, raw.model ?? model.id);
        const call = { model: raw.model ?? model.id, usage, finish: raw.finish };
        this.#recordModelCall(request, call, startedAt);
        report.succeed(raw);
        // The thoughts of a model are neither an action nor an answer, and no other role may see them.
        return { ...raw, text: removeThinking(raw.text) };
      } catch (thrown) {
        stopTracking();
        await this.#handleModelFailure(request, thrown, tries, startedAt, report);
      }
    }
  }

  /**
   * Records a failed try of a model call and waits until the next try. Rejects if the call must not be
   * repeated.
   */
  async #handleModelFailure(
    request: Pick<ModelRequest, "input">,
    thrown: unknown,
    tries: number,
    startedAt: number,
    report: ModelCallReporter,
  ): Promise<void> {
    const { model } = this.#options.journal.runtime;
    const { aborted } = this.#options.signal;
    const failure = describeModelFailure(thrown);
    const error = formatError(failure.message);
    const delayMs = aborted ? undefined : computeRetryDelay(failure, tries);
    // A provider that rejects a request reads no tokens. Without a response, the number of tokens is unknown.
    if (aborted || failure.httpStatus === undefined)
      this.#options.usage.addModelUsage(NO_USAGE, model?.id ?? "");
    const finish = aborted ? "aborted" : "error";
    const call = { model: model?.id ?? "", usage: NO_USAGE, finish, error };
    this.#recordModelCall(request, { ...call, ...omitUndefined({ wait_ms: delayMs }) }, startedAt);
    if (delayMs === undefined) report.fail(error);
    this.#options.signal.throwIfAborted();
    if (delayMs === undefined) throw new ModelError({ ...failure, message: error }, thrown);
    report.addFailedAttempt(error, delayMs);
    this.#options.usage.addFailedTry({
      reason: "model_error",
      error,
      ...omitUndefined({ http_status: failure.httpStatus }),
      wait_ms: delayMs,
    });
    await this.#wait(delayMs).catch((reason: unknown) => {
      report.fail("The task was stopped before the next attempt.");
      throw reason;
    });
  }

  /** Waits for a time in milliseconds. Rejects with the abort reason of the signal. */
  async #wait(ms: number): Promise<void> {
    const elapsed = Promise.withResolvers<void>();
    const cancelTimer = this.#options.journal.runtime.clock.schedule(ms, elapsed.resolve);
    await untilAborted(elapsed.promise, this.#options.signal).finally(cancelTimer);
  }

  #recordModelCall(
    { input }: Pick<ModelRequest, "input">,
    call: { model: string; usage: CardTokenUsage; finish: string; error?: string; wait_ms?: number },
    startedAt: number,
  ): void {
    const { journal, requestCard, role } = this.#options;
    const turn = input.kind === "plan" ? input.turn : requestCard.metadata.turn;
    const { recorder, clock } = journal.runtime;
    recorder?.recordModelCall({
      run_id: journal.experimentRunId,
      ...omitUndefined({ sample_id: journal.sampleId, turn }),
      role: role.name,
      card_id: this.#options.findFinalCardId() ?? this.#options.usage.nextCardId,
      duration_ms: clock.monotonic() - startedAt,
      ...call,
    });
  }
}
