import { SwapRemoveSet, type SwapRemoveSetItem } from "../../base/data-structures/index.ts";
import { type StreamInterruption, type Subscription, systemClock } from "../../engine/index.ts";
import { A2AError, isStreamingOperation, type LogEvent, type OperationName } from "../../protocol/index.ts";
import { EVENT_STREAM_HEADERS, SSE_HEARTBEAT, type OperationCodec } from "../../wire/index.ts";
import type { HttpReply, ResponseSink } from "../http-exchange.ts";

/** Encodes the events of a stream for a protocol binding. */
export interface EventStreamEncoder {
  encodeEvent(event: LogEvent): string;
  encodeFailure(error: A2AError): string;
  /** Encodes the end of a complete stream after its last event. By default, the stream ends without a final text. */
  encodeEnd?(lastEvent: LogEvent): string;
  /**
   * Returns true if the event is the last event of the stream. The task can continue after the end of the
   * stream.
   */
  isLastEvent?(event: LogEvent): boolean;
}

/**
 * Returns a function that recognizes the last event of a stream. The last event depends on the protocol
 * version and the operation.
 */
export function createLastEventMatcher(
  { isLastEvent }: OperationCodec,
  operation: OperationName,
): Pick<EventStreamEncoder, "isLastEvent"> {
  return isLastEvent && isStreamingOperation(operation)
    ? { isLastEvent: (event) => isLastEvent(event, operation) }
    : {};
}

/**
 * Function that converts an error to an `A2AError` for the caller, and reports internal errors to the
 * observer.
 */
export type UnknownToA2AErrorConverter = (where: string, error: unknown) => A2AError;

/** Number of characters of one write, unless a single event is longer. A client that never reads holds one write. */
const MAX_CHUNK_LENGTH = 64 * 1024;

/** The open event streams of a server, with a timer that sends heartbeats on idle streams. */
export class EventStreamRegistry {
  readonly #heartbeatMs: number;
  readonly #reportError: UnknownToA2AErrorConverter;
  readonly #openStreams = new SwapRemoveSet<EventStream>();
  #heartbeatTimer: NodeJS.Timeout | undefined;

  constructor(heartbeatMs: number, reportError: UnknownToA2AErrorConverter) {
    this.#heartbeatMs = heartbeatMs;
    this.#reportError = reportError;
  }

  /**
   * Creates an HTTP reply that streams the events of a subscription. The reply contains both `headers` and
   * `EVENT_STREAM_HEADERS`.
   */
  createSseHttpReply(
    subscription: Subscription,
    encoder: EventStreamEncoder,
    headers: Readonly<Record<string, string>> = {},
  ): HttpReply {
    return {
      status: 200,
      headers: { ...EVENT_STREAM_HEADERS, ...headers },
      body: (sink) => {
        const stream = new EventStream(subscription, encoder, sink, this.#reportError);
        this.#openStreams.add(stream);
        this.#startHeartbeat();
        sink.onClose((interruption) => {
          subscription.close(interruption);
          this.#openStreams.delete(stream);
        });
        void stream.writeEvents();
      },
    };
  }

  get openStreamCount(): number {
    return this.#openStreams.size;
  }

  /** Ends every event stream, but never in the middle of an event. Clients are expected to reconnect. */
  closeAll(): void {
    clearInterval(this.#heartbeatTimer);
    for (const stream of this.#openStreams.toArray()) stream.close();
  }

  /**
   * Starts the heartbeat timer of all streams. The timer runs four times per heartbeat interval. A heartbeat
   * is therefore late by at most a quarter of the interval.
   */
  #startHeartbeat(): void {
    if (this.#heartbeatTimer || this.#heartbeatMs <= 0) return;
    this.#heartbeatTimer = setInterval(() => {
      if (this.#openStreams.size === 0) {
        clearInterval(this.#heartbeatTimer);
        this.#heartbeatTimer = undefined;
      }
      for (const stream of this.#openStreams.toArray())
        stream.sendHeartbeatIfIdle(systemClock.monotonic() - this.#heartbeatMs);
    }, this.#heartbeatMs / 4);
    // Timers of browsers and workers are numbers.
    this.#heartbeatTimer.unref?.();
  }
}

/** Writes the events of a subscription as server-sent events, as fast as the client reads them. */
class EventStream implements SwapRemoveSetItem {
  slot = -1;
  readonly #subscription: Subscription;
  readonly #encoder: EventStreamEncoder;
  readonly #sink: ResponseSink;
  readonly #reportError: UnknownToA2AErrorConverter;
  /** Monotonic time of the last write, in milliseconds. */
  #lastWriteAt = systemClock.monotonic();
  #isWaitingForDrain = false;

  constructor(
    subscription: Subscription,
    encoder: EventStreamEncoder,
    sink: ResponseSink,
    reportError: UnknownToA2AErrorConverter,
  ) {
    this.#subscription = subscription;
    this.#encoder = encoder;
    this.#sink = sink;
    this.#reportError = reportError;
  }

  async writeEvents(): Promise<void> {
    let lastEvent: LogEvent | undefined;
    let text = "";
    try {
      for (;;) {
        const next = this.#subscription.next();
        // Without a promise, the events of one turn of the event loop need no further turn.
        const events = next instanceof Promise ? await next : next;
        if (!events) break;
        lastEvent = events.at(-1);
        // One write sends the events that are ready, up to `MAX_CHUNK_LENGTH`.
        let isOver = false;
        for (const event of events) {
          text += this.#encoder.encodeEvent(event);
          isOver = this.#encoder.isLastEvent?.(event) ?? false;
          if (isOver) break;
          if (text.length < MAX_CHUNK_LENGTH) continue;
          const chunk = text;
          text = "";
          await this.#writeAndDrain(chunk);
        }
        if (isOver) {
          this.#sink.end(text);
          return;
        }
        // The last events and the end of the response are one write.
        if (text === "" || this.#subscription.isComplete) continue;
        const chunk = text;
        text = "";
        const drained = this.#writeAndDrain(chunk);
        if (drained) await drained;
      }
      if (!this.#subscription.isComplete) throw createStreamInterruptedError();
      if (lastEvent && this.#encoder.encodeEnd) text += this.#encoder.encodeEnd(lastEvent);
    } catch (error) {
      const failure = this.#reportError("stream", error);
      this.#subscription.close({ reason: "cut", error: failure.reason });
      text += this.#encoder.encodeFailure(failure);
    }
    this.#sink.end(text);
  }

  /**
   * Sends an SSE comment if the stream has been idle since the monotonic time `before`. Sends nothing while a
   * write is waiting for the client.
   */
  sendHeartbeatIfIdle(before: number): void {
    if (this.#lastWriteAt <= before && !this.#isWaitingForDrain) void this.#write(SSE_HEARTBEAT);
  }

  /** Ends the stream with an error event. The client therefore recognizes that the task has not ended. */
  close(): void {
    this.#subscription.close(SERVER_CLOSED_STREAM);
  }

  /** Writes a chunk and waits for the client. Throws RESOURCE_EXHAUSTED if the chunk exceeds the holder's share. */
  #writeAndDrain(text: string): Promise<void> | undefined {
    const refusal = text.length < MAX_CHUNK_LENGTH ? undefined : this.#sink.reserve(text.length);
    if (refusal) throw refusal;
    const drained = this.#write(text);
    if (!drained) return undefined;
    this.#isWaitingForDrain = true;
    return drained.finally(() => {
      this.#isWaitingForDrain = false;
    });
  }

  #write(text: string): Promise<void> | undefined {
    this.#lastWriteAt = systemClock.monotonic();
    return this.#sink.write(text);
  }
}

/** The server closes a stream before its last event, because the server stops. */
export const SERVER_CLOSED_STREAM: StreamInterruption = {
  reason: "cut",
  error: "The server closed the stream.",
};

/** Creates the error for a stream that the server closes before the task ends. */
export function createStreamInterruptedError(): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    "The server closed the stream before the task ended; subscribe again with Last-Event-ID.",
  );
}
