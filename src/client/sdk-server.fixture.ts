import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as grpc from "@grpc/grpc-js";
import express, { type Express } from "express";
import type { RunningTestServer } from "./a2a-client.contract.ts";

/** The card fields that every scripted agent of the client contract has in common. */
export const SCRIPTED_TEST_AGENT_CARD: {
  name: string;
  description: string;
  version: string;
  capabilities: { streaming: boolean };
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: { id: string; name: string; description: string; tags: string[] }[];
} = {
  name: "Obedient",
  description: "Follows the script in the message.",
  version: "1",
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "obey", name: "Obey", description: "Obeys", tags: ["test"] }],
};

/** Addresses and servers to which a test mounts the handlers of an official SDK. */
export interface SdkServerMountTargets {
  readonly url: string;
  readonly grpcAddress: string;
  readonly app: Express;
  readonly grpcServer: grpc.Server;
}

/** Starts an Express server and a gRPC server on free ports, and passes both to `mount`. */
export async function startSdkServer(
  mount: (servers: SdkServerMountTargets) => void,
): Promise<RunningTestServer> {
  const app = express();
  const http = createServer(app);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const grpcServer = new grpc.Server();
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpcServer.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
  mount({ url, grpcAddress: `127.0.0.1:${grpcPort}`, app, grpcServer });
  return {
    url,
    close: async () => {
      grpcServer.forceShutdown();
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };
}
