import { A2AError } from "../../protocol/index.ts";
import { useRegisteredOpenTelemetry } from "../../observe/telemetry/node/index.ts";
import type { A2AClient } from "../a2a-client.ts";
import type { ClientPlatform } from "../client-platform.ts";
import { connectOnPlatform } from "../connect.ts";
import type { ConnectOptions } from "../find-card.ts";
import type { GrpcTransportFactory } from "../transport/transport.ts";

const NODE_PLATFORM: ClientPlatform = {
  loadGrpcTransport,
  useRegisteredOpenTelemetry,
  async openTrafficRecord(record, agentName) {
    if (typeof record === "object" && "write" in record) return record;
    const { openTrafficRecord } = await import("../../observe/trace/recording/index.ts");
    return openTrafficRecord(record, { vantage: "client", name: `client of ${agentName}` }).writer;
  },
};

/**
 * Finds the agent card by the URL of the host, the card, or the agent, and returns a client for one of the
 * card's interfaces.
 */
export function connect(url: string, options: ConnectOptions = {}): Promise<A2AClient> {
  return connectOnPlatform(NODE_PLATFORM, url, options);
}

async function loadGrpcTransport(): Promise<GrpcTransportFactory> {
  try {
    return (await import("../transport/grpc-transport.ts")).createGrpcTransport;
  } catch (cause) {
    if (!isModuleNotFound(cause)) throw cause;
    const message = "gRPC requires two additional packages: npm install @grpc/grpc-js @bufbuild/protobuf";
    throw new A2AError("INTERNAL", message, { cause });
  }
}

function isModuleNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
