/** A2A 0.3: its JSON, its methods and its routes, read into 1.0 and written from it. */
export { fromCard, toCard, toHybridCard } from "./card.ts";
export { decodeParams, decodeResult } from "./decode.ts";
export { jsonRpc, proto, rest } from "./dialects.ts";
export { toGrpcError } from "./errors.ts";
export { encodeParams, toTask } from "./encode.ts";
export type { ClientCodec } from "./proto-json.ts";
export { protoJson } from "./proto-json.ts";
export type { Card03, Task03 } from "./types.ts";
