import type { AgentInterface } from "../../protocol/index.ts";
import { withPeerLeniency } from "./dialect.ts";
import type { TransportOptions } from "./send-http-request.ts";
import { JsonRpcTransport } from "./json-rpc-transport.ts";
import { RestTransport } from "./rest-transport.ts";
import type { GrpcTransportFactory, Transport } from "./transport.ts";
import * as v0_3 from "./v0_3-dialect.ts";
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
  ) => Transport | Promise<Transport>
> = {
  JSONRPC: ({ url }, options) => {
    const { jsonRpcDialect } = DIALECTS[options.version];
    return new JsonRpcTransport(options, url, withPeerLeniency(jsonRpcDialect, options.peerLeniency));
  },
  "HTTP+JSON": ({ url }, options) => {
    const { restDialect } = DIALECTS[options.version];
    return new RestTransport(options, url, withPeerLeniency(restDialect, options.peerLeniency));
  },
  GRPC: async ({ url }, options, loadGrpcTransport) => (await loadGrpcTransport())(options, url),
};

const DIALECTS = { "1.0": v1, "0.3": v0_3 };

/** The names of the supported protocol bindings. */
export const CLIENT_BINDING_NAMES = Object.keys(TRANSPORT_FACTORIES) as readonly ClientBindingName[];

/** Creates the transport for an interface that `chooseInterface` has returned. */
export function createTransport(
  agentInterface: AgentInterface,
  options: TransportOptions,
  loadGrpcTransport: () => Promise<GrpcTransportFactory>,
): Transport | Promise<Transport> {
  const createTransportOfBinding = TRANSPORT_FACTORIES[agentInterface.protocolBinding as ClientBindingName];
  return createTransportOfBinding(agentInterface, options, loadGrpcTransport);
}
