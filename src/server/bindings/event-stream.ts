import { Bag, type BagItem } from "../../data-structures/index.ts";
import type { Subscription } from "../../engine/index.ts";
import { A2AError, isStreamingOperation, type LogEvent, type OperationName } from "../../protocol/index.ts";
import { SSE_HEARTBEAT, type OperationCodec } from "../../wire/index.ts";
import type { HttpReply, ResponseSink } from "../http-exchange.ts";

/** How a binding writes a stream's events. */
export interface EventStreamEncoder {
  encodeEvent(event: LogEvent): string;
  encodeFailure(error: A2AError): string;
  /** True for an event behind which the stream ends, however the task goes on. */
  isLastEvent?(event: LogEvent): boolean;
}

/** Where the streams of an operation end, as a version has it. */
export function createEndCondition(
  { isLastEvent: isLast }: OperationCodec,
  operation: OperationName,
): Pick<EventStreamEncoder, "isLastEvent"> {
  return isLast && isStreamingOperation(operation)
    ? { isLastEvent: (event) => isLast(event, operation) }
    : {};
}

/** What a caller is told of an error; the observer is told of one that is none of the caller's. */
export type ErrorReporter = (where: string, error: unknown) => A2AError;

/** A2A §9.4.2; the last two keep proxies from holding events back. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  connection: "keep-alive",
  "x-accel-buffering": "no",
};

/** Open event streams of a server, and the clock that keeps silent ones alive. */
export class EventStreamRegistry {
  readonly #heartbeatMs: number;
  readonly #reportError: ErrorReporter;
  readonly #openStreams = new Bag<EventStream>();
  #heartbeatTimer: NodeJS.Timeout | undefined;

  constructor(heartbeatMs: number, told: ErrorReporter) {
    this.#heartbeatMs = heartbeatMs;
    this.#reportError = told;
  }

  /** The answer that streams a subscription; `headers` beside those that every stream has. */
  createReply(
    subscription: Subscription,
    framing: EventStreamEncoder,
    headers: Readonly<Record<string, string>>,
  ): HttpReply {
    return {
      status: 200,
      headers: { ...EVENT_STREAM_HEADERS, ...headers },
      body: (sink) => {
        const stream = new EventStream(subscription, framing, sink, this.#reportError);
        this.#openStreams.add(stream);
        this.#startHeartbeat();
        sink.onClose(() => {
          subscription.close();
          this.#openStreams.delete(stream);
        });
        void stream.writeEvents();
      },
    };
  }

  /** Ends every stream between two events; their clients reconnect. */
  closeAll(): void {
    clearInterval(this.#heartbeatTimer);
    for (const stream of this.#openStreams.toArray()) stream.close();
  }

  /** One timer for all streams; it looks a few times per heartbeat, so that none is silent much longer than that. */
  #startHeartbeat(): void {
    if (this.#heartbeatTimer || this.#heartbeatMs <= 0) return;
    this.#heartbeatTimer = setInterval(() => {
      if (this.#openStreams.size === 0) {
        clearInterval(this.#heartbeatTimer);
        this.#heartbeatTimer = undefined;
      }
      for (const stream of this.#openStreams.toArray())
        stream.sendHeartbeatIfIdle(Date.now() - this.#heartbeatMs);
    }, this.#heartbeatMs / 4);
    this.#heartbeatTimer.unref();
  }
}

/** The read line's end: writes a subscription's events as server-sent events, as fast as the client takes them. */
class EventStream implements BagItem {
  slot = -1;
  readonly #subscription: Subscription;
  readonly #encoder: EventStreamEncoder;
  readonly #sink: ResponseSink;
  readonly #reportError: ErrorReporter;
  #lastWriteAt = Date.now();
  #isWaitingForDrain = false;

  constructor(
    subscription: Subscription,
    framing: EventStreamEncoder,
    sink: ResponseSink,
    told: ErrorReporter,
  ) {
    this.#subscription = subscription;
    this.#encoder = framing;
    this.#sink = sink;
    this.#reportError = told;
  }

  async writeEvents(): Promise<void> {
    try {
      for (;;) {
        const events = await this.#subscription.next();
        if (!events) break;
        // All that is ready goes out in one write.
        let text = "";
        let isOver = false;
        for (const event of events) {
          text += this.#encoder.encodeEvent(event);
          isOver = this.#encoder.isLastEvent?.(event) ?? false;
          if (isOver) break;
        }
        const room = this.#write(text);
        if (room) {
          this.#isWaitingForDrain = true;
          await room;
          this.#isWaitingForDrain = false;
        }
        if (isOver) {
          this.#sink.end();
          return;
        }
      }
      if (!this.#subscription.isComplete) throw createStreamInterruptedError();
    } catch (error) {
      void this.#write(this.#encoder.encodeFailure(this.#reportError("stream", error)));
    }
    this.#sink.end();
  }

  /** Writes a comment when nothing was written since `before` (milliseconds since 1970) and the client is not slow. */
  sendHeartbeatIfIdle(before: number): void {
    if (this.#lastWriteAt <= before && !this.#isWaitingForDrain) void this.#write(SSE_HEARTBEAT);
  }

  /** Ends the stream between two events and says that it is cut, so that nobody takes this for the task's end. */
  close(): void {
    this.#subscription.close();
  }

  #write(text: string): Promise<void> | undefined {
    this.#lastWriteAt = Date.now();
    return this.#sink.write(text);
  }
}

/** What a client is told whose stream was ended between two events. */
export function createStreamInterruptedError(): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    "The server ended the stream before its end; subscribe again with Last-Event-ID.",
  );
}
