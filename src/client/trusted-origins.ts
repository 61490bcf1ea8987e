import { A2AError, type AgentInterface } from "../protocol/index.ts";
import { isLoopback } from "./http/loopback.ts";
import { parseGrpcAddress } from "./transport/parse-grpc-address.ts";
import type { CallOptions, GrpcClientOptions, Transport } from "./transport/transport.ts";

/**
 * Origins that may receive the user's credentials although another origin serves the agent card, such as
 * `["https://agents.example.com"]`. The value `any` trusts the origins of every agent card.
 */
export type TrustedOrigins = readonly string[] | "any";

/** Throws if an element of `trustedOrigins` is not the URL of an origin. */
export function assertValidTrustedOrigins(trustedOrigins: TrustedOrigins): void {
  if (trustedOrigins === "any") return;
  const index = trustedOrigins.findIndex((origin) => !URL.canParse(origin) || !/^https?:\/\//i.test(origin));
  if (index < 0) return;
  const description = `${JSON.stringify(trustedOrigins[index])} is not an origin; pass one such as https://agents.example.com`;
  throw A2AError.invalidParams([{ field: `trustedOrigins[${index}]`, description }]);
}

/**
 * Returns an error if credentials would be sent to an origin that only the agent card names. An attacker who can change a
 * card could otherwise direct the user's credentials to any host. Returns `undefined` if the interface is on the
 * card's host and port or on a trusted origin.
 */
export function findUntrustedOriginError(
  agentInterface: AgentInterface,
  cardUrl: string,
  trustedOrigins: TrustedOrigins,
): A2AError | undefined {
  const origin = getInterfaceOrigin(agentInterface);
  if (trustedOrigins === "any") return undefined;
  const trustedUrls = [cardUrl, ...trustedOrigins].map((trusted) => new URL(trusted));
  if (trustedUrls.some((trusted) => isSameHostAndPort(trusted, new URL(origin)))) return undefined;
  const message = `The card of ${new URL(cardUrl).origin} names an agent at ${origin}, so credentials and headers are not sent. If you trust that agent, set { trustedOrigins: [${JSON.stringify(origin)}] }.`;
  return new A2AError("INVALID_AGENT_RESPONSE", message, { metadata: { untrustedOrigin: origin } });
}

/**
 * Returns whether two URLs have the same host and port. The default ports of HTTP and HTTPS count as one port, because
 * `findUnencryptedCredentialsError` refuses the change from HTTPS to HTTP. All names of the local machine are one host.
 */
function isSameHostAndPort(url: URL, other: URL): boolean {
  return toHostName(url) === toHostName(other) && url.port === other.port;
}

function toHostName({ hostname }: URL): string {
  return isLoopback(hostname) ? "localhost" : hostname;
}

/**
 * Returns the origin of an interface. A gRPC address without TLS has the scheme `http`, and one with TLS has the
 * scheme `https`.
 */
export function getInterfaceOrigin({ url, protocolBinding }: AgentInterface): string {
  if (protocolBinding === "GRPC") {
    const { address, tls } = parseGrpcAddress(url);
    return new URL(`${tls ? "https" : "http"}://${address}`).origin;
  }
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  const message = `The card's ${protocolBinding} interface has the URL ${JSON.stringify(url)}, which is not an HTTP URL. The card is invalid.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

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
