import { A2AError, type AgentInterface } from "../protocol/index.ts";
import { isLoopback } from "./http/loopback.ts";
import { parseGrpcAddress } from "./transport/parse-grpc-address.ts";
import type { CallOptions, GrpcClientOptions, Transport } from "./transport/transport.ts";

/**
 * Returns an error if credentials would be sent unencrypted to a host that only the agent card names. Returns
 * `undefined` if the interface uses TLS, is on the local machine, or is on the host of a plain HTTP URL that
 * the caller configured.
 */
export function findUnencryptedCredentialsError(
  agentInterface: AgentInterface,
  cardUrl: string,
  grpc: GrpcClientOptions | undefined,
): A2AError | undefined {
  const { url, protocolBinding } = agentInterface;
  const hostname = protocolBinding === "GRPC" ? getClearTextGrpcHost(url, grpc) : getClearTextHost(url);
  if (hostname === undefined || isLoopback(hostname) || hostname === getClearTextHost(cardUrl))
    return undefined;
  const message = `The card names ${url} without TLS, so credentials would be sent unencrypted. Enable TLS on the agent, or set { allowClearText: true } if you trust the network.`;
  return new A2AError("INVALID_AGENT_RESPONSE", message, { metadata: { clearText: url } });
}

function getClearTextHost(url: string): string | undefined {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" ? hostname : undefined;
}

/**
 * Returns the host of a gRPC address without TLS. If the `tls` option is set, the caller has already decided
 * whether to use encryption.
 */
function getClearTextGrpcHost(url: string, { tls: tlsOption }: GrpcClientOptions = {}): string | undefined {
  const { address, tls } = parseGrpcAddress(url);
  return tls || tlsOption !== undefined ? undefined : new URL(`http://${address}`).hostname;
}

/**
 * Wraps a transport so that it rejects calls with custom headers, because these headers may contain secrets.
 */
export function withTransportCallHeadersRejected(transport: Transport, error: A2AError): Transport {
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
