import { parseGrpcAddress } from "../../../client/index.ts";
import { stripTrailingCharacters, isLoopbackHost } from "../../../protocol/index.ts";

/** The address of an interface of an agent card. */
export interface InterfaceAddress {
  readonly protocol: "http" | "grpc";
  /** Scheme, host, and port. All names of this machine become `127.0.0.1`. */
  readonly origin: string;
  /** Path without a slash at its end. Empty for gRPC. */
  readonly path: string;
}

/** Parses the URL of an interface, or returns `undefined` if it is not an HTTP URL or a gRPC address. */
export function parseInterfaceAddress(url: string, binding: string): InterfaceAddress | undefined {
  if (binding === "GRPC") {
    try {
      const { address, tls } = parseGrpcAddress(url);
      const origin = toCanonicalOrigin(new URL(`${tls ? "https" : "http"}://${address}`));
      return { protocol: "grpc", origin, path: "" };
    } catch {
      return undefined;
    }
  }
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return undefined;
  return {
    protocol: "http",
    origin: toCanonicalOrigin(parsed),
    path: stripTrailingCharacters(parsed.pathname, "/"),
  };
}

/**
 * Returns the origin of a URL. All names of this machine are one origin, and so is 0.0.0.0, which is a common mistake in
 * agent cards.
 */
export function toCanonicalOrigin(url: URL): string {
  if (!isThisMachine(url.hostname)) return url.origin;
  return `${url.protocol}//127.0.0.1${url.port === "" ? "" : `:${url.port}`}`;
}

export function isThisMachine(hostname: string): boolean {
  return isLoopbackHost(hostname) || hostname === "0.0.0.0" || hostname === "[::]";
}
