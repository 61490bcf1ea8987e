import type { AgentInterface } from "../../protocol/index.ts";
import { openGrpc } from "./grpc-transport.ts";
import type { Http } from "./http.ts";
import { JsonRpcTransport } from "./json-rpc-transport.ts";
import { RestTransport } from "./rest-transport.ts";
import type { Transport } from "./transport.ts";
import * as v0_3 from "./v0_3.ts";
import * as v1 from "./v1.ts";

/** The bindings that this client speaks. */
export type ClientBinding = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** How each is spoken to one interface of an agent, in the version of `http`. */
const TRANSPORTS: Record<ClientBinding, (via: AgentInterface, http: Http) => Transport | Promise<Transport>> =
  {
    JSONRPC: ({ url }, http) => new JsonRpcTransport(http, url, DIALECTS[http.version].jsonRpc),
    "HTTP+JSON": ({ url }, http) => new RestTransport(http, url, DIALECTS[http.version].rest),
    GRPC: ({ url }, http) => openGrpc(http, url),
  };

const DIALECTS = { "1.0": v1, "0.3": v0_3 };

export const CLIENT_BINDINGS = Object.keys(TRANSPORTS) as readonly ClientBinding[];

/** `via` is one of the interfaces that `chooseInterface` gives. */
export function transportFor(via: AgentInterface, http: Http): Transport | Promise<Transport> {
  return TRANSPORTS[via.protocolBinding as ClientBinding](via, http);
}
