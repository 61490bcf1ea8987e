import { BlockList, isIPv4, isIPv6 } from "node:net";

/** A list of allowed hosts, which can contain host names, domains, IP addresses, and networks. */
export class HostList {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #networks = new BlockList();

  /**
   * Each entry of the list is a host name (`hooks.example.com`), a domain (`*.example.com`), an IP address,
   * or a network (`10.0.0.0/8`).
   */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#addEntry(entry);
  }

  hasName(name: string): boolean {
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  hasAddress(address: string): boolean {
    if (isIPv4(address)) return this.#networks.check(address, "ipv4");
    return isIPv6(address) && this.#networks.check(address, "ipv6");
  }

  #addEntry(entry: string): void {
    const [network = "", prefix, ...more] = entry.replaceAll(/[[\]]/g, "").split("/");
    const family = isIPv4(network) ? "ipv4" : isIPv6(network) ? "ipv6" : undefined;
    if (family) {
      const maxBits = family === "ipv4" ? 32 : 128;
      // `Number("")` is 0, so an empty prefix would match every address.
      const bits = prefix === undefined ? maxBits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
      if (more.length > 0 || bits > maxBits) throw createInvalidHostError(entry);
      this.#networks.addSubnet(network, bits, family);
      return;
    }
    const name = normalizeHostname(network.replace(/^\*\./, ""));
    if (prefix !== undefined || name === undefined) throw createInvalidHostError(entry);
    if (network.startsWith("*.")) this.#suffixes.push(`.${name}`);
    else this.#names.add(name);
  }
}

function createInvalidHostError(entry: string): Error {
  return new Error(
    `${JSON.stringify(entry)} is not a host or network; use "hooks.example.com", "*.example.com", "10.1.2.3", or "10.0.0.0/8".`,
  );
}

/**
 * Normalizes a host name in the same way as a URL parser. Returns `undefined` if the host name is invalid.
 */
function normalizeHostname(text: string): string | undefined {
  const url = /^[^\s/?#@:\\*]+$/.test(text) ? URL.parse(`http://${text}/`) : null;
  return url ? getBareHostname(url) : undefined;
}

/** Returns the host of a URL. The result contains no trailing dot and no brackets around an IPv6 address. */
export function getBareHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
