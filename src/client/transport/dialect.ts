import type { ReceivedStreamEvent, StreamOperation } from "./transport.ts";
import { A2AError, type OperationName, type Operations } from "../../protocol/index.ts";
import type { PeerLeniency, ProtocolVersion } from "../../wire/index.ts";

/**
 * Decodes responses of one protocol version. Outside the dialects, the client uses only the A2A 1.0 model.
 */
interface ResultDecoder {
  readonly version: ProtocolVersion;
  /** Decodes the JSON of a response, or of one stream element. */
  decodeResult<O extends OperationName>(
    operation: O,
    json: unknown,
    leniency?: PeerLeniency,
  ): Operations[O]["result"];
  /** Returns whether a stream element declares itself to be the last one. */
  isFinalEvent(json: unknown): boolean;
}

/** Returns a dialect that decodes responses with the given leniency. */
export function withPeerLeniency<D extends Pick<ResultDecoder, "decodeResult">>(
  dialect: D,
  leniency: PeerLeniency,
): D {
  if (leniency === "all") return dialect;
  return { ...dialect, decodeResult: (operation, json) => dialect.decodeResult(operation, json, leniency) };
}

/** Encodes the requests of one protocol version for JSON-RPC, and decodes the responses. */
export interface JsonRpcClientDialect extends ResultDecoder {
  /**
   * Encodes a request. Throws `UNSUPPORTED_OPERATION` if the protocol version does not define the operation.
   */
  encodeRequest<O extends OperationName>(
    operation: O,
    params: Operations[O]["params"],
  ): { readonly method: string; readonly params: unknown };
}

/** Encodes the requests of one protocol version for HTTP+JSON, and decodes the responses. */
export interface RestClientDialect extends ResultDecoder {
  /**
   * Encodes a request. Throws `UNSUPPORTED_OPERATION` if the protocol version does not define the operation.
   */
  encodeRequest<O extends OperationName>(operation: O, params: Operations[O]["params"]): RestRequest;
}

/** An HTTP request with a path relative to the URL of an interface. */
export interface RestRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Query parameters of the request. Parameters with undefined values are omitted. */
  readonly query?: object;
  readonly body?: unknown;
}

/** Decodes one stream element into an event with the event id that the server sent. */
export function decodeStreamEvent(
  dialect: ResultDecoder,
  operation: StreamOperation,
  json: unknown,
  { id, size = 0 }: Pick<ReceivedStreamEvent, "id" | "size"> = {},
): ReceivedStreamEvent {
  const event = dialect.decodeResult(operation, json);
  return dialect.isFinalEvent(json) ? { id, event, size, isLast: true } : { id, event, size };
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
