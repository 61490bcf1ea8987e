import type { AgentInterface } from "../../protocol/index.ts";
import { createGrpcTransport } from "./grpc-transport.ts";
import type { TransportOptions } from "./http.ts";
import { JsonRpcTransport } from "./json-rpc-transport.ts";
import { RestTransport } from "./rest-transport.ts";
import type { Transport } from "./transport.ts";
import * as v0_3 from "./v0_3-dialect.ts";
import * as v1 from "./v1-dialect.ts";

/** The bindings that this client speaks. */
export type ClientBinding = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** How each is spoken to one interface of an agent, in the version of `http`. */
const TRANSPORT_FACTORIES: Record<
  ClientBinding,
  (via: AgentInterface, http: TransportOptions) => Transport | Promise<Transport>
> = {
  JSONRPC: ({ url }, http) => new JsonRpcTransport(http, url, DIALECTS[http.version].jsonRpcDialect),
  "HTTP+JSON": ({ url }, http) => new RestTransport(http, url, DIALECTS[http.version].restDialect),
  GRPC: ({ url }, http) => createGrpcTransport(http, url),
};

const DIALECTS = { "1.0": v1, "0.3": v0_3 };

export const CLIENT_BINDINGS = Object.keys(TRANSPORT_FACTORIES) as readonly ClientBinding[];

/** `via` is one of the interfaces that `chooseInterface` gives. */
export function createTransport(via: AgentInterface, http: TransportOptions): Transport | Promise<Transport> {
  return TRANSPORT_FACTORIES[via.protocolBinding as ClientBinding](via, http);
}
