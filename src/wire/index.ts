/**
 * ENCODING AND DECODING. Codecs between the protocol model and the bytes of a binding. The `wire` folder
 * contains the JSON format of each protocol version (`v1`, `v0_3`) and the envelopes of JSON-RPC and
 * HTTP+JSON. The `wire` folder also contains server-sent events, version negotiation, and the error
 * tables. The codecs decode requests in strict mode and report every violation with its path. The codecs
 * decode responses of other agents in tolerant mode.
 */
export type { SpecPatchVersion } from "./error-mappings.ts";
export {
  ERROR_MAPPINGS,
  toA2AErrorName,
  getHttpAndGrpcErrorStatus,
  isErrorReason,
} from "./error-mappings.ts";
export type { GrpcError } from "./grpc-error.ts";
export { fromGrpcError, toGrpcError } from "./grpc-error.ts";
export { countJsonValues, DEFAULT_MAX_JSON_VALUES, parseBoundedJson } from "./bounded-json.ts";
export type { JsonRpcId } from "./json-rpc.ts";
export type { JsonRpcRequest } from "./json-rpc.ts";
export {
  decodeJsonRpcRequest,
  encodeJsonRpcResult,
  encodeJsonRpcResultHead,
  fromJsonRpcError,
  JsonRpcRequestError,
} from "./json-rpc.ts";

export { fromRestError } from "./rest-error.ts";
export type {
  OperationCodec,
  JsonRpcDialect,
  ProtocolVersion,
  ProtoDialect,
  RestDialect,
} from "./dialect.ts";
export type { MessageDefinitions, MessageField } from "./message-notation.ts";
export { parseMessageDefinition } from "./message-notation.ts";
export type { OperationMessages } from "./operation-messages.ts";
export type { RestRoute } from "./route-matcher.ts";
export type { PeerLeniency } from "./leniency.ts";
export { isDeviationAccepted } from "./leniency.ts";

export { encodeSseFrame, encodeNamedSseFrame, EVENT_STREAM_HEADERS, SSE_HEARTBEAT, parseSse } from "./sse.ts";

export { negotiateVersion } from "./version-negotiation.ts";
