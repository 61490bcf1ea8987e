/**
 * THE gRPC CARRIER. The services of each protocol version with their messages as data, from which ProtoJSON becomes
 * binary and binary ProtoJSON, so that `wire` reads and writes what they mean, as it does for the other bindings; a
 * listener and a channel over HTTP/2; and `google.rpc.Status`. It needs two optional packages, so it is opened only by
 * who is asked for gRPC, and only then (`import()`).
 */
export type { CallContext, ChannelOptions } from "./channel.ts";
export { Channel } from "./channel.ts";
export type { Answer, Failure, IncomingCall, Listener, MessageSink, ServerTls } from "./listener.ts";
export { addressOf, listen } from "./listener.ts";
export type { MessageType } from "./message.ts";
export type { Method, Service } from "./service.ts";
export { v0_3 } from "./v0_3.ts";
export { v1 } from "./v1.ts";
