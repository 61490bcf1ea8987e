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
