import { omitUndefined } from "../../../base/usage-checks/index.ts";
import { collect, type A2AClient } from "../../../client/index.ts";
import {
  A2AError,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type SendMessageResponse,
  type StreamResponse,
} from "../../../protocol/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_EXTENSION_URI,
  type CardA2ARequestInfo,
  type ErrorCard,
  type QueryCard,
  type ResultCard,
  supportsMessageCards,
  type TaskCard,
  toCardParts,
  createChildTraceparent,
  encodeCardInCancelMetadata,
  encodeCardRelayAndTraceMetadata,
} from "../../index.ts";
import {
  type CardJournal,
  createErrorReplyCard,
  parseReplyCard,
  collectCardsInHistory,
} from "./card-journal.ts";
import {
  findReadableCard,
  computeGracePeriods,
  formatError,
  getStopCardParameters,
  isStopCausedByTimeout,
  TurnContinuesError,
} from "./role-runtime.ts";

/**
 * A message card to deliver. A later process that delivers the same card continues the task of the recipient, because
 * the A2A message is the same.
 */
interface CardToDeliver {
  readonly card: TaskCard | QueryCard;
  /** W3C `traceparent` of the A2A messages. */
  readonly traceparent: string;
  /** Time in milliseconds since 1970 at which the time limit begins. */
  readonly createdAt: number;
  /** Id of the recipient's task, if it is known. A stopped delivery cancels the task. */
  readonly taskId?: string | undefined;
}

export function prepareDelivery<C extends TaskCard | QueryCard>(
  card: C,
  journal: CardJournal,
): CardToDeliver & { card: C } {
  const { routingMetadata, runtime } = journal;
  return {
    card,
    traceparent: createChildTraceparent(routingMetadata.traceparent),
    createdAt: runtime.clock.now(),
  };
}

/** Options for `deliverCard`. */
interface CardDeliveryOptions extends CardToDeliver {
  readonly journal: CardJournal;
  /**
   * Id of the A2A context that all tasks of the problem share. The context id is sent only to agents that
   * support message cards. An agent without message card support would treat all tasks in the same A2A
   * context as one conversation.
   */
  readonly contextId: string;
  /** Id of the sending role's own A2A task, which the delivered message references. */
  readonly parentTaskId?: string | undefined;
  /**
   * Signal that cancels the recipient's task. If the abort reason is a control card, the delivery forwards
   * the card's parameters to the recipient. If the reason is a `TurnContinuesError`, the recipient continues, and the
   * delivery rejects.
   */
  readonly signal: AbortSignal;
  readonly deadlineMs?: number | undefined;
  /** Callback that answers the recipient's queries during the delivery. */
  readonly answerQuery: (query: QueryCard) => Promise<ResultCard>;
  readonly onTaskCreated?: ((taskId: string, client: A2AClient) => void) | undefined;
}

/** Maximum number of queries that a recipient may send about one message card. */
const MAX_QUERIES_PER_DELIVERED_CARD = 16;

/**
 * Maximum duration of a `CancelTask` request in milliseconds. Usually, the delivery ends earlier, when the
 * grace period expires.
 */
const CANCEL_TIMEOUT_MS = 10_000;

/**
 * Sends a message card to a recipient and resolves with the final reply. The delivery converts failures to error
 * cards. After a stop or a deadline, the delivery cancels the
 * recipient's task. If the recipient does not reply in time, the delivery creates an error card.
 */
export function deliverCard(options: CardDeliveryOptions): Promise<ResultCard | ErrorCard> {
  return new CardDelivery(options).run();
}

class CardDelivery {
  readonly #options: CardDeliveryOptions;
  readonly #streamAbort = new AbortController();
  readonly #createdTask = Promise.withResolvers<{ readonly client: A2AClient; readonly taskId: string }>();
  #transport: CardA2ARequestInfo;
  #isSent = false;
  #isStopping = false;

  constructor(options: CardDeliveryOptions) {
    const { contextId, traceparent } = options;
    this.#options = options;
    this.#transport = { context_id: contextId, traceparent };
  }

  async run(): Promise<ResultCard | ErrorCard> {
    const { card, journal, signal, deadlineMs, createdAt, taskId } = this.#options;
    const { clock } = journal.runtime;
    const stopped = Promise.withResolvers<JsonObject>();
    const detached = Promise.withResolvers<never>();
    detached.promise.catch(() => {});
    const stopWith = (parameters: JsonObject): void => {
      this.#isStopping = true;
      stopped.resolve(parameters);
    };
    const onAbort = (): void => {
      if (signal.reason instanceof TurnContinuesError) detached.reject(signal.reason);
      else stopWith(getStopCardParameters(signal.reason));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const cancelTimer =
      deadlineMs === undefined
        ? undefined
        : clock.schedule(Math.max(0, createdAt + deadlineMs - clock.now()), () =>
            stopWith({ reason: "timeout" }),
          );
    try {
      if (signal.reason instanceof TurnContinuesError) throw signal.reason;
      if (signal.aborted && taskId === undefined) return this.#createReplyForStopBeforeSending();
      if (signal.aborted) onAbort();
      const exchange = signal.aborted ? this.#attachToTask(taskId ?? "") : this.#exchangeCards();
      const stop = stopped.promise.then((parameters) =>
        this.#stopRecipientAndAwaitReply(exchange, parameters),
      );
      // An error of the exchange is expected while the task is being canceled.
      const exchangeOrStop = exchange.catch((error: unknown) =>
        this.#isStopping ? stop : createTransportErrorCard(error, card, journal),
      );
      const reply = await Promise.race([exchangeOrStop, stop, detached.promise]);
      // A card that could not be sent is recorded, too.
      if (!this.#isSent) this.#recordSentCard(card);
      journal.record(reply, this.#transport, true);
      return reply;
    } finally {
      signal.removeEventListener("abort", onAbort);
      cancelTimer?.();
      // The reply is known or no longer needed, so a stream that is still open is closed.
      if (this.#isStopping || signal.aborted) this.#streamAbort.abort();
    }
  }

  /** Sends the message card and answers queries until the recipient replies. */
  async #exchangeCards(): Promise<ResultCard | ErrorCard> {
    const { card, journal } = this.#options;
    const client = await journal.runtime.getClient(card.recipient);
    this.#recordSentCard(card);
    let answer = await this.#sendCard(client, card);
    for (let queries = 0; ; queries++) {
      const reply = parseReplyCard(answer, card, journal);
      if (reply.message_type !== "query") return reply;
      journal.record(reply, this.#transport, true);
      const taskId = "task" in answer ? answer.task.id : undefined;
      if (taskId === undefined || queries === MAX_QUERIES_PER_DELIVERED_CARD) {
        void this.#cancelTask({ reason: "queries" }).catch(() => {});
        const reason =
          taskId === undefined
            ? "without a task to which an answer can be sent"
            : `more than ${MAX_QUERIES_PER_DELIVERED_CARD} times`;
        return createErrorReplyCard(
          card,
          journal,
          "protocol_violation",
          `${card.recipient} sent a query ${reason}`,
        );
      }
      const result = await this.#options.answerQuery(reply);
      this.#recordSentCard(result);
      answer = await this.#sendCard(client, result, taskId);
    }
  }

  /** Registers a task of the recipient, which the delivery then cancels. */
  async #attachToTask(taskId: string): Promise<never> {
    const { card, journal, contextId } = this.#options;
    this.#registerTask(taskId, contextId, await journal.runtime.getClient(card.recipient));
    return await new Promise<never>(() => {});
  }

  async #sendCard(client: A2AClient, card: MessageCard, taskId?: string): Promise<SendMessageResponse> {
    const supportsCards = supportsMessageCards(client.card.capabilities);
    const message = supportsCards ? this.#buildCardMessage(card, taskId) : buildTextMessage(card, taskId);
    const stream = client.stream(message, {
      fallbackTraceparent: this.#options.traceparent,
      signal: this.#streamAbort.signal,
    });
    return await collect(this.#observeEvents(stream, client));
  }

  #buildCardMessage(
    card: MessageCard,
    taskId: string | undefined,
  ): Pick<Message, "parts"> & Partial<Message> {
    const { contextId, parentTaskId, journal, traceparent } = this.#options;
    const { runId, relay, hops } = journal.routingMetadata;
    const message: Pick<Message, "parts"> & Partial<Message> = {
      ...buildMessageIds(card, taskId),
      parts: toCardParts(card),
      contextId,
      extensions: [MESSAGE_CARD_EXTENSION_URI],
      metadata: encodeCardRelayAndTraceMetadata({
        ...(card.metadata.run_id === undefined && { runId: journal.experimentRunId || runId }),
        relay,
        hops: hops + 1,
        traceparent,
      }),
    };
    if (parentTaskId !== undefined) message.referenceTaskIds = [parentTaskId];
    return message;
  }

  /** Yields the events unchanged, registers the recipient's task, and records relayed message cards. */
  async *#observeEvents(
    stream: AsyncIterable<StreamResponse>,
    client: A2AClient,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const event of stream) {
      if ("task" in event) {
        this.#registerTask(event.task.id, event.task.contextId, client);
        for (const card of collectCardsInHistory(event.task)) this.#recordRelayedCard(card);
      } else if ("statusUpdate" in event) {
        const { taskId, contextId, status } = event.statusUpdate;
        this.#registerTask(taskId, contextId, client);
        const { state, message } = status;
        const isClosing = isTerminal(state) || isInterrupted(state);
        const card = message && !isClosing ? findReadableCard(message) : undefined;
        if (card) this.#recordRelayedCard(card);
      }
      yield event;
    }
  }

  #registerTask(task_id: string, context_id: string, client: A2AClient): void {
    if (this.#transport.task_id !== undefined) return;
    this.#transport = { ...this.#transport, task_id, context_id };
    this.#createdTask.resolve({ client, taskId: task_id });
    this.#options.onTaskCreated?.(task_id, client);
  }

  #recordRelayedCard(card: MessageCard): void {
    this.#options.journal.record(card, this.#transport, true);
  }

  #recordSentCard(card: MessageCard): void {
    this.#isSent = true;
    this.#options.journal.record(card, this.#transport, true);
  }

  /** Returns an error card if the delivery was stopped before the message card was sent. */
  #createReplyForStopBeforeSending(): ErrorCard {
    const { card, journal } = this.#options;
    this.#recordSentCard(card);
    const reply = createErrorReplyCard(
      card,
      journal,
      "cancelled",
      `The work was stopped before the card was sent to ${card.recipient}`,
    );
    journal.record(reply, this.#transport, true);
    return reply;
  }

  /** Cancels the recipient's task and waits for the reply until the grace period ends. */
  async #stopRecipientAndAwaitReply(
    exchange: Promise<ResultCard | ErrorCard>,
    parameters: JsonObject,
  ): Promise<ResultCard | ErrorCard> {
    const { card, journal } = this.#options;
    const { clock } = journal.runtime;
    const graceMs = computeGracePeriods(journal.runtime, parameters).forOthersMs;
    const graceExpired = Promise.withResolvers<undefined>();
    const cancelTimer = clock.schedule(graceMs, () => graceExpired.resolve(undefined));
    // When the task waits for an answer, the exchange receives no further events.
    const terminalReply = Promise.any([exchange, this.#cancelTask({ ...parameters, grace_ms: graceMs })]);
    const reply = await Promise.race([terminalReply.catch(() => undefined), graceExpired.promise]);
    cancelTimer();
    if (reply && !isLocallyCreatedCancellationCard(reply)) return reply;
    const text = reply?.content ?? `${card.recipient} was stopped and did not answer within ${graceMs} ms`;
    const timedOut = isStopCausedByTimeout(parameters);
    return createErrorReplyCard(card, journal, timedOut ? "timeout" : "cancelled", text, timedOut);
  }

  /**
   * Cancels the recipient's task and returns the reply. Rejects if the task cannot be canceled or has no
   * reply.
   */
  async #cancelTask(parameters: JsonObject): Promise<ResultCard | ErrorCard> {
    const { card, journal } = this.#options;
    const { client, taskId } = await this.#createdTask.promise;
    const stop = this.#buildStopCard(parameters);
    if (stop) journal.record(stop, this.#transport, true);
    const abortController = new AbortController();
    const cancelTimer = journal.runtime.clock.schedule(CANCEL_TIMEOUT_MS, () => abortController.abort());
    try {
      const task = await client.tasks.cancel(taskId, {
        signal: abortController.signal,
        ...(stop ? { metadata: encodeCardInCancelMetadata(stop) } : {}),
      });
      for (const relayed of collectCardsInHistory(task)) this.#recordRelayedCard(relayed);
      const reply = parseReplyCard({ task }, card, journal);
      if (reply.message_type !== "query") return reply;
      throw new Error(`${card.recipient} still waits for an answer to its query`);
    } finally {
      cancelTimer();
    }
  }

  /**
   * Builds a `stop` control card, or returns `undefined` if the card protocol has no route for `stop`. If the
   * protocol has no route for `stop`, the delivery cancels the task without a control card.
   */
  #buildStopCard(parameters: JsonObject): MessageCard | undefined {
    const { card, journal } = this.#options;
    try {
      return journal.createCard("control", card.recipient, "stop", { parameters });
    } catch (error) {
      if (error instanceof A2AError) return undefined;
      throw error;
    }
  }
}

/** Returns whether the delivery itself created the reply because the recipient's task was `CANCELED`. */
function isLocallyCreatedCancellationCard({ metadata }: ResultCard | ErrorCard): boolean {
  return metadata["error_type"] === "cancelled" && "written_by" in metadata;
}

/**
 * Builds a text message from the content and context of a message card, for an agent that does not support
 * message cards.
 */
function buildTextMessage(
  card: MessageCard,
  taskId: string | undefined,
): Pick<Message, "parts"> & Partial<Message> {
  const context = "context" in card.metadata ? card.metadata["context"] : undefined;
  const text =
    context === undefined ? card.content : `${card.content}\n\nContext: ${JSON.stringify(context)}`;
  return { ...buildMessageIds(card, taskId), parts: [{ text }] };
}

/** A card has the same message id in every attempt, so that the recipient recognizes a repeated message. */
function buildMessageIds({ metadata }: MessageCard, taskId: string | undefined): Partial<Message> {
  return omitUndefined({ messageId: metadata.card_id, taskId });
}

function createTransportErrorCard(error: unknown, card: MessageCard, journal: CardJournal): ErrorCard {
  const { reason } = A2AError.from(error);
  // A missing task was lost in a server restart, so the request can be retried.
  const retryable =
    reason === "UNAVAILABLE" || reason === "RESOURCE_EXHAUSTED" || reason === "TASK_NOT_FOUND";
  const why = `The card could not be delivered to ${card.recipient}: ${formatError(error)}`;
  return createErrorReplyCard(card, journal, "transport_error", why, retryable);
}
