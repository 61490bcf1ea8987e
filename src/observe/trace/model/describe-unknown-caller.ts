import type { RequestLine } from "../traffic-line-types.ts";

/**
 * How a model knows the caller of a request. `stated`: a line names the caller. `task`: the request was made during a
 * task of the caller, which a parent, a trace, or a reference shows. `record`: the caller wrote the record. `headers`:
 * only the User-Agent header or the IP address is known, so that several callers can have the same name. `none`: nothing
 * is known.
 */
export type CallerEvidence = "stated" | "task" | "record" | "headers" | "none";

/** The name of a caller, and the evidence for it. */
export interface IdentifiedCaller {
  readonly name: string;
  readonly evidence: CallerEvidence;
}

/** Name of a console as a caller, also in the records that the console writes. */
export const CONSOLE_CALLER = "console";

/** User agent of the requests that a console sends. */
export const CONSOLE_USER_AGENT = "colloquy-console";

const MAX_PRODUCT_LENGTH = 60;

/**
 * Names a caller by its HTTP library and its address, for example `client (python-httpx/0.28.1)`. The word *client* shows
 * that the name is no name of an agent.
 */
export function describeUnknownCaller({
  headers,
  from_address: address = "",
}: Pick<RequestLine, "headers" | "from_address">): IdentifiedCaller {
  if (headers?.["user-agent"] === CONSOLE_USER_AGENT) return { name: CONSOLE_CALLER, evidence: "headers" };
  const hints = [parseUserAgent(headers?.["user-agent"] ?? ""), isLoopbackAddress(address) ? "" : address];
  const known = hints.filter((hint) => hint !== "");
  return known.length === 0
    ? { name: "client", evidence: "none" }
    : { name: `client (${known.join(", ")})`, evidence: "headers" };
}

/** Returns the first product of a User-Agent header, such as `grpc-python/1.80.0`. All browsers are `browser`. */
function parseUserAgent(userAgent: string): string {
  const [product = ""] = userAgent.trim().split(/[\s(]/, 1);
  if (product.startsWith("Mozilla/")) return "browser";
  return product.length > MAX_PRODUCT_LENGTH ? "" : product;
}

function isLoopbackAddress(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
