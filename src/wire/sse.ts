import { createParser } from "eventsource-parser";
import { A2AError } from "../protocol/index.ts";

/**
 * HTTP headers of a stream of server-sent events (A2A §9.4.2). The headers `cache-control` and `x-accel-buffering`
 * prevent proxies from buffering events.
 */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/** Encodes a server-sent event. The parameter `data` must be a single line of text, for example JSON. */
export function encodeSseFrame(data: string, id?: number): string {
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`;
}

/**
 * Encodes a server-sent event with an event name.
 */
export function encodeNamedSseFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** An SSE comment that the server sends as a heartbeat while a stream has no events. */
export const SSE_HEARTBEAT = ": keep-alive\n\n";

/** A server-sent event that was parsed from a stream. */
export interface ParsedSseEvent {
  id?: string;
  event?: string;
  data: string;
}

/** Limits that apply when a stream of server-sent events is parsed. */
export interface SseLimits {
  /**
   * Maximum size of one event in UTF-16 code units. If an event is larger, the stream ends with
   * `INVALID_AGENT_RESPONSE`. Default: 16 Mi.
   */
  maxEventBytes?: number;
}

const MAX_EVENT_BYTES = 16 * 2 ** 20;

/**
 * Parses a byte stream into server-sent events. The byte stream may be split at any byte. The parser
 * discards an incomplete event at the end of the stream. After a reconnection, the server sends the event
 * again. If the consumer returns early, the iterator cancels the byte stream.
 */
export async function* parseSse(
  stream: AsyncIterable<Uint8Array>,
  { maxEventBytes = MAX_EVENT_BYTES }: SseLimits = {},
): AsyncGenerator<ParsedSseEvent, void, undefined> {
  let ready: ParsedSseEvent[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ id, event: name, data }) => {
      const event: ParsedSseEvent = { data };
      if (id !== undefined) event.id = id;
      if (name !== undefined) event.event = name;
      ready.push(event);
    },
    onError: (error) => {
      // Other parse errors are ignored, for example unknown fields.
      if (error.type === "max-buffer-size-exceeded") failure = error;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    const events = ready;
    ready = [];
    yield* events;
    if (failure) {
      throw new A2AError(
        "INVALID_AGENT_RESPONSE",
        `The agent sent an event of more than ${maxEventBytes} bytes; raise maxEventBytes if events may be larger.`,
        { cause: failure },
      );
    }
  }
}
