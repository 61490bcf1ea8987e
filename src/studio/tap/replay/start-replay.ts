import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sendProblem } from "../http/send-problem.ts";
import { AgentReplay, type ReplayAddresses } from "./agent-replay.ts";
import { startGrpcReplay } from "./grpc-replay.ts";
import { HttpReplay } from "./http-replay.ts";
import type { RecordedAgent } from "./recorded-exchanges.ts";

/** Options of `startReplay`. */
export interface ReplayOptions {
  /** Port for JSON-RPC and HTTP+JSON on 127.0.0.1. Default: a free port. */
  readonly port?: number;
  /** Port for gRPC on 127.0.0.1. Default: a free port. */
  readonly grpcPort?: number;
  /** Factor of the recorded speed, or `max` for no delays. Default: 1. */
  readonly speed?: number | "max";
  /** Called with each request that was not recorded. */
  readonly onMiss?: (text: string) => void;
}

/** A running replay. */
export interface RunningReplay {
  readonly url: string;
  /** Host and port for gRPC, or undefined if the packages for gRPC are not installed. */
  readonly grpcAddress: string | undefined;
  close(): Promise<void>;
}

/** Serves a recorded agent over JSON-RPC, HTTP+JSON, and gRPC, in A2A 1.0 and 0.3. Rejects if a port is in use. */
export async function startReplay(agent: RecordedAgent, options: ReplayOptions = {}): Promise<RunningReplay> {
  const { port = 0, grpcPort = 0, speed = 1, onMiss = () => {} } = options;
  const replay = new AgentReplay(agent, speed, onMiss);
  let ports = { http: port, grpc: undefined as number | undefined };
  // A client reaches both listeners under the same host name.
  const resolveAddresses = (host: string): ReplayAddresses => {
    const hostname = URL.parse(`http://${host}`)?.hostname ?? "127.0.0.1";
    return {
      http: `${hostname}:${ports.http}`,
      grpc: ports.grpc === undefined ? undefined : `${hostname}:${ports.grpc}`,
    };
  };
  const grpcListener = await startGrpcReplay(replay, grpcPort, resolveAddresses);
  const httpReplay = new HttpReplay(replay, resolveAddresses);
  const server = createServer((request, response) => {
    httpReplay.handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendProblem(response, 500, error instanceof Error ? error.message : String(error));
    });
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    await grpcListener?.close();
    throw error;
  }
  ports = { http: (server.address() as AddressInfo).port, grpc: grpcListener?.port };
  return {
    url: `http://127.0.0.1:${ports.http}`,
    grpcAddress: ports.grpc === undefined ? undefined : `127.0.0.1:${ports.grpc}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, grpcListener?.close()]);
    },
  };
}
