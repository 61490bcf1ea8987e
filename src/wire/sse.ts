import { createParser } from "eventsource-parser";
import { A2AError } from "../protocol/index.ts";

/** One server-sent event. `data` must be one line, as JSON text is. */
export function encodeSseFrame(data: string, id?: number): string {
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`;
}

/** A server-sent event of another kind than the rest of its stream. */
export function encodeNamedSseFrame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

/** A comment, so that a silent stream is known to be alive. */
export const SSE_HEARTBEAT = ": keep-alive\n\n";

export interface SseEvent {
  id?: string;
  event?: string;
  data: string;
}

export interface SseLimits {
  /** A single event larger than that (in UTF-16 units of its text) ends the stream with INVALID_AGENT_RESPONSE. */
  maxEventBytes?: number;
}

const MAX_EVENT_BYTES = 16 * 2 ** 20;

/**
 * The events of a stream, however its bytes are cut. An event without its closing blank line is none: the stream was
 * cut, and the sender will send it again. The bytes belong to this iterator; returning early cancels them.
 */
export async function* parseSse(
  stream: AsyncIterable<Uint8Array>,
  { maxEventBytes = MAX_EVENT_BYTES }: SseLimits = {},
): AsyncGenerator<SseEvent, void, undefined> {
  let ready: SseEvent[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ id, event, data }) => {
      const told: SseEvent = { data };
      if (id !== undefined) told.id = id;
      if (event !== undefined) told.event = event;
      ready.push(told);
    },
    onError: (error) => {
      // Fields that SSE does not know are none of our business.
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
        `The agent sent an event of more than ${maxEventBytes} bytes; raise maxEventBytes if that is right.`,
        { cause: failure },
      );
    }
  }
}
