import { isLoopbackHost } from "../../../protocol/index.ts";

const PRIVATE_HOST =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[f[cde]|[^.:]+$)|\.(?:internal|local|lan|svc)$/;

/** Returns who can reach a host of a URL: this machine, machines of its network, or everybody. */
export function classifyHost(hostname: string): "loopback" | "private" | "public" {
  if (isLoopbackHost(hostname) || hostname.endsWith(".localhost")) return "loopback";
  return PRIVATE_HOST.test(hostname) ? "private" : "public";
}

/**
 * Compares the address of an interface with the address of its card, and returns a problem or a warning. `asked` and
 * `origin` are URLs.
 */
export function judgeAddress(
  asked: string,
  origin: string,
): { readonly result: "problem" | "warning"; readonly seen: string } | undefined {
  const [one, other] = [new URL(asked), new URL(origin)];
  const reach = classifyHost(other.hostname);
  const askedReach = classifyHost(one.hostname);
  if (reach !== "public" && askedReach === "public")
    return { result: "problem", seen: `The card names ${origin}, which clients elsewhere cannot reach.` };
  if (other.protocol === "http:" && reach === "public")
    return { result: "problem", seen: `${origin} is not encrypted.` };
  if (other.protocol === "http:" && one.protocol === "https:")
    return { result: "problem", seen: `The card has HTTPS, and names ${origin} without encryption.` };
  if (other.hostname !== one.hostname && !(reach === "loopback" && askedReach === "loopback"))
    return { result: "warning", seen: `The card names ${origin}, and clients send it no credentials.` };
  if (other.protocol === "http:" && reach === "private")
    return { result: "warning", seen: `${origin} is not encrypted.` };
  return undefined;
}
