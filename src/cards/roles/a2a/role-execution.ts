import { A2AError, truncateText } from "../../../protocol/index.ts";
import type {
  MessageCard,
  CardA2ARequestInfo,
  CardMetadata,
  ControlCard,
  CoreCardErrorType,
  ErrorCard,
  QueryCard,
  ResultCard,
  TaskCard,
} from "../../index.ts";
import type { Run } from "../../../engine/index.ts";
import type { ModelReply, ModelRequest } from "../role-model.ts";
import type { TaskOutcome, QueryRequest, DelegationRequest, TaskContext, Role } from "../role.ts";
import {
  createQueryAnswerCard,
  getQueryAnswerOrReportError,
  toSelectedQueryOptionsMetadata,
} from "./query-answer-card.ts";
import { buildInReplyToMetadata, type CardJournal } from "./card-journal.ts";
import { deliverCard } from "./card-delivery.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { formatError } from "./format-error.ts";
import { isRetryableStatus } from "../model-failure.ts";
import { ModelCaller, ModelError } from "./model-caller.ts";
import { UsageTracker } from "./usage-tracker.ts";
import {
  computeGracePeriods,
  isStopCausedByTimeout,
  getStopCardParameters,
  ServerClosingError,
} from "./stop-reason.ts";

/** Interface to the requester of a task, which receives notices and queries from the role. */
interface RequesterChannel {
  /** Sends a notice. */
  notify(card: MessageCard): void;
  /**
   * Sends a query to the requester and resolves with the answer. Rejects with the abort reason of the
   * execution's signal.
   */
  sendQuery(query: QueryCard): Promise<ResultCard>;
}

/** Options for `RoleExecution`. */
interface RoleExecutionOptions {
  readonly role: Role;
  /** Message card that starts the work. */
  readonly requestCard: TaskCard | QueryCard;
  readonly journal: CardJournal;
  /** Transport that delivered `requestCard`. The role sends its replies through the same transport. */
  readonly requestTransport: CardA2ARequestInfo;
  readonly requester: RequesterChannel;
  /** Reports the model calls to the server of the role, for its traffic record. Default: no reports. */
  readonly reportCall?: Run["reportCall"];
}

/**
 * Abort error that all ended executions share, because creating a separate error for each task would be
 * expensive.
 */
const EXECUTION_ENDED_ABORT_ERROR = new DOMException("The work is over.", "AbortError");

/** Maximum number of characters of an unusable reply on a message card. */
const MAX_UNUSABLE_REPLY_CHARACTERS = 500;

/** Runs a role on one message card and creates the final reply. */
export class RoleExecution implements TaskContext {
  readonly #options: RoleExecutionOptions;
  readonly #usage: UsageTracker;
  readonly #modelCaller: ModelCaller;
  readonly #abortController = new AbortController();
  readonly #graceExpired = Promise.withResolvers<never>();
  readonly #controlCards: ControlCard[] = [];
  #controlArrived = Promise.withResolvers<void>();
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
    const { role, requestCard, journal, reportCall } = options;
    this.#modelCaller = new ModelCaller({
      role,
      requestCard,
      journal,
      usage: this.#usage,
      reportCall,
      signal: this.signal,
      findFinalCardId: () => this.#finalCardId,
    });
    // These promises may reject while no code awaits them.
    this.#graceExpired.promise.catch(() => {});
    this.#controlArrived.promise.catch(() => {});
  }

  get task(): TaskCard {
    const { requestCard } = this.#options;
    if (requestCard.message_type !== "query") return requestCard;
    throw new Error("This execution answers a query and has no task. Implement Role.answerQuery.");
  }

  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /** Whether the work was stopped before the role finished. */
  get wasStopped(): boolean {
    return this.#wasStopped;
  }

  /** Runs the role until it returns an outcome or the grace period ends. Returns the final message card. */
  async execute(): Promise<ResultCard | ErrorCard> {
    try {
      return this.#buildFinalReply(await Promise.race([this.#runRole(), this.#graceExpired.promise]));
    } catch (error) {
      return this.#buildFinalReply(this.#toErrorOutcome(error));
    } finally {
      this.#cancelGraceTimer?.();
      // Stops work that the role has left unfinished.
      this.#abortController.abort(EXECUTION_ENDED_ABORT_ERROR);
    }
  }

  /** Stops the work. A role that exceeds the grace period is abandoned. */
  stop(reason: unknown): void {
    if (this.signal.aborted) return;
    const { journal, role } = this.#options;
    const { forItselfMs } = computeGracePeriods(journal.runtime, getStopCardParameters(reason));
    this.#cancelGraceTimer = journal.runtime.clock.schedule(forItselfMs, () => {
      this.#graceExpired.reject(new Error(`The ${role.name} was stopped and returned no result in time`));
    });
    this.#wasStopped = !(reason instanceof ServerClosingError);
    this.#abortController.abort(reason);
    this.#controlArrived.reject(reason);
  }

  enqueueControlCard(card: ControlCard): void {
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
    const stopTracking = this.#usage.startRoleWaitTimer();
    try {
      await this.#controlArrived.promise;
    } finally {
      stopTracking();
    }
  }

  callModel(request: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply> {
    if (request.input.kind === "plan") this.#turn = request.input.turn;
    return this.#modelCaller.call(request);
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
    const { to, task, type, context, turn, forced, attempt, metadata, deadlineMs } = request;
    const about = {
      ...metadata,
      ...omitUndefined({ turn, forced, attempt }),
      ...buildInReplyToMetadata(this.#options.requestCard),
    };
    this.signal.throwIfAborted();
    const { journal } = this.#options;
    const card = this.#usage.flushToCard((spent) =>
      journal.createTaskCard(to, task, { ...about, ...spent }, context, type),
    );
    return await this.#sendCardToRoleAndAwaitReply(card, deadlineMs);
  }

  async sendQuery({ query, to, options, multiple }: QueryRequest): Promise<ResultCard | ErrorCard> {
    const { journal, requestCard } = this.#options;
    const metadata: CardMetadata = { ...buildInReplyToMetadata(requestCard), ...omitUndefined({ multiple }) };
    if (options) metadata["options"] = [...options];
    this.signal.throwIfAborted();
    const createCard = (): QueryCard =>
      this.#usage.flushToCard((spent) =>
        journal.createQueryCard(to ?? requestCard.sender, query, { ...metadata, ...spent }),
      );
    if (to !== undefined && to !== requestCard.sender)
      return await this.#sendCardToRoleAndAwaitReply(createCard());
    const asked = this.#lastQuery.then(() => this.#queryRequester(createCard()));
    this.#lastQuery = asked.catch(() => {});
    return await asked;
  }

  notifyRequesterOfError(outcome: Extract<TaskOutcome, { error: string }>): void {
    const { error, errorType, retryable, httpStatus } = outcome;
    const { journal, requestCard, requestTransport, requester } = this.#options;
    const metadata = {
      error_type: errorType,
      ...omitUndefined({ turn: this.#turn, retryable, http_status: httpStatus }),
    };
    const card = this.#usage.flushToCard((spent) =>
      journal.createErrorCard(requestCard.sender, error, { ...metadata, ...spent }),
    );
    journal.recordSent(card, requestTransport, false);
    requester.notify(card);
  }

  /** Answers a query from another role, which works on a task of this role. */
  async #answerQuery(query: QueryCard): Promise<ResultCard> {
    const { role, journal } = this.#options;
    const answer = await getQueryAnswerOrReportError(() => role.answerQuery?.(query, this), journal);
    return this.#usage.flushToCard((spent) => createQueryAnswerCard(query, answer, journal, spent));
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
    card: TaskCard | QueryCard,
    deadlineMs?: number,
  ): Promise<ResultCard | ErrorCard> {
    const { journal, requestTransport } = this.#options;
    const stopTracking = this.#usage.startRoleWaitTimer();
    try {
      const reply = await deliverCard({
        card,
        journal,
        contextId: requestTransport.context_id ?? "",
        parentTaskId: requestTransport.task_id,
        signal: this.signal,
        deadlineMs: deadlineMs ?? journal.runtime.deadlineMs,
        answerQuery: (query) => this.#answerQuery(query),
      });
      this.signal.throwIfAborted();
      return reply;
    } finally {
      stopTracking();
    }
  }

  async #queryRequester(card: QueryCard): Promise<ResultCard> {
    const { journal, requestTransport, requester } = this.#options;
    this.signal.throwIfAborted();
    journal.recordSent(card, requestTransport, false);
    const stopTracking = this.#usage.startRoleWaitTimer();
    try {
      const answer = await requester.sendQuery(card);
      journal.recordReceived(answer, requestTransport, false);
      return answer;
    } finally {
      stopTracking();
    }
  }

  #buildFinalReply(answer: TaskOutcome): ResultCard | ErrorCard {
    const reply = this.#buildReply(answer);
    // A model call that ends after this point is recorded with the id of the final card, although that card
    // does not include its usage.
    this.#finalCardId = reply.metadata.card_id;
    return reply;
  }

  /**
   * Creates the reply to the request card. If no valid message card can be created from the outcome, the
   * reply is an error card.
   */
  #buildReply(answer: TaskOutcome): ResultCard | ErrorCard {
    const { journal, requestCard } = this.#options;
    const metadata = {
      ...omitUndefined({ turn: this.#turn ?? requestCard.metadata.turn }),
      ...buildInReplyToMetadata(requestCard),
    };
    const fail = (outcome: Extract<TaskOutcome, { error: string }>): ErrorCard =>
      this.#usage.flushToCard((spent) =>
        journal.createErrorCard(requestCard.sender, outcome.error, {
          ...metadata,
          error_type: outcome.errorType,
          ...omitUndefined({ retryable: outcome.retryable, http_status: outcome.httpStatus }),
          ...spent,
        }),
      );
    if ("error" in answer) return fail(answer);
    try {
      return this.#usage.flushToCard((spent) =>
        journal.createResultCard(requestCard.sender, answer.result, answer.status, {
          ...metadata,
          ...answer.metadata,
          ...buildInReplyToMetadata(requestCard),
          ...spent,
        }),
      );
    } catch (error) {
      return fail({
        error: `The answer does not form a valid card: ${formatError(error)}`,
        errorType: "protocol_violation",
      });
    }
  }

  /** Converts an exception that a role threw to an outcome without internal details. */
  #toErrorOutcome(thrown: unknown): TaskOutcome {
    const { role, journal } = this.#options;
    if (this.signal.aborted) {
      const { reason } = this.signal;
      const timedOut = isStopCausedByTimeout(getStopCardParameters(reason));
      const errorType: CoreCardErrorType = timedOut ? "timeout" : "cancelled";
      const text = `The ${role.name} was stopped before it had a result`;
      // When the server closes, the signal has no control card as its reason. The same task may then succeed
      // later.
      return {
        error: text,
        errorType,
        ...(timedOut || reason instanceof ServerClosingError ? { retryable: true } : {}),
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
