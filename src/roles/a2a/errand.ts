import { collect, type Remote } from "../../client/index.ts";
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
  type Card,
  CARD_EXTENSION,
  type CardCarrier,
  type ErrorCard,
  type QueryCard,
  type ResultCard,
  speaksCards,
  type TaskCard,
  toCardParts,
} from "../../cards/index.ts";
import { nextTraceparent, toCardMetadata, toEnvelopeMetadata } from "../../cards/index.ts";
import type { Correspondence } from "./correspondence.ts";
import { errorFor, replyIn, toldBy, toldIn } from "./reply.ts";
import { defined } from "./defined.ts";
import { errorText } from "./error-text.ts";
import { graceOf, isTimeout, parametersOf } from "./stopping.ts";

/** A card that is to be brought to another role, and its reply back. */
export interface ErrandOptions {
  readonly card: TaskCard | QueryCard;
  readonly cards: Correspondence;
  /** Where all tasks of the problem are, at roles that speak in cards; others would take it for a conversation. */
  readonly contextId: string;
  /** The task for which this is done. */
  readonly forTaskId?: string | undefined;
  /** Stops the other role when it aborts; its reason is passed on. */
  readonly signal: AbortSignal;
  readonly deadlineMs?: number | undefined;
  /** Answers what the other role asks meanwhile. */
  readonly answer: (query: QueryCard) => Promise<ResultCard>;
  readonly onTask?: ((taskId: string, remote: Remote) => void) | undefined;
}

/** How often a role may ask about one task. */
const MAX_QUERIES = 16;

/** How long an agent may take to answer that a task was cancelled; by then nobody waits for it any more. */
const CANCEL_MS = 10_000;

/**
 * Brings a card to its recipient and its terminal reply back. Never rejects: what goes wrong is an error card. When it is
 * stopped, or the deadline passes, it cancels the task there, and says itself what became of it when nobody else does in time.
 */
export function runErrand(options: ErrandOptions): Promise<ResultCard | ErrorCard> {
  return new Errand(options).run();
}

class Errand {
  readonly #options: ErrandOptions;
  readonly #drop = new AbortController();
  readonly #task = Promise.withResolvers<{ readonly remote: Remote; readonly taskId: string }>();
  readonly #traceparent: string;
  #carrier: CardCarrier;
  #isSent = false;
  #isStopping = false;

  constructor(options: ErrandOptions) {
    const { cards, contextId } = options;
    this.#options = options;
    this.#traceparent = nextTraceparent(cards.envelope.traceparent);
    this.#carrier = { context_id: contextId, traceparent: this.#traceparent };
  }

  async run(): Promise<ResultCard | ErrorCard> {
    const { card, cards, signal, deadlineMs } = this.#options;
    const { clock } = cards.office;
    const stopped = Promise.withResolvers<JsonObject>();
    const stopWith = (parameters: JsonObject): void => {
      this.#isStopping = true;
      stopped.resolve(parameters);
    };
    const onAbort = (): void => stopWith(parametersOf(signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    const forget =
      deadlineMs === undefined ? undefined : clock.after(deadlineMs, () => stopWith({ reason: "timeout" }));
    try {
      if (signal.aborted) return this.#neverSent();
      const talk = this.#talk();
      const stop = stopped.promise.then((parameters) => this.#stop(talk, parameters));
      // A talk that breaks because its task is being cancelled is no news.
      const talked = talk.catch((error: unknown) =>
        this.#isStopping ? stop : transportError(error, card, cards),
      );
      const reply = await Promise.race([talked, stop]);
      // Also what could not be sent was to be.
      if (!this.#isSent) this.#sent(card);
      cards.received(reply, this.#carrier, true);
      return reply;
    } finally {
      signal.removeEventListener("abort", onAbort);
      forget?.();
      // Nobody listens any more. Of a talk that has ended by itself there is nothing left to drop.
      if (this.#isStopping) this.#drop.abort();
    }
  }

  /** Sends the card, answers what is asked, until there is a terminal reply. */
  async #talk(): Promise<ResultCard | ErrorCard> {
    const { card, cards } = this.#options;
    const remote = await cards.office.links.to(card.recipient);
    const streams = remote.card.capabilities.streaming === true;
    this.#carrier = { ...this.#carrier, method: streams ? "SendStreamingMessage" : "SendMessage" };
    this.#sent(card);
    let answer = await this.#send(remote, card);
    for (let queries = 0; ; queries++) {
      const reply = replyIn(answer, card, cards);
      if (reply.message_type !== "query") return reply;
      cards.received(reply, this.#carrier, true);
      const taskId = "task" in answer ? answer.task.id : undefined;
      if (taskId === undefined || queries === MAX_QUERIES) {
        void this.#cancel({ reason: "queries" }).catch(() => {});
        const why = taskId === undefined ? "without a task to answer to" : `more than ${MAX_QUERIES} times`;
        return errorFor(card, cards, "protocol_violation", `${card.recipient} asked ${why}`);
      }
      const result = await this.#options.answer(reply);
      this.#sent(result);
      answer = await this.#send(remote, result, taskId);
    }
  }

  async #send(remote: Remote, card: Card, taskId?: string): Promise<SendMessageResponse> {
    const speaks = speaksCards(remote.card.capabilities);
    const message = speaks ? this.#inCards(card, taskId) : inWords(card, taskId);
    const stream = remote.stream(message, {
      headers: { traceparent: this.#traceparent },
      signal: this.#drop.signal,
    });
    return await collect(this.#watch(stream, remote));
  }

  #inCards(card: Card, taskId: string | undefined): Pick<Message, "parts"> & Partial<Message> {
    const { contextId, forTaskId, cards } = this.#options;
    const { runId, relay, hops } = cards.envelope;
    const traceparent = this.#traceparent;
    const message: Pick<Message, "parts"> & Partial<Message> = {
      parts: toCardParts(card),
      contextId,
      extensions: [CARD_EXTENSION],
      metadata: toEnvelopeMetadata({ runId: cards.runId || runId, relay, hops: hops + 1, traceparent }),
    };
    if (card.metadata.card_id !== undefined) message.messageId = card.metadata.card_id;
    if (taskId !== undefined) message.taskId = taskId;
    if (forTaskId !== undefined) message.referenceTaskIds = [forTaskId];
    return message;
  }

  /** Learns of the task and of relayed cards as they pass. */
  async *#watch(
    stream: AsyncIterable<StreamResponse>,
    remote: Remote,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const event of stream) {
      if ("task" in event) {
        this.#begun(event.task.id, event.task.contextId, remote);
        for (const card of toldIn(event.task)) this.#told(card);
      } else if ("statusUpdate" in event) {
        const { taskId, contextId, status } = event.statusUpdate;
        this.#begun(taskId, contextId, remote);
        const told = isTerminal(status.state) || isInterrupted(status.state) || !status.message;
        const card = told ? undefined : toldBy(status.message as Message);
        if (card) this.#told(card);
      }
      yield event;
    }
  }

  #begun(task_id: string, context_id: string, remote: Remote): void {
    if (this.#carrier.task_id !== undefined) return;
    this.#carrier = { ...this.#carrier, task_id, context_id };
    this.#task.resolve({ remote, taskId: task_id });
    this.#options.onTask?.(task_id, remote);
  }

  #told(card: Card): void {
    this.#options.cards.relayed(card, this.#carrier);
  }

  #sent(card: Card): void {
    this.#isSent = true;
    const message_id = card.metadata.card_id;
    this.#options.cards.sent(card, { ...this.#carrier, ...defined({ message_id }) }, true);
  }

  /** It was stopped before it began. */
  #neverSent(): ErrorCard {
    const { card, cards } = this.#options;
    this.#sent(card);
    const reply = errorFor(card, cards, "cancelled", `${card.recipient} was not asked any more`);
    cards.received(reply, this.#carrier, true);
    return reply;
  }

  /** Cancels, and waits for what the other says to it, but no longer than there is time for. */
  async #stop(
    talk: Promise<ResultCard | ErrorCard>,
    parameters: JsonObject,
  ): Promise<ResultCard | ErrorCard> {
    const { card, cards } = this.#options;
    const { clock } = cards.office;
    const graceMs = graceOf(cards.office, parameters).forOthersMs;
    const timeUp = Promise.withResolvers<undefined>();
    const forget = clock.after(graceMs, () => timeUp.resolve(undefined));
    // Of a task that waited for an answer, the talk hears nothing more.
    const heard = Promise.any([talk, this.#cancel({ ...parameters, grace_ms: graceMs })]);
    const reply = await Promise.race([heard.catch(() => undefined), timeUp.promise]);
    forget();
    if (reply && !isUntold(reply)) return reply;
    const text = reply?.content ?? `${card.recipient} was stopped and did not answer within ${graceMs} ms`;
    const timedOut = isTimeout(parameters);
    return errorFor(card, cards, timedOut ? "timeout" : "cancelled", text, timedOut);
  }

  /** The reply that the cancelled task has; rejects when it cannot be cancelled, or has none. */
  async #cancel(parameters: JsonObject): Promise<ResultCard | ErrorCard> {
    const { card, cards } = this.#options;
    const { remote, taskId } = await this.#task.promise;
    const stop = this.#stopCard(parameters);
    if (stop) cards.sent(stop, { ...this.#carrier, method: "CancelTask" }, true);
    const hangUp = new AbortController();
    const forget = cards.office.clock.after(CANCEL_MS, () => hangUp.abort());
    try {
      const task = await remote.task.cancel(taskId, {
        signal: hangUp.signal,
        ...(stop ? { metadata: toCardMetadata(stop) } : {}),
      });
      for (const told of toldIn(task)) this.#told(told);
      const reply = replyIn({ task }, card, cards);
      if (reply.message_type !== "query") return reply;
      throw new Error(`${card.recipient} still waits for an answer`);
    } finally {
      forget();
    }
  }

  /** No card where the protocol has no way for one: the task is cancelled without a word. */
  #stopCard(parameters: JsonObject): Card | undefined {
    const { card, cards } = this.#options;
    try {
      return cards.control(card.recipient, "stop", parameters);
    } catch (error) {
      if (error instanceof A2AError) return undefined;
      throw error;
    }
  }
}

/** A cancellation that its agent said nothing of, in a card at least. */
function isUntold({ metadata }: ResultCard | ErrorCard): boolean {
  return metadata["error_type"] === "cancelled" && "written_by" in metadata;
}

/** For agents that know nothing of cards: the content, and what else they need to know. */
function inWords(card: Card, taskId: string | undefined): Pick<Message, "parts"> & Partial<Message> {
  const context = "context" in card.metadata ? card.metadata["context"] : undefined;
  const text =
    context === undefined ? card.content : `${card.content}\n\nContext: ${JSON.stringify(context)}`;
  return { parts: [{ text }], ...(taskId === undefined ? {} : { taskId }) };
}

function transportError(error: unknown, card: Card, cards: Correspondence): ErrorCard {
  const { reason } = A2AError.from(error);
  // A task that is not there any more was forgotten by a server that was restarted.
  const retryable =
    reason === "UNAVAILABLE" || reason === "RESOURCE_EXHAUSTED" || reason === "TASK_NOT_FOUND";
  const why = `${card.recipient} could not be asked: ${errorText(error)}`;
  return errorFor(card, cards, "transport_error", why, retryable);
}
