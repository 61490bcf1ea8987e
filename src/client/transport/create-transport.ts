import type { AgentInterface } from "../../protocol/index.ts";
import { JsonRpcTransport, RestTransport } from "./http-transport.ts";
import type { GrpcTransportFactory, Transport, TransportOptions } from "./transport.ts";
import * as v1 from "./v1-dialect.ts";

/** The protocol bindings that this client supports. */
export type ClientBindingName = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** Functions that create a transport for one interface, by protocol binding. */
const TRANSPORT_FACTORIES: Record<
  ClientBindingName,
  (
    agentInterface: AgentInterface,
    options: TransportOptions,
    loadGrpcTransport: () => Promise<GrpcTransportFactory>,
  ) => Promise<Transport>
> = {
  JSONRPC: async ({ url }, options) => {
    const { jsonRpcDialect } = await loadDialects(options.version);
    return new JsonRpcTransport(options, url, jsonRpcDialect);
  },
  "HTTP+JSON": async ({ url }, options) => {
    const { restDialect } = await loadDialects(options.version);
    return new RestTransport(options, url, restDialect);
  },
  GRPC: async ({ url }, options, loadGrpcTransport) => (await loadGrpcTransport())(options, url),
};

/** A2A 0.3 is loaded on first use, so that web pages for A2A 1.0 do not contain it. */
async function loadDialects(version: TransportOptions["version"]): Promise<typeof v1> {
  return version === "1.0" ? v1 : await import("./v0_3-dialect.ts");
}

/** The names of the supported protocol bindings. */
export const CLIENT_BINDING_NAMES = Object.keys(TRANSPORT_FACTORIES) as readonly ClientBindingName[];

/** Creates the transport for an interface that `chooseInterface` has returned. */
export function createTransport(
  agentInterface: AgentInterface,
  options: TransportOptions,
  loadGrpcTransport: () => Promise<GrpcTransportFactory>,
): Promise<Transport> {
  const createTransportOfBinding = TRANSPORT_FACTORIES[agentInterface.protocolBinding as ClientBindingName];
  return createTransportOfBinding(agentInterface, options, loadGrpcTransport);
}
