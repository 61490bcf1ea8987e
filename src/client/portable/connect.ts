import { A2AError } from "../../protocol/index.ts";
import type { A2AClient } from "../a2a-client.ts";
import type { ClientPlatform } from "../client-platform.ts";
import { connectOnPlatform } from "../connect.ts";
import type { ConnectOptions } from "../find-card.ts";

const PORTABLE_PLATFORM: ClientPlatform = {
  loadGrpcTransport: () => {
    const text =
      "This build of Colloquy contains no gRPC; set { grpc: grpcTransport() } of colloquy/grpc, or use another binding.";
    return Promise.reject(new A2AError("INTERNAL", text));
  },
  useRegisteredOpenTelemetry: () => undefined,
  async openTrafficRecord(record) {
    if (typeof record === "object" && "write" in record) return record;
    throw new A2AError("INTERNAL", `"record" names a file, which requires Node.js; pass a traffic writer.`);
  },
};

/** Like `connect` of the folder `node`, with web standards only: without gRPC, OpenTelemetry, and files. */
export function connect(url: string, options: ConnectOptions = {}): Promise<A2AClient> {
  return connectOnPlatform(PORTABLE_PLATFORM, url, options);
}
