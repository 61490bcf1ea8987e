import type { ReceivedEvent, StreamOperation } from "./transport.ts";
import { A2AError, type OperationName, type Operations } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";

/** What a transport must know of a protocol version: how answers are read. All else here speaks 1.0. */
interface ResultDecoder {
  readonly version: ProtocolVersion;
  /** An answer, or one element of a stream. */
  decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"];
  /** True for the element of a stream that says itself that nothing follows. */
  isFinalEvent(json: unknown): boolean;
}

/** A version over JSON-RPC, from the side of the client. */
export interface JsonRpcClientDialect extends ResultDecoder {
  /** Throws UNSUPPORTED_OPERATION for what this version does not have. */
  encodeRequest<O extends OperationName>(
    operation: O,
    params: Operations[O]["params"],
  ): { readonly method: string; readonly params: unknown };
}

/** A version over HTTP+JSON, from the side of the client. */
export interface RestClientDialect extends ResultDecoder {
  /** Throws UNSUPPORTED_OPERATION for what this version does not have. */
  encodeRequest<O extends OperationName>(operation: O, params: Operations[O]["params"]): RestRequest;
}

/** A request below the URL of an interface. */
export interface RestRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** What is undefined is left out. */
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
    `A2A ${version}, which is spoken with this agent, has no ${operation}; it is there with agents of a newer version.`,
  );
}
