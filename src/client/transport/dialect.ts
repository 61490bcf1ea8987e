import type { ReceivedEvent, StreamOperation } from "./transport.ts";
import { A2AError, type OperationName, type Operations } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";

/** Decodes responses of one protocol version. All other client code uses the A2A 1.0 model. */
interface ResultDecoder {
  readonly version: ProtocolVersion;
  /** Decodes a response, or one element of a stream. */
  decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"];
  /** Returns true for a stream element that declares that no other element follows. */
  isFinalEvent(json: unknown): boolean;
}

/** The client side of a protocol version over JSON-RPC. */
export interface JsonRpcClientDialect extends ResultDecoder {
  /** Encodes a request. Throws `UNSUPPORTED_OPERATION` for an operation that this version does not define. */
  encodeRequest<O extends OperationName>(
    operation: O,
    params: Operations[O]["params"],
  ): { readonly method: string; readonly params: unknown };
}

/** The client side of a protocol version over HTTP+JSON. */
export interface RestClientDialect extends ResultDecoder {
  /** Encodes a request. Throws `UNSUPPORTED_OPERATION` for an operation that this version does not define. */
  encodeRequest<O extends OperationName>(operation: O, params: Operations[O]["params"]): RestRequest;
}

/** An HTTP request relative to the URL of an interface. */
export interface RestRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Query parameters. Undefined values are omitted. */
  readonly query?: object;
  readonly body?: unknown;
}

/** Decodes one element of a stream into an event, with the event id that the server sent. */
export function decodeStreamEvent(
  dialect: ResultDecoder,
  operation: StreamOperation,
  json: unknown,
  id?: string,
): ReceivedEvent {
  const event = dialect.decodeResult(operation, json);
  return dialect.isFinalEvent(json) ? { id, event, isLast: true } : { id, event };
}

export function createUnsupportedOperationError(
  operation: OperationName,
  version: ProtocolVersion,
): A2AError {
  return new A2AError(
    "UNSUPPORTED_OPERATION",
    `A2A ${version}, which this agent uses, does not define ${operation}. Use an agent that supports a newer version.`,
  );
}
