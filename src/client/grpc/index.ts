import { createGrpcTransport } from "../transport/grpc-transport.ts";
import type { GrpcClientOptions } from "../transport/transport.ts";

/**
 * Returns a value for the option `grpc` of `connect` that contains the gRPC implementation. Programs that are bundled for
 * Node.js without its import conditions need it. `connect` on Node.js, Bun, and Deno loads gRPC without `grpcTransport`.
 *
 * ```ts
 * const client = await connect("https://agents.example.com", { grpc: grpcTransport() });
 * ```
 */
export function grpcTransport(options: GrpcClientOptions = {}): GrpcClientOptions {
  return { ...options, transport: createGrpcTransport };
}
