import type { TrafficRecordOption, TrafficWriter } from "../observe/trace/recording/index.ts";
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
  /** Opens the record of a client. The file stays open until the process ends, because clients are never closed. */
  openTrafficRecord(record: TrafficRecordOption, agentName: string): Promise<TrafficWriter>;
}
