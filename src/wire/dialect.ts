import type { A2AError, LogEvent, OperationName, Operations, StreamingOperation } from "../protocol/index.ts";
import type { SpecRevision } from "./error-mappings.ts";
import type { JsonRpcId } from "./json-rpc.ts";
import type { RouteMatcher } from "./route-matcher.ts";

/** The protocol versions that are spoken here, `Major.Minor`. */
export type ProtocolVersion = "1.0" | "0.3";

/** How a version writes, as JSON, what operations are given and what they answer. Inside, everything is 1.0. */
export interface OperationCodec {
  /** The parameters of a request; throws INVALID_PARAMS that names every violation with its path. */
  decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"];
  /** The result of an operation that does not stream, as JSON text. */
  encodeResult<O extends OperationName>(operation: O, result: Operations[O]["result"]): string;
  /** One event of a stream, as one line of JSON; made at most once per event. */
  encodeEvent(event: LogEvent): string;
  /** True for an event behind which this version's streams end, though the engine's go on. */
  readonly isLastEvent?: (event: LogEvent, operation: StreamingOperation) => boolean;
}

/** A version as the ProtoJSON of its proto's messages, which gRPC has in binary; for both sides of a call. */
export interface ProtoDialect extends Pick<OperationCodec, "decodeParams" | "isLastEvent"> {
  readonly version: ProtocolVersion;
  /** A request message. Throws UNSUPPORTED_OPERATION for what this version does not have. */
  encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object;
  /** A response message, and one of a stream. */
  toResultMessage<O extends OperationName>(operation: O, result: Operations[O]["result"]): object;
  /** Takes what can be used; throws INVALID_AGENT_RESPONSE. */
  decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"];
}

/** A version over JSON-RPC. */
export interface JsonRpcDialect extends OperationCodec {
  readonly version: ProtocolVersion;
  /** The operation behind a method's name; undefined for a name that this version does not have. */
  findOperation(method: string): OperationName | undefined;
  /** A whole JSON-RPC response. */
  encodeError(id: JsonRpcId, error: A2AError): string;
  /** How streams are written where they are not JSON-RPC responses. */
  readonly eventEncoder?: SseEventEncoder;
  /** True when the answer must be a task: what an agent answers without one then completes one. */
  readonly needsTask?: boolean;
}

/** Server-sent events, whole. */
export interface SseEventEncoder {
  encodeEvent(event: LogEvent): string;
  encodeFailure(error: A2AError): string;
}

/** A version over HTTP+JSON. */
export interface RestDialect extends OperationCodec {
  readonly version: ProtocolVersion;
  readonly mediaType: "application/json" | "application/a2a+json";
  readonly matchRoute: RouteMatcher;
  /** What `decodeParams` reads, from the parts of a request. */
  collectParams(
    operation: OperationName,
    path: Record<string, string>,
    query: URLSearchParams,
    body: unknown,
  ): unknown;
  toErrorResponse(
    error: A2AError,
    revision: SpecRevision,
  ): { readonly status: number; readonly body: object };
  /** The name of the SSE event in which a stream's failure is told; without it, it is an event like all others. */
  readonly failureEventName?: string;
}
