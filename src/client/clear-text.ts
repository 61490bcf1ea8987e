import { A2AError, type AgentInterface } from "../protocol/index.ts";
import { isLoopback } from "./loopback.ts";
import { type GrpcConnection, toAddress } from "./transport/grpc-transport.ts";
import type { Call } from "./transport/http.ts";
import type { Transport } from "./transport/transport.ts";

/**
 * Why nothing secret may be sent to an interface: what goes there can be read on the way, and only its card says that it
 * should. Undefined for TLS, for this machine, and for the host whose card the caller asked for in clear text himself.
 */
export function clearTextRefusal(
  via: AgentInterface,
  cardUrl: string,
  grpc: GrpcConnection | undefined,
): A2AError | undefined {
  const { url, protocolBinding } = via;
  const hostname = protocolBinding === "GRPC" ? clearGrpcHost(url, grpc) : clearHost(url);
  if (hostname === undefined || isLoopback(hostname) || hostname === clearHost(cardUrl)) return undefined;
  const message = `The card names ${url}, in clear text, where credentials could be read on the way. Have the agent offer TLS, or give { allowClearText: true } if you trust the network.`;
  return new A2AError("INVALID_AGENT_RESPONSE", message, { metadata: { clearText: url } });
}

function clearHost(url: string): string | undefined {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" ? hostname : undefined;
}

/** Who says himself that there is no TLS knows. */
function clearGrpcHost(url: string, { tls: wanted }: GrpcConnection = {}): string | undefined {
  const { address, tls } = toAddress(url);
  return tls || wanted !== undefined ? undefined : new URL(`http://${address}`).hostname;
}

/** Calls with headers of their own, which may be secrets, are refused. */
export function withoutHeaders(transport: Transport, refusal: A2AError): Transport {
  const check = ({ headers = {} }: Call): void => {
    if (Object.keys(headers).length > 0) throw refusal;
  };
  return {
    version: transport.version,
    async call(operation, params, call) {
      check(call);
      return await transport.call(operation, params, call);
    },
    async *stream(operation, params, call) {
      check(call);
      yield* transport.stream(operation, params, call);
    },
  };
}
