import { collect, type A2AClient } from "../../client/index.ts";
import {
  A2AError,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type SendMessageResponse,
  type StreamResponse,
} from "../../protocol/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_EXTENSION_URI,
  type CardTransportInfo,
  type ErrorCard,
  type QueryCard,
  type ResultCard,
  supportsMessageCards,
  type TaskCard,
  toCardParts,
} from "../../cards/index.ts";
import { createChildTraceparent, encodeCardInMetadata, encodeCardEnvelope } from "../../cards/index.ts";
import type { CardJournal } from "./card-journal.ts";
import { createErrorReplyCard, parseReplyCard, findRelayedCard, collectRelayedCards } from "./reply-card.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { formatError } from "./format-error.ts";
import { computeGracePeriods, isTimeout, getStopParameters } from "./stop-reason.ts";

/** A card that is to be brought to another role, and its reply back. */
export interface CardDeliveryOptions {
  readonly card: TaskCard | QueryCard;
  readonly journal: CardJournal;
  /** Where all tasks of the problem are, at roles that speak in cards; others would take it for a conversation. */
  readonly contextId: string;
  /** The task for which this is done. */
  readonly parentTaskId?: string | undefined;
  /** Stops the other role when it aborts; its reason is passed on. */
  readonly signal: AbortSignal;
  readonly deadlineMs?: number | undefined;
  /** Answers what the other role asks meanwhile. */
  readonly answerQuery: (query: QueryCard) => Promise<ResultCard>;
  readonly onTaskCreated?: ((taskId: string, client: A2AClient) => void) | undefined;
}

/** How often a role may ask about one task. */
const MAX_QUERIES = 16;

/** How long an agent may take to answer that a task was cancelled; by then nobody waits for it any more. */
const CANCEL_TIMEOUT_MS = 10_000;

/**
 * Brings a card to its recipient and its terminal reply back. Never rejects: what goes wrong is an error card. When it is
 * stopped, or the deadline passes, it cancels the task there, and says itself what became of it when nobody else does in time.
 */
export function deliverCard(options: CardDeliveryOptions): Promise<ResultCard | ErrorCard> {
  return new CardDelivery(options).run();
}

class CardDelivery {
  readonly #options: CardDeliveryOptions;
  readonly #streamAbort = new AbortController();
  readonly #createdTask = Promise.withResolvers<{ readonly remote: A2AClient; readonly taskId: string }>();
  readonly #traceparent: string;
  #transport: CardTransportInfo;
  #isSent = false;
  #isStopping = false;

  constructor(options: CardDeliveryOptions) {
    const { journal, contextId } = options;
    this.#options = options;
    this.#traceparent = createChildTraceparent(journal.envelope.traceparent);
    this.#transport = { context_id: contextId, traceparent: this.#traceparent };
  }

  async run(): Promise<ResultCard | ErrorCard> {
    const { card, journal, signal, deadlineMs } = this.#options;
    const { clock } = journal.runtime;
    const stopped = Promise.withResolvers<JsonObject>();
    const stopWith = (parameters: JsonObject): void => {
      this.#isStopping = true;
      stopped.resolve(parameters);
    };
    const onAbort = (): void => stopWith(getStopParameters(signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    const cancelTimer =
      deadlineMs === undefined
        ? undefined
        : clock.schedule(deadlineMs, () => stopWith({ reason: "timeout" }));
    try {
      if (signal.aborted) return this.#failUnsent();
      const exchange = this.#exchangeCards();
      const stop = stopped.promise.then((parameters) => this.#stopRecipient(exchange, parameters));
      // A talk that breaks because its task is being cancelled is no news.
      const exchangeOrStop = exchange.catch((error: unknown) =>
        this.#isStopping ? stop : createTransportErrorCard(error, card, journal),
      );
      const reply = await Promise.race([exchangeOrStop, stop]);
      // Also what could not be sent was to be.
      if (!this.#isSent) this.#recordSentCard(card);
      journal.recordReceived(reply, this.#transport, true);
      return reply;
    } finally {
      signal.removeEventListener("abort", onAbort);
      cancelTimer?.();
      // Nobody listens any more. Of a talk that has ended by itself there is nothing left to drop.
      if (this.#isStopping) this.#streamAbort.abort();
    }
  }

  /** Sends the card, answers what is asked, until there is a terminal reply. */
  async #exchangeCards(): Promise<ResultCard | ErrorCard> {
    const { card, journal } = this.#options;
    const client = await journal.runtime.clients.getClient(card.recipient);
    const canStream = client.card.capabilities.streaming === true;
    this.#transport = { ...this.#transport, method: canStream ? "SendStreamingMessage" : "SendMessage" };
    this.#recordSentCard(card);
    let answer = await this.#sendCard(client, card);
    for (let queries = 0; ; queries++) {
      const reply = parseReplyCard(answer, card, journal);
      if (reply.message_type !== "query") return reply;
      journal.recordReceived(reply, this.#transport, true);
      const taskId = "task" in answer ? answer.task.id : undefined;
      if (taskId === undefined || queries === MAX_QUERIES) {
        void this.#cancelTask({ reason: "queries" }).catch(() => {});
        const reason =
          taskId === undefined ? "without a task to answer to" : `more than ${MAX_QUERIES} times`;
        return createErrorReplyCard(card, journal, "protocol_violation", `${card.recipient} asked ${reason}`);
      }
      const result = await this.#options.answerQuery(reply);
      this.#recordSentCard(result);
      answer = await this.#sendCard(client, result, taskId);
    }
  }

  async #sendCard(client: A2AClient, card: MessageCard, taskId?: string): Promise<SendMessageResponse> {
    const supportsCards = supportsMessageCards(client.card.capabilities);
    const message = supportsCards ? this.#buildCardMessage(card, taskId) : buildTextMessage(card, taskId);
    const stream = client.stream(message, {
      headers: { traceparent: this.#traceparent },
      signal: this.#streamAbort.signal,
    });
    return await collect(this.#observeEvents(stream, client));
  }

  #buildCardMessage(
    card: MessageCard,
    taskId: string | undefined,
  ): Pick<Message, "parts"> & Partial<Message> {
    const { contextId, parentTaskId, journal } = this.#options;
    const { runId, relay, hops } = journal.envelope;
    const traceparent = this.#traceparent;
    const message: Pick<Message, "parts"> & Partial<Message> = {
      parts: toCardParts(card),
      contextId,
      extensions: [MESSAGE_CARD_EXTENSION_URI],
      metadata: encodeCardEnvelope({ runId: journal.runId || runId, relay, hops: hops + 1, traceparent }),
    };
    if (card.metadata.card_id !== undefined) message.messageId = card.metadata.card_id;
    if (taskId !== undefined) message.taskId = taskId;
    if (parentTaskId !== undefined) message.referenceTaskIds = [parentTaskId];
    return message;
  }

  /** Learns of the task and of relayed cards as they pass. */
  async *#observeEvents(
    stream: AsyncIterable<StreamResponse>,
    client: A2AClient,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const event of stream) {
      if ("task" in event) {
        this.#registerTask(event.task.id, event.task.contextId, client);
        for (const card of collectRelayedCards(event.task)) this.#recordRelayedCard(card);
      } else if ("statusUpdate" in event) {
        const { taskId, contextId, status } = event.statusUpdate;
        this.#registerTask(taskId, contextId, client);
        const relayed = isTerminal(status.state) || isInterrupted(status.state) || !status.message;
        const card = relayed ? undefined : findRelayedCard(status.message as Message);
        if (card) this.#recordRelayedCard(card);
      }
      yield event;
    }
  }

  #registerTask(task_id: string, context_id: string, client: A2AClient): void {
    if (this.#transport.task_id !== undefined) return;
    this.#transport = { ...this.#transport, task_id, context_id };
    this.#createdTask.resolve({ remote: client, taskId: task_id });
    this.#options.onTaskCreated?.(task_id, client);
  }

  #recordRelayedCard(card: MessageCard): void {
    this.#options.journal.recordRelayed(card, this.#transport);
  }

  #recordSentCard(card: MessageCard): void {
    this.#isSent = true;
    const message_id = card.metadata.card_id;
    this.#options.journal.recordSent(card, { ...this.#transport, ...omitUndefined({ message_id }) }, true);
  }

  /** It was stopped before it began. */
  #failUnsent(): ErrorCard {
    const { card, journal } = this.#options;
    this.#recordSentCard(card);
    const reply = createErrorReplyCard(
      card,
      journal,
      "cancelled",
      `${card.recipient} was not asked any more`,
    );
    journal.recordReceived(reply, this.#transport, true);
    return reply;
  }

  /** Cancels, and waits for what the other says to it, but no longer than there is time for. */
  async #stopRecipient(
    exchange: Promise<ResultCard | ErrorCard>,
    parameters: JsonObject,
  ): Promise<ResultCard | ErrorCard> {
    const { card, journal } = this.#options;
    const { clock } = journal.runtime;
    const graceMs = computeGracePeriods(journal.runtime, parameters).forOthersMs;
    const graceExpired = Promise.withResolvers<undefined>();
    const cancelTimer = clock.schedule(graceMs, () => graceExpired.resolve(undefined));
    // Of a task that waited for an answer, the talk hears nothing more.
    const terminalReply = Promise.any([exchange, this.#cancelTask({ ...parameters, grace_ms: graceMs })]);
    const reply = await Promise.race([terminalReply.catch(() => undefined), graceExpired.promise]);
    cancelTimer();
    if (reply && !isSyntheticCancellation(reply)) return reply;
    const text = reply?.content ?? `${card.recipient} was stopped and did not answer within ${graceMs} ms`;
    const timedOut = isTimeout(parameters);
    return createErrorReplyCard(card, journal, timedOut ? "timeout" : "cancelled", text, timedOut);
  }

  /** The reply that the cancelled task has; rejects when it cannot be cancelled, or has none. */
  async #cancelTask(parameters: JsonObject): Promise<ResultCard | ErrorCard> {
    const { card, journal } = this.#options;
    const { remote: client, taskId } = await this.#createdTask.promise;
    const stop = this.#buildStopCard(parameters);
    if (stop) journal.recordSent(stop, { ...this.#transport, method: "CancelTask" }, true);
    const abortController = new AbortController();
    const cancelTimer = journal.runtime.clock.schedule(CANCEL_TIMEOUT_MS, () => abortController.abort());
    try {
      const task = await client.tasks.cancel(taskId, {
        signal: abortController.signal,
        ...(stop ? { metadata: encodeCardInMetadata(stop) } : {}),
      });
      for (const relayed of collectRelayedCards(task)) this.#recordRelayedCard(relayed);
      const reply = parseReplyCard({ task }, card, journal);
      if (reply.message_type !== "query") return reply;
      throw new Error(`${card.recipient} still waits for an answer`);
    } finally {
      cancelTimer();
    }
  }

  /** No card where the protocol has no way for one: the task is cancelled without a word. */
  #buildStopCard(parameters: JsonObject): MessageCard | undefined {
    const { card, journal } = this.#options;
    try {
      return journal.createControlCard(card.recipient, "stop", parameters);
    } catch (error) {
      if (error instanceof A2AError) return undefined;
      throw error;
    }
  }
}

/** A cancellation that its agent said nothing of, in a card at least. */
function isSyntheticCancellation({ metadata }: ResultCard | ErrorCard): boolean {
  return metadata["error_type"] === "cancelled" && "written_by" in metadata;
}

/** For agents that know nothing of cards: the content, and what else they need to know. */
function buildTextMessage(
  card: MessageCard,
  taskId: string | undefined,
): Pick<Message, "parts"> & Partial<Message> {
  const context = "context" in card.metadata ? card.metadata["context"] : undefined;
  const text =
    context === undefined ? card.content : `${card.content}\n\nContext: ${JSON.stringify(context)}`;
  return { parts: [{ text }], ...(taskId === undefined ? {} : { taskId }) };
}

function createTransportErrorCard(error: unknown, card: MessageCard, journal: CardJournal): ErrorCard {
  const { reason } = A2AError.from(error);
  // A task that is not there any more was forgotten by a server that was restarted.
  const retryable =
    reason === "UNAVAILABLE" || reason === "RESOURCE_EXHAUSTED" || reason === "TASK_NOT_FOUND";
  const why = `${card.recipient} could not be asked: ${formatError(error)}`;
  return createErrorReplyCard(card, journal, "transport_error", why, retryable);
}
