/**
 * THE gRPC BINDING. This module contains the gRPC services of each protocol version, with their messages
 * defined as data. Codecs convert messages between binary and ProtoJSON, which `wire` encodes and decodes for
 * all bindings. The module also has a listener and a channel over HTTP/2, and `google.rpc.Status`. The module
 * requires two optional packages, so other modules load it with `import()`, and only when gRPC is used.
 */
export type { GrpcCallOptions } from "./channel.ts";
export { GrpcChannel } from "./channel.ts";
export type { GrpcResponse, GrpcFailure, IncomingCall, GrpcMessageSink, ServerTls } from "./grpc-listener.ts";
export { formatHostPort, startGrpcListener } from "./grpc-listener.ts";
export type { MessageCodec } from "./message-codec.ts";
export type { GrpcMethod, GrpcService } from "./grpc-service.ts";
export { GRPC_SERVICE_V0_3 } from "./service-v0_3.ts";
export { GRPC_SERVICE_V1 } from "./service-v1.ts";
