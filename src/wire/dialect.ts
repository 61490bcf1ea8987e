import type { A2AError, LogEvent, OperationName, Operations, StreamingOperation } from "../protocol/index.ts";
import type { SpecPatchVersion } from "./error-mappings.ts";
import type { JsonRpcId } from "./json-rpc.ts";
import type { OperationDecoder } from "./operation-messages.ts";
import type { RouteMatcher } from "./route-matcher.ts";

/** Supported A2A protocol versions, as `Major.Minor`. */
export type ProtocolVersion = "1.0" | "0.3";

/**
 * A codec between the JSON of one protocol version and the internal model. The codec converts operation
 * parameters, results, and stream events. The internal model is always the model of A2A 1.0.
 */
export interface OperationCodec extends Pick<OperationDecoder, "decodeParams"> {
  /** Converts the result of a non-streaming operation to the JSON value of the response. */
  toResultJson<O extends OperationName>(operation: O, result: Operations[O]["result"]): unknown;
  /**
   * Encodes one stream event as a single line of JSON. The codec creates the JSON of an event at most once
   * for all readers.
   */
  encodeEvent(event: LogEvent): string;
  /**
   * Returns `true` if the client's stream must end after the event, even if the engine's stream continues.
   */
  readonly isLastEvent?: (event: LogEvent, operation: StreamingOperation) => boolean;
}

/**
 * A codec for the ProtoJSON of one version's protobuf messages, which gRPC transports in binary form.
 * Servers and clients use the same ProtoJSON codec.
 */
export interface ProtoDialect extends OperationDecoder, Pick<OperationCodec, "isLastEvent"> {
  readonly version: ProtocolVersion;
  /**
   * Encodes a request message. Throws `UNSUPPORTED_OPERATION` if the protocol version does not have the
   * operation.
   */
  encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object;
  /**
   * Converts the result of an operation to a response message, or converts one stream event to a message of
   * the response stream.
   */
  toProtoResponseMessage<O extends OperationName>(operation: O, result: Operations[O]["result"]): object;
}

/** A codec for one protocol version over JSON-RPC. */
export interface JsonRpcDialect extends OperationCodec {
  readonly version: ProtocolVersion;
  /**
   * Returns the operation of a JSON-RPC method, or `undefined` if the protocol version does not have the
   * method.
   */
  findOperation(method: string): OperationName | undefined;
  /** Encodes an error as a complete JSON-RPC response. */
  encodeError(id: JsonRpcId, error: A2AError): string;
  /**
   * Encoder for the events of a stream. By default, each event of a stream is a JSON-RPC response.
   */
  readonly eventEncoder?: SseEventEncoder;
  /**
   * If `true`, the result of the operation must be a task. If the agent replies with a message, the server
   * creates a completed task for the reply.
   */
  readonly needsTask?: boolean;
}

/** Encodes stream events as complete server-sent events, with field names and the final blank line. */
export interface SseEventEncoder {
  encodeEvent(event: LogEvent): string;
  encodeFailure(error: A2AError): string;
  /** Encodes the end of a complete stream after its last event. */
  encodeEnd?(lastEvent: LogEvent): string;
}

/** A codec for one protocol version over HTTP+JSON. */
export interface RestDialect extends OperationCodec {
  readonly version: ProtocolVersion;
  readonly mediaType: "application/json" | "application/a2a+json";
  readonly matchRoute: RouteMatcher;
  /** Collects the parameters of an HTTP request into one JSON value for `decodeParams`. */
  collectParams(
    operation: OperationName,
    path: Record<string, string>,
    query: URLSearchParams,
    body: unknown,
  ): unknown;
  toErrorResponse(
    error: A2AError,
    revision: SpecPatchVersion,
  ): { readonly status: number; readonly body: object };
  /** SSE event name for errors in a stream. By default, error events have no event name. */
  readonly failureEventName?: string;
}
