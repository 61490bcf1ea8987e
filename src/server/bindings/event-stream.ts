import { Bag, type Bagged } from "../../base/index.ts";
import type { Subscription } from "../../engine/index.ts";
import { A2AError, isStreaming, type LogEvent, type OperationName } from "../../protocol/index.ts";
import { HEARTBEAT, type Codec } from "../../wire/index.ts";
import type { HttpReply, Sink } from "../exchange.ts";

/** How a binding writes a stream's events. */
export interface Framing {
  frame(event: LogEvent): string;
  failure(error: A2AError): string;
  /** True for an event behind which the stream ends, however the task goes on. */
  isLast?(event: LogEvent): boolean;
}

/** Where the streams of an operation end, as a version has it. */
export function endOf({ isLast }: Codec, operation: OperationName): Pick<Framing, "isLast"> {
  return isLast && isStreaming(operation) ? { isLast: (event) => isLast(event, operation) } : {};
}

/** What a caller is told of an error; the observer is told of one that is none of the caller's. */
export type Told = (where: string, error: unknown) => A2AError;

/** A2A §9.4.2; the last two keep proxies from holding events back. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  connection: "keep-alive",
  "x-accel-buffering": "no",
};

/** Open event streams of a server, and the clock that keeps silent ones alive. */
export class EventStreams {
  readonly #heartbeatMs: number;
  readonly #told: Told;
  readonly #open = new Bag<EventStream>();
  #timer: NodeJS.Timeout | undefined;

  constructor(heartbeatMs: number, told: Told) {
    this.#heartbeatMs = heartbeatMs;
    this.#told = told;
  }

  /** The answer that streams a subscription; `headers` beside those that every stream has. */
  reply(subscription: Subscription, framing: Framing, headers: Readonly<Record<string, string>>): HttpReply {
    return {
      status: 200,
      headers: { ...STREAM_HEADERS, ...headers },
      body: (sink) => {
        const stream = new EventStream(subscription, framing, sink, this.#told);
        this.#open.add(stream);
        this.#beat();
        sink.onClose(() => {
          subscription.close();
          this.#open.delete(stream);
        });
        void stream.pump();
      },
    };
  }

  /** Ends every stream between two events; their clients reconnect. */
  close(): void {
    clearInterval(this.#timer);
    for (const stream of this.#open.all()) stream.close();
  }

  /** One timer for all streams; it looks a few times per heartbeat, so that none is silent much longer than that. */
  #beat(): void {
    if (this.#timer || this.#heartbeatMs <= 0) return;
    this.#timer = setInterval(() => {
      if (this.#open.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
      for (const stream of this.#open.all()) stream.beat(Date.now() - this.#heartbeatMs);
    }, this.#heartbeatMs / 4);
    this.#timer.unref();
  }
}

/** The read line's end: writes a subscription's events as server-sent events, as fast as the client takes them. */
class EventStream implements Bagged {
  slot = -1;
  readonly #subscription: Subscription;
  readonly #framing: Framing;
  readonly #sink: Sink;
  readonly #told: Told;
  #lastWrite = Date.now();
  #waiting = false;

  constructor(subscription: Subscription, framing: Framing, sink: Sink, told: Told) {
    this.#subscription = subscription;
    this.#framing = framing;
    this.#sink = sink;
    this.#told = told;
  }

  async pump(): Promise<void> {
    try {
      for (;;) {
        const events = await this.#subscription.next();
        if (!events) break;
        // All that is ready goes out in one write.
        let text = "";
        let isOver = false;
        for (const event of events) {
          text += this.#framing.frame(event);
          isOver = this.#framing.isLast?.(event) ?? false;
          if (isOver) break;
        }
        const room = this.#write(text);
        if (room) {
          this.#waiting = true;
          await room;
          this.#waiting = false;
        }
        if (isOver) {
          this.#sink.end();
          return;
        }
      }
      if (!this.#subscription.complete) throw cut();
    } catch (error) {
      void this.#write(this.#framing.failure(this.#told("stream", error)));
    }
    this.#sink.end();
  }

  /** Writes a comment when nothing was written since `before` (milliseconds since 1970) and the client is not slow. */
  beat(before: number): void {
    if (this.#lastWrite <= before && !this.#waiting) void this.#write(HEARTBEAT);
  }

  /** Ends the stream between two events and says that it is cut, so that nobody takes this for the task's end. */
  close(): void {
    this.#subscription.close();
  }

  #write(text: string): Promise<void> | undefined {
    this.#lastWrite = Date.now();
    return this.#sink.write(text);
  }
}

/** What a client is told whose stream was ended between two events. */
export function cut(): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    "The server ended the stream before its end; subscribe again with Last-Event-ID.",
  );
}
