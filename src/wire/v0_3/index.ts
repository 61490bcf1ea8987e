/**
 * A2A 0.3: JSON schemas, JSON-RPC methods, and HTTP routes of A2A 0.3, with conversions to and from the 1.0
 * model.
 */
export { toCard03, toHybridCard } from "./agent-card-conversion.ts";
export { decodeCard, decodeParams, decodeResult } from "./decode.ts";
export {
  jsonRpcDialect,
  protoDialect,
  restDialect,
  selectProtoDialect,
  selectRestDialect,
} from "./binding-dialects.ts";
export { toGrpcError } from "./errors.ts";
export { encodeParams, toTask03 } from "./encode.ts";
export type { ClientCodec } from "./proto-json-codec.ts";
export { protoJsonCodec } from "./proto-json-codec.ts";
export {
  OPERATIONS_BY_JSON_RPC_METHOD,
  PROTO_ENUMS,
  PROTO_MESSAGES,
  PROTO_OPERATION_MESSAGES,
  REST_ROUTES,
} from "./messages.ts";
export type { Card03, Task03 } from "./types.ts";
