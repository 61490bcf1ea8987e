import type { OpenClientRecord } from "./traffic/with-traffic-record.ts";
import type { GrpcTransportFactory } from "./transport/transport.ts";

/**
 * The parts of the client that depend on the runtime. The folder `node` has the parts for Node.js, Bun, and Deno. The
 * folder `portable` has the parts for browsers and workers.
 */
export interface ClientPlatform {
  /** Rejects if gRPC is not available. The error names what is missing. */
  loadGrpcTransport(): Promise<GrpcTransportFactory>;
  /** Returns `undefined` if the tracer of the process stays the same. */
  useRegisteredOpenTelemetry(): Promise<void> | undefined;
  readonly openTrafficRecord: OpenClientRecord;
}
