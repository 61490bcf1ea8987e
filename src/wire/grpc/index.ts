/**
 * THE gRPC BINDING. The `grpc` folder contains the gRPC services of each protocol version. Data tables
 * define the messages of the services. The gRPC codecs convert messages between binary and ProtoJSON. The
 * `wire` folder encodes and decodes the ProtoJSON for all bindings. The `grpc` folder also contains a
 * listener and a channel over HTTP/2, and a codec for `google.rpc.Status`. The gRPC module requires two
 * optional packages. Other modules load the gRPC module on first use, with `import()`.
 */
export type { GrpcCallOptions } from "./channel.ts";
export { findGrpcStatus, GrpcChannel } from "./channel.ts";
export type { GrpcResponseOrFailure, GrpcServerCall } from "./grpc-server-call.ts";
export type { GrpcFailure } from "./response-headers.ts";
export type { ServerTls } from "./grpc-listener.ts";
export { formatHostPort, startGrpcListener } from "./grpc-listener.ts";
export type { MessageCodec } from "./message-codec.ts";
export type { GrpcMethod, GrpcService } from "./grpc-service.ts";
export { GRPC_SERVICE_V0_3, GRPC_SERVICE_V1 } from "./grpc-service.ts";
