import { omitUndefined } from "../../../base/usage-checks/index.ts";
import {
  type CardMetadata,
  type CardTokenUsage,
  type FailedTry,
  type ModelCallRecordInput,
  type QueryCard,
  removeThinking,
  type TaskCard,
} from "../../index.ts";
import { untilAborted } from "../../../client/index.ts";
import type { ModelCallReport } from "../../../engine/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import {
  addUsage,
  computeRetryDelay,
  describeModelFailure,
  type ModelFailure,
  type ModelReply,
  type ModelRequest,
  NO_USAGE,
  type RoleModel,
  sumInputAndOutputTokens,
} from "../role-model.ts";
import type { CardJournal } from "./card-journal.ts";
import type { DurableTurn } from "./durable-turn.ts";
import { formatError } from "./role-runtime.ts";

/** A model request of a role, without the members that the execution adds. */
export type RoleModelRequest = Omit<ModelRequest, "role" | "signal">;

/** Options for `callModel`. */
interface ModelCallOptions {
  /** Message card that the role works on. */
  readonly requestCard: TaskCard | QueryCard;
  readonly journal: CardJournal;
  readonly usage: UsageTracker;
  readonly turn: DurableTurn;
  /** Stops the call, and the wait before the next try. */
  readonly signal: AbortSignal;
  /** Returns the id of the final card, or `undefined` before the final card exists. */
  readonly findFinalCardId: () => string | undefined;
}

/** Stored outcome of a model call, with the tokens and the failed tries of the call. */
type ModelCallOutcome = ({ readonly reply: ModelReply } | { readonly failure: ModelFailure }) & {
  readonly usage?: CardTokenUsage;
  readonly model: string;
  readonly failedTries: readonly FailedTry[];
  readonly cardId: string;
};

/** Error for a failed model call. */
export class ModelError extends Error {
  override readonly name = "ModelFailed";
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Calls the model of a role, and repeats a call after a failure that may be temporary. The outcome is a step of the
 * turn, so a later attempt does not repeat a finished call. Throws a `ModelError`.
 */
export async function callModel(request: RoleModelRequest, options: ModelCallOptions): Promise<ModelReply> {
  const { journal, turn, usage, signal } = options;
  const { model, role } = journal.runtime;
  if (!model) throw new Error(`The ${role} has no model. Set the option "model".`);
  signal.throwIfAborted();
  const { input, ...content } = request;
  const sample = input.kind === "answer" ? input.sampleNumber : 1;
  const key = turn.createStepKey("model", { ...content, sample });
  let isStored = true;
  const outcome = await turn.once(key, async () => {
    isStored = false;
    const interruptedTries = await turn.countInterruptedTries(key);
    return await new ModelCall(request, model, options).run(interruptedTries);
  });
  if (isStored) usage.addStoredCall(outcome);
  if ("failure" in outcome) throw new ModelError(outcome.failure);
  return outcome.reply;
}

/** One model call with its tries. */
class ModelCall {
  readonly #request: RoleModelRequest;
  readonly #model: RoleModel;
  readonly #options: ModelCallOptions;
  readonly #failedTries: FailedTry[] = [];
  readonly #startedAt: number;
  #usage: CardTokenUsage | undefined;
  #modelName: string;

  constructor(request: RoleModelRequest, model: RoleModel, options: ModelCallOptions) {
    this.#request = request;
    this.#model = model;
    this.#modelName = model.id;
    this.#options = options;
    this.#startedAt = options.journal.runtime.clock.monotonic();
  }

  /** `interruptedTries` is the number of earlier tries that ended with the process of the role. */
  async run(interruptedTries: number): Promise<ModelCallOutcome> {
    const { clock } = this.#options.journal.runtime;
    for (let tries = 0; tries < interruptedTries; tries++) {
      this.#addUsage(NO_USAGE, this.#model.id);
      this.#addFailedTry({ reason: "model_error", error: "The server of the role stopped.", wait_ms: 0 });
    }
    for (let tries = 1; ; tries++) {
      const startedAt = clock.monotonic();
      try {
        const raw = await this.#complete();
        const spent = raw.usage ?? NO_USAGE;
        this.#addUsage(spent, raw.model ?? this.#model.id);
        const { finish, text: reply, injectedFaults } = raw;
        const faults = omitUndefined({ injected_faults: injectedFaults });
        this.#record({ model: this.#modelName, usage: spent, finish, reply, ...faults }, startedAt);
        this.#reportSuccess(raw);
        // The thoughts of a model are neither an action nor an answer, and no other role may see them.
        return this.#createOutcome({ reply: { ...raw, text: removeThinking(raw.text) } });
      } catch (thrown) {
        const failure = await this.#waitForNextTry(thrown, tries, startedAt);
        if (failure) return this.#createOutcome({ failure });
      }
    }
  }

  async #complete(): Promise<ModelReply> {
    const { journal, usage, signal } = this.#options;
    const stopTracking = usage.startTimer("call");
    try {
      return await this.#model.complete({ ...this.#request, role: journal.runtime.role, signal });
    } finally {
      stopTracking();
    }
  }

  #createOutcome(
    result: { readonly reply: ModelReply } | { readonly failure: ModelFailure },
  ): ModelCallOutcome {
    return {
      ...result,
      ...omitUndefined({ usage: this.#usage }),
      model: this.#modelName,
      failedTries: this.#failedTries,
      cardId: this.#options.usage.nextCardId,
    };
  }

  /**
   * Records a failed try and waits until the next try. Returns the failure if the call must not be repeated. Rejects
   * with the abort reason of the signal.
   */
  async #waitForNextTry(
    thrown: unknown,
    tries: number,
    startedAt: number,
  ): Promise<ModelFailure | undefined> {
    const { signal, journal } = this.#options;
    const failure = describeModelFailure(thrown);
    const error = formatError(failure.message);
    const delayMs = signal.aborted ? undefined : computeRetryDelay(failure, tries);
    // A provider that rejects a request reads no tokens. Without a response, the number of tokens is unknown.
    if (signal.aborted || failure.httpStatus === undefined) this.#addUsage(NO_USAGE, this.#model.id);
    const finish = signal.aborted ? "aborted" : "error";
    const call = { model: this.#model.id, usage: NO_USAGE, finish, error };
    const { injectedFaults } = Object(thrown) as Pick<ModelReply, "injectedFaults">;
    const optional = omitUndefined({ wait_ms: delayMs, injected_faults: injectedFaults });
    this.#record({ ...call, ...optional }, startedAt);
    if (delayMs === undefined) this.#report({ error });
    signal.throwIfAborted();
    if (delayMs === undefined) return { ...failure, message: error };
    const status = omitUndefined({ http_status: failure.httpStatus });
    this.#addFailedTry({ reason: "model_error", error, ...status, wait_ms: delayMs });
    const elapsed = Promise.withResolvers<void>();
    const cancelTimer = journal.runtime.clock.schedule(delayMs, elapsed.resolve);
    try {
      await untilAborted(elapsed.promise, signal);
    } catch (reason) {
      this.#report({ error: "The task was stopped before the next attempt." });
      throw reason;
    } finally {
      cancelTimer();
    }
    return undefined;
  }

  #addUsage(usage: CardTokenUsage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#modelName = model;
    this.#options.usage.addModelUsage(usage, model);
  }

  #addFailedTry(failedTry: FailedTry): void {
    this.#failedTries.push(failedTry);
    this.#options.usage.addFailedTry(failedTry);
  }

  #reportSuccess({ text, finish, model, usage }: ModelReply): void {
    this.#report({
      reply: text,
      finishReason: finish,
      ...omitUndefined({ model }),
      // Without a source, the counts are 0 and mean nothing.
      ...(usage &&
        usage.source !== "none" && {
          inputTokens: usage.input_tokens,
          cachedInputTokens: usage.cached_input_tokens,
          outputTokens: usage.output_tokens,
        }),
    });
  }

  /** Reports the call with all its tries to the server, for its traffic record. */
  #report(outcome: Partial<ModelCallReport>): void {
    const { turn, journal } = this.#options;
    const attempts = this.#failedTries.map(({ error, wait_ms }) => ({ error, wait_ms }));
    turn.run.reportCall?.({
      kind: "model",
      model: this.#model.id,
      prompt: this.#createPrompt(),
      ...(attempts.length > 0 && { attempts }),
      durationMs: journal.runtime.clock.monotonic() - this.#startedAt,
      ...outcome,
    });
  }

  #record(
    call: Pick<
      ModelCallRecordInput,
      "model" | "usage" | "finish" | "reply" | "error" | "wait_ms" | "injected_faults"
    >,
    startedAt: number,
  ): void {
    const { journal, requestCard, findFinalCardId, usage, turn: durableTurn } = this.#options;
    const { input } = this.#request;
    const turn = input.kind === "plan" ? input.turn : requestCard.metadata.turn;
    const { recorder, clock, role } = journal.runtime;
    recorder?.recordModelCall({
      run_id: journal.experimentRunId,
      ...omitUndefined({ sample_id: journal.sampleId, turn }),
      role,
      task_id: durableTurn.run.taskId,
      card_id: findFinalCardId() ?? usage.nextCardId,
      duration_ms: clock.monotonic() - startedAt,
      prompt: this.#createPrompt(),
      ...call,
    });
  }

  #createPrompt(): JsonObject {
    const { messages, schema, maxTokens, temperature, seed } = this.#request;
    return {
      messages: messages.map(({ role, text }) => ({ role, text })),
      ...omitUndefined({ schema, maxTokens, temperature, seed }),
    };
  }
}

/** Metadata of a card about the work since the last card. */
export type CardUsageMetadata = Pick<
  CardMetadata,
  "card_id" | "tokens" | "usage" | "model" | "duration_ms" | "failed_tries"
>;

/** Maximum number of failed tries that one message card lists. */
const MAX_FAILED_TRIES_PER_CARD = 100;

/**
 * Tracks the token usage, the failed tries, and the working time of a role since the role's last message card. The
 * working time excludes the time that the role waits for other roles. The role's next message card reports the totals,
 * so that no usage is lost or counted twice.
 */
export class UsageTracker {
  readonly #monotonicNow: () => number;
  readonly #newId: () => string;
  #nextCardId: string;
  #usage: CardTokenUsage | undefined;
  #model: string | undefined;
  #failedTries: FailedTry[] = [];
  #busyMs = 0;
  readonly #active = { call: 0, wait: 0 };
  #lastTickAt: number;

  constructor(monotonic: () => number, newId: () => string) {
    this.#monotonicNow = monotonic;
    this.#newId = newId;
    this.#nextCardId = newId();
    this.#lastTickAt = monotonic();
  }

  /**
   * Id of the message card that the role sends next. Model calls are recorded with this card id before the
   * role sends the message card.
   */
  get nextCardId(): string {
    return this.#nextCardId;
  }

  /**
   * Records the start of a model call, or of a wait for another role, and returns a function that records its end, to call
   * once. The waiting time counts as working time of the other role.
   */
  startTimer(kind: "call" | "wait"): () => void {
    this.#accrueBusyTime();
    this.#active[kind]++;
    return () => {
      this.#accrueBusyTime();
      this.#active[kind]--;
    };
  }

  addModelUsage(usage: CardTokenUsage, model: string): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#model = model;
  }

  /** Adds a model call of an earlier attempt, whose tokens the next card reports with the id of that attempt. */
  addStoredCall(call: {
    readonly usage?: CardTokenUsage;
    readonly model: string;
    readonly failedTries: readonly FailedTry[];
    readonly cardId: string;
  }): void {
    this.#nextCardId = call.cardId;
    if (call.usage) this.addModelUsage(call.usage, call.model);
    for (const failedTry of call.failedTries) this.addFailedTry(failedTry);
  }

  addFailedTry(failedTry: FailedTry): void {
    if (this.#failedTries.length < MAX_FAILED_TRIES_PER_CARD) this.#failedTries.push(failedTry);
  }

  /**
   * Passes the token usage to `write`, which creates the message card, and then resets the tracker. If
   * `write` throws, the tracker is not reset.
   */
  flushToCard<C>(write: (spent: CardUsageMetadata) => C): C {
    this.#accrueBusyTime();
    const spent: CardUsageMetadata = {
      card_id: this.#nextCardId,
      duration_ms: Math.round(this.#busyMs * 1000) / 1000,
    };
    if (this.#usage) {
      spent.tokens = sumInputAndOutputTokens(this.#usage);
      spent.usage = this.#usage;
    }
    if (this.#model !== undefined) spent.model = this.#model;
    if (this.#failedTries.length > 0) spent.failed_tries = this.#failedTries;
    const card = write(spent);
    this.#failedTries = [];
    this.#nextCardId = this.#newId();
    this.#usage = undefined;
    this.#model = undefined;
    this.#busyMs = 0;
    return card;
  }

  #accrueBusyTime(): void {
    const now = this.#monotonicNow();
    if (this.#active.call > 0 || this.#active.wait === 0) this.#busyMs += now - this.#lastTickAt;
    this.#lastTickAt = now;
  }
}
