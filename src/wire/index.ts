/**
 * ENCODING AND DECODING. Codecs between the protocol model and the bytes of a binding. The `wire` folder
 * contains the JSON format of each protocol version (`v1`, `v0_3`), the JSON-RPC and HTTP+JSON envelopes,
 * server-sent events, version negotiation, and the error tables. The codecs decode requests in strict mode
 * and report every violation with its path. The codecs decode responses of other agents in tolerant mode.
 */
export type { ErrorMapping, GrpcStatusName, SpecRevision } from "./error-mappings.ts";
export { ERROR_MAPPINGS, toErrorName, getErrorStatus } from "./error-mappings.ts";
export type { GrpcError } from "./grpc-error.ts";
export { fromGrpcError, toGrpcError } from "./grpc-error.ts";
export type { JsonRpcError, JsonRpcId, JsonRpcRequest } from "./json-rpc.ts";
export {
  decodeJsonRpcRequest,
  encodeJsonRpcError,
  encodeJsonRpcResult,
  fromJsonRpcError,
  JsonRpcRequestError,
  toJsonRpcError,
} from "./json-rpc.ts";
export type { RestError } from "./rest-error.ts";
export { fromRestError, toRestError } from "./rest-error.ts";
export type {
  OperationCodec,
  SseEventEncoder,
  JsonRpcDialect,
  ProtocolVersion,
  ProtoDialect,
  RestDialect,
} from "./dialect.ts";
export { parseRetryAfter } from "./retry-after.ts";
export type { RestRouteMatch } from "./route-matcher.ts";
export type { SseEvent, SseLimits } from "./sse.ts";
export { encodeSseFrame, encodeNamedSseFrame, SSE_HEARTBEAT, parseSse } from "./sse.ts";
export type { VersionNegotiationInput } from "./version-negotiation.ts";
export { negotiateVersion } from "./version-negotiation.ts";
export * as v0_3 from "./v0_3/index.ts";
export * as v1 from "./v1/index.ts";
export * as simpleDialect from "./simple-dialect/index.ts";
