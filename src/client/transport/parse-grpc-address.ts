import { A2AError } from "../../protocol/index.ts";
import { isLoopback } from "../http/loopback.ts";

/**
 * Parses a gRPC address or URL into `host:port`. TLS is the default, except for the local machine and for
 * addresses with the scheme `grpc` or `http`.
 */
export function parseGrpcAddress(address: string): { readonly address: string; readonly tls: boolean } {
  const [, scheme = "", rest = ""] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/i.exec(address) ?? [];
  const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined;
  if (!url || url.hostname === "" || !["", "grpc", "grpcs", "http", "https"].includes(scheme.toLowerCase())) {
    const description = `${JSON.stringify(address)} is not a gRPC address; use the form "agents.example.com:443"`;
    throw new A2AError("INVALID_AGENT_RESPONSE", description);
  }
  const isPlain = /^(grpc|http)$/i.test(scheme);
  const tls = !isPlain && (scheme !== "" || !isLoopback(url.hostname));
  const port = /:(\d+)(?:[/?#]|$)/.exec(rest)?.[1] ?? (tls ? "443" : "80");
  return { address: `${url.hostname}:${port}`, tls };
}
