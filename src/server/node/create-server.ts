import { createNodeCooperation } from "../../cluster/index.ts";
import type { Agent } from "../../engine/index.ts";
import { openTrafficRecord } from "../../observe/trace/recording/index.ts";
import { startMaintenanceSocket } from "../maintenance/maintenance-socket.ts";
import { createOtherNodeEvents } from "../other-node-events.ts";
import { createPushService } from "../push/webhook-sender.ts";
import type { Server } from "../server-interface.ts";
import type { ServerOptions } from "../server-options.ts";
import type { ServerPlatform } from "../server-platform.ts";
import { createServerOnPlatform } from "../server.ts";
import { NodeTelemetry } from "../instrument/server-telemetry.ts";
import { NodeServerListener } from "./node-server-listener.ts";
import { resolveNodeStore } from "./resolve-node-store.ts";

const NODE_PLATFORM: ServerPlatform = {
  environment: process.env,
  resolveStore: resolveNodeStore,
  createPushService: (options = {}, store, observer) => createPushService(options, store, observer),
  createTelemetry: (dependencies) => new NodeTelemetry(dependencies),
  openTrafficRecord,
  startMaintenanceSocket,
  createNodeCooperation,
  createOtherNodeEvents,
  createListener: (host) => new NodeServerListener(host),
};

/**
 * Creates a server for one agent, or for an object with several agents by id. The server serves each agent at
 * `/a2a/{id}`, and the first agent also at the root path. The id of a single agent is `agent.id`, or by default
 * is derived from the agent's name. The server opens the task store when `listen` is
 * called or when the first request arrives. Throws an error if the version of Node.js is too old.
 */
export function createServer(
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions = {},
): Server {
  assertNodeVersion();
  return createServerOnPlatform(NODE_PLATFORM, agents, options);
}

/** Throws an error if functions are missing that every request needs. Other runtimes state other versions of Node.js. */
function assertNodeVersion(): void {
  if (typeof Promise.withResolvers === "function") return;
  throw new Error(
    `Colloquy requires Node.js 22.13 or later, and this is ${process.version}. Update Node.js, and start the server again.`,
  );
}
