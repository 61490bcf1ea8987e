import { createParser } from "eventsource-parser";
import { A2AError } from "../protocol/index.ts";

/** Encodes a server-sent event. `data` must be a single line, for example JSON text. */
export function encodeSseFrame(data: string, id?: number): string {
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`;
}

/** Encodes a server-sent event with an event name, for events of another kind than the rest of the stream. */
export function encodeNamedSseFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** An SSE comment that is sent as a heartbeat while a stream has no events. */
export const SSE_HEARTBEAT = ": keep-alive\n\n";

/** A server-sent event as parsed from a stream. */
export interface SseEvent {
  id?: string;
  event?: string;
  data: string;
}

/** Limits for parsing a stream of server-sent events. */
export interface SseLimits {
  /**
   * Maximum size of one event, in UTF-16 code units of its text. A larger event ends the stream with
   * `INVALID_AGENT_RESPONSE`. Default: 16 Mi.
   */
  maxEventBytes?: number;
}

const MAX_EVENT_BYTES = 16 * 2 ** 20;

/**
 * Parses a byte stream into server-sent events. The stream may be split at any byte. An event without its
 * closing blank line is discarded, because the connection was cut and the server sends the event again. The
 * iterator owns the byte stream: returning early cancels it.
 */
export async function* parseSse(
  stream: AsyncIterable<Uint8Array>,
  { maxEventBytes = MAX_EVENT_BYTES }: SseLimits = {},
): AsyncGenerator<SseEvent, void, undefined> {
  let ready: SseEvent[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ id, event: name, data }) => {
      const event: SseEvent = { data };
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
