import type { JsonMap, RawRequest } from "./corpus.ts";
import type { ObservedError } from "./wire-tables.ts";

/** The reply to a request. Without an error, `body` is the object that assertions refer to (ACTS §4.2). */
export interface Reply {
  /** HTTP status. For gRPC, the HTTP status that corresponds to the gRPC status. */
  readonly status: number;
  /** Response headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly error?: ObservedError | undefined;
  /** Whether the error is the first event of a stream with the status of a success. */
  readonly isErrorStreamed?: true;
  /** Events of a stream as JSON. The server may fail while the events are read. */
  readonly events?: AsyncIterable<unknown> | undefined;
}

export interface CallOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called with each part of a response over HTTP as text, for example with the comments of a stream. */
  readonly onChunk?: ((text: string) => void) | undefined;
}

/** Sends requests over one protocol binding. Rejects with a `ResponseError` if the server sends no valid response. */
export interface Transport {
  call(operation: string, params: JsonMap, options: CallOptions): Promise<Reply>;
  /** Sends a request as written. The body of the reply, and each event, is complete, with its envelope. */
  sendRaw(request: RawRequest, signal: AbortSignal): Promise<Reply>;
}

/** Maximum size in bytes of a response or a stream. A larger one fails the test. */
export const MAX_RESPONSE_BYTES: number = 16 * 2 ** 20;

/** The server did not respond, or responded in a form that the binding does not allow. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
}

/** Returns the headers that each request has (ACTS §12.4). */
export function createRequestHeaders(specVersion: string, token?: string | null): Record<string, string> {
  return {
    "A2A-Version": specVersion,
    ...(token === undefined || token === null ? {} : { Authorization: `Bearer ${token}` }),
  };
}

/** An error that a server sends as an event of a stream. */
export class StreamedError extends ResponseError {
  readonly error: ObservedError;

  constructor(error: ObservedError) {
    super(`The stream contains the error ${error.error_type}: ${String(error.message)}`);
    this.error = error;
  }
}

/** Reads the first event of a stream, so that an error instead of it is the error of the reply. */
export async function toStreamReply(
  base: Pick<Reply, "status" | "headers">,
  stream: AsyncIterable<unknown>,
): Promise<Reply> {
  const iterator = stream[Symbol.asyncIterator]();
  const first = await iterator.next().catch((failure: unknown) => failure as Error);
  if (first instanceof StreamedError)
    return { ...base, body: undefined, error: first.error, isErrorStreamed: true };
  const events = (async function* continueStream() {
    try {
      if (first instanceof Error) throw first;
      for (let item = first; !item.done; item = await iterator.next()) yield item.value;
    } finally {
      await iterator.return?.();
    }
  })();
  return { ...base, body: undefined, events };
}
