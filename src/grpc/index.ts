/**
 * THE gRPC CARRIER. The services of each protocol version with their messages as data, from which ProtoJSON becomes
 * binary and binary ProtoJSON, so that `wire` reads and writes what they mean, as it does for the other bindings; a
 * listener and a channel over HTTP/2; and `google.rpc.Status`. It needs two optional packages, so it is opened only by
 * who is asked for gRPC, and only then (`import()`).
 */
export type { GrpcCallOptions, GrpcChannelOptions } from "./channel.ts";
export { GrpcChannel } from "./channel.ts";
export type {
  GrpcResponse,
  GrpcFailure,
  IncomingCall,
  GrpcListener,
  GrpcMessageSink,
  ServerTls,
} from "./grpc-listener.ts";
export { formatHostPort, startGrpcListener } from "./grpc-listener.ts";
export type { MessageCodec } from "./message-codec.ts";
export type { GrpcMethod, GrpcService } from "./grpc-service.ts";
export { GRPC_SERVICE_V0_3 } from "./service-v0_3.ts";
export { GRPC_SERVICE_V1 } from "./service-v1.ts";
