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
  return isIpv6Address(address) ? `${expandIpv6Groups(address).slice(0, 4).join(":")}::/64` : remoteAddress;
}

function isIpv6Address(address: string): boolean {
  return URL.canParse(`http://[${address}]`);
}

/** Returns the eight groups of an IPv6 address, without leading zeros. */
function expandIpv6Groups(address: string): string[] {
  const [head = "", tail] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16).toString(16));
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
