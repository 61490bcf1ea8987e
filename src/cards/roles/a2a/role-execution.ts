import { omitUndefined } from "../../../base/usage-checks/index.ts";
import { A2AError, truncateText } from "../../../protocol/index.ts";
import type {
  CardA2ARequestInfo,
  CardMetadata,
  CardRelayAndTraceMetadata,
  ControlCard,
  ErrorCard,
  QueryCard,
  ResultCard,
  TaskCard,
} from "../../index.ts";
import { isRetryableStatus, type ModelReply } from "../role-model.ts";
import type { TaskOutcome, QueryRequest, DelegationRequest, TaskContext, Role } from "../role.ts";
import {
  buildInReplyToMetadata,
  type CardJournal,
  createQueryAnswerCard,
  getQueryAnswerOrReportError,
  toSelectedQueryOptionsMetadata,
} from "./card-journal.ts";
import {
  type CardEventEncoder,
  findReadableCard,
  isReplyType,
  computeGracePeriods,
  formatError,
  getStopCardParameters,
  isControlCard,
  isStopCausedByTimeout,
  ServerClosingError,
  TurnContinuesError,
} from "./role-runtime.ts";
import { deliverCard, prepareDelivery } from "./card-delivery.ts";
import type { DurableTurn } from "./durable-turn.ts";
import {
  callModel,
  type CardUsageMetadata,
  ModelError,
  type RoleModelRequest,
  UsageTracker,
} from "./model-caller.ts";

type ErrorOutcome = Extract<TaskOutcome, { error: string }>;

/** Data about the request of a task that the messages of later turns do not contain. */
export interface RequestState {
  readonly usesCards: boolean;
  readonly routingMetadata: CardRelayAndTraceMetadata;
}

/** State of a task that waits for the answer to its query. */
export interface OpenQuery extends RequestState {
  readonly card: QueryCard;
}

/** Options for `RoleExecution`. */
interface RoleExecutionOptions {
  readonly role: Role;
  /** Message card that starts the work. */
  readonly requestCard: TaskCard | QueryCard;
  readonly journal: CardJournal;
  readonly turn: DurableTurn;
  /** Transport that delivered `requestCard`. The role sends its replies through the same transport. */
  readonly requestTransport: CardA2ARequestInfo;
  readonly replyEncoder: CardEventEncoder;
  /** Data about the request that a later turn requires. */
  readonly requestState: RequestState;
  /** The answer to the query that the task has sent in its last turn. */
  readonly answer: ResultCard | undefined;
}

/**
 * Abort error that all ended executions share, because creating a separate error for each task would be
 * expensive.
 */
const EXECUTION_ENDED_ABORT_ERROR = new DOMException("The work is over.", "AbortError");

/** Maximum number of characters of an unusable reply on a message card. */
const MAX_UNUSABLE_REPLY_CHARACTERS = 500;

/**
 * Runs a role on one message card in one attempt at a turn, and emits the events. All calls of the role are steps of the
 * turn. After a question or a restart, the role runs again, and finished calls return their stored results.
 */
export class RoleExecution implements TaskContext {
  readonly #options: RoleExecutionOptions;
  readonly #usage: UsageTracker;
  readonly #abortController = new AbortController();
  readonly #graceExpired = Promise.withResolvers<never>();
  #lastQuery: Promise<unknown> = Promise.resolve();
  #cancelGraceTimer: (() => void) | undefined;
  #wasStopped = false;
  #finalCardId: string | undefined;
  /** Number of the current turn, if the role is a planner. */
  #turn: number | undefined;

  constructor(options: RoleExecutionOptions) {
    this.#options = options;
    const { clock, newId } = options.journal.runtime;
    this.#usage = new UsageTracker(() => clock.monotonic(), newId);
    // The promise may reject while no code awaits it.
    this.#graceExpired.promise.catch(() => {});
    const { history = [] } = options.turn.run.task;
    for (const message of history) {
      const card = message.role === "ROLE_USER" ? findReadableCard(message) : undefined;
      if (isControlCard(card) && card.sender === options.requestCard.sender) this.applyControlCard(card);
    }
  }

  get task(): TaskCard {
    const { requestCard } = this.#options;
    if (requestCard.message_type !== "query") return requestCard;
    throw new Error("This execution answers a query and has no task. Implement Role.answerQuery.");
  }

  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /** Runs the role until it returns an outcome or the grace period ends, and emits the final message card. */
  async execute(): Promise<void> {
    const { turn, journal, requestCard, requestTransport, replyEncoder } = this.#options;
    if (turn.run.attempt === 1 && turn.question === undefined)
      journal.record(requestCard, requestTransport, false);
    let outcome: TaskOutcome;
    try {
      outcome = await Promise.race([this.#runRole(), this.#graceExpired.promise]);
    } catch (error) {
      outcome = this.#toErrorOutcome(error);
    } finally {
      this.#cancelGraceTimer?.();
    }
    // An abandoned attempt delivers no reply, so none is recorded.
    if (turn.isOver || this.signal.reason instanceof TurnContinuesError) throw this.signal.reason;
    // Stops work that the role has left unfinished.
    this.#abortController.abort(EXECUTION_ENDED_ABORT_ERROR);
    const reply = await this.#createFinalReply(outcome);
    for (const event of replyEncoder.encodeFinal(reply, this.#wasStopped))
      turn.emit(turn.addEndMetadata(event));
  }

  /** Stops the work. A role that exceeds the grace period is abandoned. */
  stop(reason: unknown): void {
    if (this.signal.aborted) return;
    const { journal, role } = this.#options;
    const { forItselfMs } = computeGracePeriods(journal.runtime, getStopCardParameters(reason));
    if (reason instanceof TurnContinuesError) this.#graceExpired.reject(reason);
    this.#cancelGraceTimer = journal.runtime.clock.schedule(forItselfMs, () => {
      this.#graceExpired.reject(new Error(`The ${role.name} was stopped and returned no result in time`));
    });
    this.#wasStopped = !(reason instanceof ServerClosingError);
    this.#abortController.abort(reason);
  }

  /** Stops the role if the card is `stop`. Roles ignore other control cards. */
  applyControlCard(card: ControlCard): void {
    if (card.content === "stop") this.stop(card);
  }

  callModel(request: RoleModelRequest): Promise<ModelReply> {
    if (request.input.kind === "plan") this.#turn = request.input.turn;
    const { requestCard, journal, turn } = this.#options;
    const { signal } = this;
    const findFinalCardId = (): string | undefined => this.#finalCardId;
    return callModel(request, { requestCard, journal, usage: this.#usage, turn, signal, findFinalCardId });
  }

  reportUnusableReply(reason: string, { text }: Pick<ModelReply, "text">): void {
    this.#usage.addFailedTry({
      reason: "unusable_reply",
      error: formatError(reason),
      wait_ms: 0,
      text: truncateText(text.toWellFormed(), MAX_UNUSABLE_REPLY_CHARACTERS),
    });
  }

  async delegate(request: DelegationRequest): Promise<ResultCard | ErrorCard> {
    const { to, task, type = "task", context, turn, forced, attempt, metadata, deadlineMs } = request;
    const about = {
      ...metadata,
      ...omitUndefined({ turn, forced, attempt, context }),
      ...buildInReplyToMetadata(this.#options.requestCard),
    };
    // A card of a custom type can start work in the same way as a task card.
    const createCard = (spent: CardUsageMetadata): TaskCard =>
      this.#options.journal.createCard(type as "task", to, task, { ...about, ...spent });
    return await this.#sendCardToRoleAndAwaitReply({ ...request }, createCard, deadlineMs);
  }

  async sendQuery(request: QueryRequest): Promise<ResultCard | ErrorCard> {
    const { query, to, options, multiple } = request;
    const { journal, requestCard } = this.#options;
    const metadata: CardMetadata = { ...buildInReplyToMetadata(requestCard), ...omitUndefined({ multiple }) };
    if (options) metadata["options"] = [...options];
    const createCard = (spent: CardUsageMetadata): QueryCard =>
      journal.createCard("query", to ?? requestCard.sender, query, { ...metadata, ...spent });
    if (to !== undefined && to !== requestCard.sender)
      return await this.#sendCardToRoleAndAwaitReply({ ...request }, createCard);
    this.signal.throwIfAborted();
    const key = this.#options.turn.createStepKey("query", { ...request });
    const asked = this.#lastQuery.then(() => this.#queryRequester(key, createCard));
    this.#lastQuery = asked.catch(() => {});
    return await asked;
  }

  /** Answers a query from another role, which works on a task of this role. */
  async #answerQuery(query: QueryCard): Promise<ResultCard> {
    const { role, journal, turn } = this.#options;
    const key = `answer ${query.metadata.card_id}`;
    const answer = await turn.once(key, async () => {
      const answer = await getQueryAnswerOrReportError(() => role.answerQuery?.(query, this), journal);
      return answer ?? null;
    });
    return await this.#createOnce(`${key} card`, (spent) =>
      createQueryAnswerCard(query, answer ?? undefined, journal, spent),
    );
  }

  async #runRole(): Promise<TaskOutcome> {
    const { role, requestCard } = this.#options;
    if (requestCard.message_type !== "query") return await role.performTask(this);
    const answer = await role.answerQuery?.(requestCard, this);
    if (!answer) return { result: `The ${role.name} has no answer to this query`, status: "error" };
    const { result, selected } = answer;
    return { result, status: "success", metadata: toSelectedQueryOptionsMetadata(selected) };
  }

  async #sendCardToRoleAndAwaitReply(
    content: object,
    createCard: (spent: CardUsageMetadata) => TaskCard | QueryCard,
    deadlineMs?: number,
  ): Promise<ResultCard | ErrorCard> {
    const { journal, requestTransport, turn } = this.#options;
    this.signal.throwIfAborted();
    const key = turn.createStepKey("send", content);
    const delivery = await this.#createOnce(`${key} card`, (spent) =>
      prepareDelivery(createCard(spent), journal),
    );
    const stopTracking = this.#usage.startTimer("wait");
    try {
      const reply = await turn.once(key, () =>
        deliverCard({
          ...delivery,
          journal,
          contextId: requestTransport.context_id ?? "",
          parentTaskId: requestTransport.task_id,
          signal: this.signal,
          deadlineMs: deadlineMs ?? journal.runtime.deadlineMs,
          answerQuery: (query) => this.#answerQuery(query),
        }),
      );
      this.signal.throwIfAborted();
      return reply;
    } finally {
      stopTracking();
    }
  }

  async #queryRequester(
    key: string,
    createCard: (spent: CardUsageMetadata) => QueryCard,
  ): Promise<ResultCard> {
    const { journal, requestTransport, replyEncoder, turn, answer, requestState } = this.#options;
    this.signal.throwIfAborted();
    const card = await this.#createOnce(`${key} card`, (spent) => {
      const query = createCard(spent);
      journal.record(query, requestTransport, false);
      return query;
    });
    const stopTracking = this.#usage.startTimer("wait");
    try {
      return await turn.once(key, async () => {
        if (!answer || answer.metadata.in_reply_to !== card.metadata.card_id) {
          const question: OpenQuery = { ...requestState, card };
          const query = replyEncoder.encodeStatus("TASK_STATE_INPUT_REQUIRED", card);
          return await turn.ask(query, question, 1);
        }
        journal.record(answer, requestTransport, false);
        return answer;
      });
    } finally {
      stopTracking();
    }
  }

  /** Creates a card, or a value with a card, as a step. The card reports the usage since the last card. */
  async #createOnce<T>(key: string, create: (spent: CardUsageMetadata) => T): Promise<T> {
    let isStored = true;
    const created = await this.#options.turn.once(key, () => {
      isStored = false;
      return this.#usage.flushToCard(create);
    });
    if (isStored) this.#usage.flushToCard(() => undefined);
    return created;
  }

  /** Creates and records the final reply, which all attempts share. */
  async #createFinalReply(outcome: TaskOutcome): Promise<ResultCard | ErrorCard> {
    const { journal, requestTransport, turn } = this.#options;
    let reply: ResultCard | ErrorCard | undefined;
    const create = (): ResultCard | ErrorCard => {
      if (reply) return reply;
      reply = this.#buildReply(outcome);
      // A model call that ends after this point is recorded with the id of the final card, although that card
      // does not include its usage.
      this.#finalCardId = reply.metadata.card_id;
      journal.record(reply, requestTransport, false);
      return reply;
    };
    try {
      return await turn.once("reply", create);
    } catch (error) {
      // A stopped turn begins no step.
      if (!turn.run.signal.aborted) throw error;
      return create();
    }
  }

  /**
   * Creates the reply to the request card. If no valid message card can be created from the outcome, the
   * reply is an error card.
   */
  #buildReply(outcome: TaskOutcome): ResultCard | ErrorCard {
    const { journal, requestCard } = this.#options;
    const inReplyTo = buildInReplyToMetadata(requestCard);
    const metadata = { ...omitUndefined({ turn: this.#turn ?? requestCard.metadata.turn }), ...inReplyTo };
    if ("error" in outcome) return this.#createErrorCard(outcome, metadata);
    const { result, status, type = "result" } = outcome;
    try {
      if (!isReplyType(type, journal.runtime.protocol))
        throw A2AError.invalidParams([{ field: "type", description: `${type} does not end a task` }]);
      return this.#usage.flushToCard((spent) => {
        const all = { ...metadata, ...outcome.metadata, ...inReplyTo, ...spent, status };
        return journal.createCard(type as "result", requestCard.sender, result, all);
      });
    } catch (error) {
      const text = `The answer does not form a valid card: ${formatError(error)}`;
      return this.#createErrorCard({ error: text, errorType: "protocol_violation" }, metadata);
    }
  }

  #createErrorCard(outcome: ErrorOutcome, metadata: CardMetadata): ErrorCard {
    const { error, errorType: error_type, retryable, httpStatus: http_status } = outcome;
    const { journal, requestCard } = this.#options;
    const own = { ...metadata, error_type, ...omitUndefined({ retryable, http_status }) };
    return this.#usage.flushToCard((spent) =>
      journal.createCard("error", requestCard.sender, error, { ...own, ...spent }),
    );
  }

  /** Converts an exception that a role threw to an outcome without internal details. */
  #toErrorOutcome(thrown: unknown): TaskOutcome {
    const { role, journal } = this.#options;
    if (this.signal.aborted) {
      const { reason } = this.signal;
      const timedOut = isStopCausedByTimeout(getStopCardParameters(reason));
      // When the server closes, the signal has no control card as its reason. The same task may then succeed
      // later.
      const isRetryable = timedOut || reason instanceof ServerClosingError;
      return {
        error: `The ${role.name} was stopped before it had a result`,
        errorType: timedOut ? "timeout" : "cancelled",
        ...(isRetryable && { retryable: true }),
      };
    }
    if (thrown instanceof ModelError) {
      const { httpStatus } = thrown.failure;
      return {
        error: `The model failed: ${thrown.message}`,
        errorType: "model_error",
        retryable: httpStatus === undefined || isRetryableStatus(httpStatus),
        ...omitUndefined({ httpStatus }),
      };
    }
    journal.runtime.observer.onError?.({ where: role.name, error: thrown });
    const text =
      thrown instanceof A2AError
        ? formatError(thrown)
        : `The ${role.name} failed; its server log contains the cause`;
    return { error: text, errorType: "role_failed" };
  }
}
