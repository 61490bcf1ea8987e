/**
 * HOW THE WORDS ARE WRITTEN. Everything between a protocol word and the bytes of a carrier: the JSON of each protocol
 * version (`v1`, `v0_3`), the envelopes of JSON-RPC and HTTP+JSON, server-sent events, version negotiation, and the one table
 * of errors. Requests are read strictly, every violation with its path; answers of others tolerantly.
 */
export type { ErrorRow, GrpcStatus, SpecRevision } from "./errors.ts";
export { ERRORS, nameOfReason, statusOf } from "./errors.ts";
export type { GrpcError } from "./grpc-error.ts";
export { fromGrpcError, toGrpcError } from "./grpc-error.ts";
export type { JsonRpcError, JsonRpcId, JsonRpcRequest } from "./json-rpc.ts";
export {
  decodeJsonRpc,
  encodeJsonRpcError,
  encodeJsonRpcResult,
  fromJsonRpcError,
  JsonRpcFailure,
  toJsonRpcError,
} from "./json-rpc.ts";
export type { RestError } from "./rest-error.ts";
export { fromRestError, toRestError } from "./rest-error.ts";
export type {
  Codec,
  EventWriter,
  JsonRpcDialect,
  ProtocolVersion,
  ProtoDialect,
  RestDialect,
} from "./dialect.ts";
export type { RestMatch } from "./routes.ts";
export type { SseEvent, SseLimits } from "./sse.ts";
export { encodeFrame, encodeNamedFrame, HEARTBEAT, parseSse } from "./sse.ts";
export type { VersionRequest } from "./version.ts";
export { negotiateVersion } from "./version.ts";
export * as v0_3 from "./v0_3/index.ts";
export * as v1 from "./v1/index.ts";
export * as simple from "./simple/index.ts";
