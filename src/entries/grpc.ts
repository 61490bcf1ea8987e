/**
 * The `colloquy/grpc` entry point contains gRPC for `connect` in bundled programs. It requires the packages
 * `@grpc/grpc-js` and `@bufbuild/protobuf`.
 */
export type { GrpcClientOptions } from "../client/index.ts";
export { grpcTransport } from "../client/grpc/index.ts";
