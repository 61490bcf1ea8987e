import { A2AError, type AgentInterface } from "../protocol/index.ts";
import { isLoopback } from "./http/loopback.ts";
import { parseGrpcAddress } from "./transport/grpc-transport.ts";
import { type GrpcClientOptions } from "./transport/http.ts";
import type { CallOptions } from "./transport/http.ts";
import type { Transport } from "./transport/transport.ts";

/**
 * Why nothing secret may be sent to an interface: what goes there can be read on the way, and only its card says that it
 * should. Undefined for TLS, for this machine, and for the host whose card the caller asked for in clear text himself.
 */
export function findClearTextError(
  agentInterface: AgentInterface,
  cardUrl: string,
  grpc: GrpcClientOptions | undefined,
): A2AError | undefined {
  const { url, protocolBinding } = agentInterface;
  const hostname = protocolBinding === "GRPC" ? getClearTextGrpcHost(url, grpc) : getClearTextHost(url);
  if (hostname === undefined || isLoopback(hostname) || hostname === getClearTextHost(cardUrl))
    return undefined;
  const message = `The card names ${url}, in clear text, where credentials could be read on the way. Have the agent offer TLS, or give { allowClearText: true } if you trust the network.`;
  return new A2AError("INVALID_AGENT_RESPONSE", message, { metadata: { clearText: url } });
}

function getClearTextHost(url: string): string | undefined {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" ? hostname : undefined;
}

/** Who says himself that there is no TLS knows. */
function getClearTextGrpcHost(url: string, { tls: tlsOption }: GrpcClientOptions = {}): string | undefined {
  const { address, tls } = parseGrpcAddress(url);
  return tls || tlsOption !== undefined ? undefined : new URL(`http://${address}`).hostname;
}

/** Calls with headers of their own, which may be secrets, are refused. */
export function withHeadersForbidden(transport: Transport, error: A2AError): Transport {
  const assertNoHeaders = ({ headers = {} }: CallOptions): void => {
    if (Object.keys(headers).length > 0) throw error;
  };
  return {
    version: transport.version,
    async call(operation, params, call) {
      assertNoHeaders(call);
      return await transport.call(operation, params, call);
    },
    async *stream(operation, params, call) {
      assertNoHeaders(call);
      yield* transport.stream(operation, params, call);
    },
  };
}
