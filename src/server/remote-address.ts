/**
 * Returns the key under which the server accounts for the requests of a remote address. All addresses of one IPv6
 * network `/64` have the same key, because one machine usually has the entire network. Requests without a known
 * address share the key `unknown`.
 */
export function getAddressHolderKey(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return "unknown";
  if (!remoteAddress.includes(":")) return remoteAddress;
  const [address = ""] = remoteAddress.split("%", 1);
  const lastGroup = address.slice(address.lastIndexOf(":") + 1);
  // An IPv4-mapped address, such as `::ffff:192.0.2.1`, is the address of an IPv4 client.
  if (lastGroup.includes(".")) return lastGroup;
  if (!isIpv6Address(address)) return remoteAddress;
  const network = parseIpv6(address).slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(":")}::/64`;
}

function isIpv6Address(address: string): boolean {
  return URL.canParse(`http://[${address}]`);
}

/** Returns the eight groups of an IPv6 address as numbers. */
export function parseIpv6(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const leading = parseIpv6Groups(head);
  if (tail === undefined) return leading;
  const trailing = parseIpv6Groups(tail);
  return [...leading, ...Array.from({ length: 8 - leading.length - trailing.length }, () => 0), ...trailing];
}

function parseIpv6Groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/**
 * Returns the address of the client from the second argument that a runtime passes to a fetch handler. Deno passes an
 * object with `remoteAddr`, and Bun passes its server. A host can also pass an object with `remoteAddress`.
 */
export function findRuntimeRemoteAddress(request: Request, runtimeInfo: unknown): string | undefined {
  if (typeof runtimeInfo !== "object" || runtimeInfo === null) return undefined;
  const { remoteAddress, remoteAddr }: { readonly remoteAddress?: unknown; readonly remoteAddr?: unknown } =
    runtimeInfo;
  if (typeof remoteAddress === "string") return remoteAddress;
  if (typeof remoteAddr === "object" && remoteAddr !== null && "hostname" in remoteAddr)
    return typeof remoteAddr.hostname === "string" ? remoteAddr.hostname : undefined;
  if (!isBunServer(runtimeInfo)) return undefined;
  return runtimeInfo.requestIP(request)?.address;
}

interface BunServer {
  requestIP(request: Request): { readonly address: string } | null;
}

function isBunServer(runtimeInfo: object): runtimeInfo is BunServer {
  return "requestIP" in runtimeInfo && typeof runtimeInfo.requestIP === "function";
}
