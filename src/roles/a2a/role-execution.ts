import { A2AError } from "../../protocol/index.ts";
import type {
  MessageCard,
  CardTransportInfo,
  CardMetadata,
  CardTokenUsage,
  ControlCard,
  CoreCardErrorType,
  ErrorCard,
  QueryCard,
  ResultCard,
  TaskCard,
} from "../../cards/index.ts";
import type { ModelReply, ModelRequest } from "../role-model.ts";
import type { TaskOutcome, QueryRequest, DelegationRequest, TaskContext, Role } from "../role.ts";
import { createAnswerCard, tryAnswerQuery, buildSelectionMetadata } from "./query-answer.ts";
import type { CardJournal } from "./card-journal.ts";
import { deliverCard } from "./card-delivery.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { formatError } from "./format-error.ts";
import { NO_USAGE, UsageTracker } from "./usage-tracker.ts";
import { computeGracePeriods, isTimeout, getStopParameters, ServerClosingError } from "./stop-reason.ts";

/** Who gave the work, and is told of it. */
export interface Requester {
  /** Something on the way: a notice. */
  notify(card: MessageCard): void;
  /** Rejects with the reason of the desk's signal. */
  sendQuery(query: QueryCard): Promise<ResultCard>;
}

export interface RoleExecutionOptions {
  readonly role: Role;
  /** What it is to work on. */
  readonly requestCard: TaskCard | QueryCard;
  readonly journal: CardJournal;
  /** How `requestCard` came; the same for what goes back. */
  readonly requestTransport: CardTransportInfo;
  readonly requester: Requester;
}

/** Made once, because making one costs more than the rest of an end. */
const EXECUTION_ENDED = new DOMException("The work is over.", "AbortError");

/** The model did not answer. */
class ModelError extends Error {
  override readonly name = "ModelFailed";
}

/** Where a role works on one card, and from where it replies to it. */
export class RoleExecution implements TaskContext {
  readonly #options: RoleExecutionOptions;
  readonly #usage: UsageTracker;
  readonly #abortController = new AbortController();
  readonly #graceExpired = Promise.withResolvers<never>();
  readonly #controlCards: ControlCard[] = [];
  #controlArrived = Promise.withResolvers<void>();
  #lastQuery: Promise<unknown> = Promise.resolve();
  #cancelGraceTimer: (() => void) | undefined;
  #wasStopped = false;
  #finalCardId: string | undefined;

  constructor(options: RoleExecutionOptions) {
    this.#options = options;
    const { clock, newId } = options.journal.runtime;
    this.#usage = new UsageTracker(() => clock.monotonic(), newId);
    // Nobody may be waiting for them.
    this.#graceExpired.promise.catch(() => {});
    this.#controlArrived.promise.catch(() => {});
  }

  get task(): TaskCard {
    const { requestCard: given } = this.#options;
    if (given.message_type === "task") return given;
    throw new Error("There is no task on this desk, but a question; see Role.answer");
  }

  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /** Somebody stopped it while it was at work. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /** Has the role work until it has an answer, or until its time is up; the card with which it ends. */
  async execute(): Promise<ResultCard | ErrorCard> {
    try {
      return this.#buildFinalReply(await Promise.race([this.#runRole(), this.#graceExpired.promise]));
    } catch (error) {
      return this.#buildFinalReply(this.#toErrorOutcome(error));
    } finally {
      this.#cancelGraceTimer?.();
      // Whatever is still under way for it is of no use any more.
      this.#abortController.abort(EXECUTION_ENDED);
    }
  }

  /** Stops the work; a role that does not end by itself within its time is given up. */
  stop(reason: unknown): void {
    if (this.signal.aborted) return;
    const { journal: cards, role } = this.#options;
    const { forItselfMs } = computeGracePeriods(cards.runtime, getStopParameters(reason));
    this.#cancelGraceTimer = cards.runtime.clock.schedule(forItselfMs, () => {
      this.#graceExpired.reject(new Error(`The ${role.name} was stopped and had nothing to say`));
    });
    this.#wasStopped = !(reason instanceof ServerClosingError);
    this.#abortController.abort(reason);
    this.#controlArrived.reject(reason);
  }

  addControlCard(card: ControlCard): void {
    this.#controlCards.push(card);
    this.#controlArrived.resolve();
  }

  takeControlCards(): ControlCard[] {
    if (!this.signal.aborted) {
      this.#controlArrived = Promise.withResolvers();
      this.#controlArrived.promise.catch(() => {});
    }
    return this.#controlCards.splice(0);
  }

  async waitForControlCard(): Promise<void> {
    if (this.#controlCards.length > 0) return;
    const done = this.#usage.trackWait();
    try {
      await this.#controlArrived.promise;
    } finally {
      done();
    }
  }

  async callModel(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply> {
    const { role, journal: cards } = this.#options;
    const { model } = cards.runtime;
    if (!model) throw new Error(`The ${role.name} has no model to think with; give one in "model"`);
    this.signal.throwIfAborted();
    const { clock } = cards.runtime;
    const began = clock.monotonic();
    const done = this.#usage.trackModelCall();
    try {
      const reply = await model.complete({ ...request, role: role.name, signal: this.signal });
      done();
      const usage = reply.usage ?? NO_USAGE;
      this.#usage.addModelUsage(usage, reply.model ?? model.id);
      this.#recordModelCall(request, { model: reply.model ?? model.id, usage, finish: reply.finish }, began);
      return reply;
    } catch (error) {
      done();
      const aborted = this.signal.aborted;
      const why = formatError(error);
      const finish = aborted ? "aborted" : "error";
      this.#recordModelCall(request, { model: model.id, usage: NO_USAGE, finish, error: why }, began);
      this.signal.throwIfAborted();
      throw new ModelError(why, { cause: error });
    }
  }

  async delegate(delegated: DelegationRequest): Promise<ResultCard | ErrorCard> {
    const { to, task, context, turn, forced, attempt, metadata, deadlineMs } = delegated;
    const about = { ...metadata, ...omitUndefined({ turn, forced, attempt }), ...this.#buildReplyMetadata() };
    this.signal.throwIfAborted();
    const { journal: cards } = this.#options;
    const card = this.#usage.flushToCard((spent) =>
      cards.createTaskCard(to, task, { ...about, ...spent }, context),
    );
    return await this.#deliverCard(card, deadlineMs);
  }

  async sendQuery({ query, to, options, multiple }: QueryRequest): Promise<ResultCard | ErrorCard> {
    const { journal: cards, requestCard: given } = this.#options;
    const about: CardMetadata = { ...this.#buildReplyMetadata(), ...omitUndefined({ multiple }) };
    if (options) about["options"] = [...options];
    this.signal.throwIfAborted();
    const write = (): QueryCard =>
      this.#usage.flushToCard((spent) =>
        cards.createQueryCard(to ?? given.sender, query, { ...about, ...spent }),
      );
    if (to !== undefined && to !== given.sender) return await this.#deliverCard(write());
    const asked = this.#lastQuery.then(() => this.#queryRequester(write()));
    this.#lastQuery = asked.catch(() => {});
    return await asked;
  }

  sendNotice({ error, errorType, retryable }: Extract<TaskOutcome, { error: string }>): void {
    const { journal: cards, requestCard: given, requestTransport: carrier, requester: giver } = this.#options;
    const about = { error_type: errorType, ...omitUndefined({ retryable }) };
    const card = this.#usage.flushToCard((spent) =>
      cards.createErrorCard(given.sender, error, { ...about, ...spent }),
    );
    cards.recordSent(card, carrier, false);
    giver.notify(card);
  }

  /** The answer to a question of a role that works for this one. */
  async #answerQuery(query: QueryCard): Promise<ResultCard> {
    const { role, journal: cards } = this.#options;
    const given = await tryAnswerQuery(() => role.answerQuery?.(query, this), cards);
    return this.#usage.flushToCard((spent) => createAnswerCard(query, given, cards, spent));
  }

  async #runRole(): Promise<TaskOutcome> {
    const { role, requestCard: given } = this.#options;
    if (given.message_type === "task") return await role.performTask(this);
    const answer = await role.answerQuery?.(given, this);
    if (!answer) return { result: `The ${role.name} has no answer to that`, status: "error" };
    const { result, selected } = answer;
    return { result, status: "success", metadata: buildSelectionMetadata(selected) };
  }

  async #deliverCard(card: TaskCard | QueryCard, deadlineMs?: number): Promise<ResultCard | ErrorCard> {
    const { journal: cards, requestTransport: carrier } = this.#options;
    const done = this.#usage.trackWait();
    try {
      const reply = await deliverCard({
        card,
        journal: cards,
        contextId: carrier.context_id ?? "",
        parentTaskId: carrier.task_id,
        signal: this.signal,
        deadlineMs: deadlineMs ?? cards.runtime.deadlineMs,
        answerQuery: (query) => this.#answerQuery(query),
      });
      this.signal.throwIfAborted();
      return reply;
    } finally {
      done();
    }
  }

  async #queryRequester(card: QueryCard): Promise<ResultCard> {
    const { journal: cards, requestTransport: carrier, requester: giver } = this.#options;
    this.signal.throwIfAborted();
    cards.recordSent(card, carrier, false);
    const done = this.#usage.trackWait();
    try {
      const answer = await giver.sendQuery(card);
      cards.recordReceived(answer, carrier, false);
      return answer;
    } finally {
      done();
    }
  }

  #buildFinalReply(answer: TaskOutcome): ResultCard | ErrorCard {
    const reply = this.#buildReply(answer);
    // Whatever a call of the model says from now on is on no card; this is the one that should have had it.
    this.#finalCardId = reply.metadata.card_id;
    return reply;
  }

  /** The reply to what was given. One that cannot be a card is the role's mistake. */
  #buildReply(answer: TaskOutcome): ResultCard | ErrorCard {
    const { journal: cards, requestCard: given } = this.#options;
    const about = { ...omitUndefined({ turn: given.metadata.turn }), ...this.#buildReplyMetadata() };
    const fail = (error: string, error_type: string, retryable: boolean | undefined): ErrorCard =>
      this.#usage.flushToCard((spent) =>
        cards.createErrorCard(given.sender, error, {
          ...about,
          error_type,
          ...omitUndefined({ retryable }),
          ...spent,
        }),
      );
    if ("error" in answer) return fail(answer.error, answer.errorType, answer.retryable);
    try {
      return this.#usage.flushToCard((spent) =>
        cards.createResultCard(given.sender, answer.result, answer.status, {
          ...about,
          ...answer.metadata,
          ...this.#buildReplyMetadata(),
          ...spent,
        }),
      );
    } catch (error) {
      return fail(`The answer is no card: ${formatError(error)}`, "protocol_violation", undefined);
    }
  }

  /** What a role threw, as far as others may know. */
  #toErrorOutcome(thrown: unknown): TaskOutcome {
    const { role, journal: cards } = this.#options;
    if (this.signal.aborted) {
      const { reason } = this.signal;
      const timedOut = isTimeout(getStopParameters(reason));
      const errorType: CoreCardErrorType = timedOut ? "timeout" : "cancelled";
      const text = `The ${role.name} was stopped before it had a result`;
      // Its own reason is no card when the server closes: then the same again may succeed.
      return {
        error: text,
        errorType,
        ...(timedOut || reason instanceof ServerClosingError ? { retryable: true } : {}),
      };
    }
    if (thrown instanceof ModelError) {
      return { error: `The model failed: ${thrown.message}`, errorType: "model_error", retryable: true };
    }
    cards.runtime.observer.onError?.({ where: role.name, error: thrown });
    const text =
      thrown instanceof A2AError ? formatError(thrown) : `The ${role.name} failed; its log has the cause`;
    return { error: text, errorType: "role_failed" };
  }

  #recordModelCall(
    { input: step }: Pick<ModelRequest, "input">,
    call: { model: string; usage: CardTokenUsage; finish: string; error?: string },
    began: number,
  ): void {
    const { journal: cards, requestCard: given, role } = this.#options;
    const turn = step.kind === "plan" ? step.turn : given.metadata.turn;
    const { recorder, clock } = cards.runtime;
    recorder?.recordModelCall({
      run_id: cards.runId,
      ...omitUndefined({ sample_id: cards.sampleId, turn }),
      role: role.name,
      card_id: this.#finalCardId ?? this.#usage.nextCardId,
      duration_ms: clock.monotonic() - began,
      ...call,
    });
  }

  /** What every card says that comes of the one that was given. */
  #buildReplyMetadata(): CardMetadata {
    const { card_id: in_reply_to } = this.#options.requestCard.metadata;
    return omitUndefined({ in_reply_to });
  }
}
