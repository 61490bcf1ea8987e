import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import { v1 } from "../wire/index.ts";
import { type Http, isObject, JSON_TYPES, parseJson, readText, request } from "./http.ts";

export interface Discovered {
  readonly card: AgentCard;
  readonly cardUrl: string;
  /** What the card offers, in words; of a card of an older protocol, too. */
  readonly offers: string;
}

const WELL_KNOWN = "/.well-known/agent-card.json";
/** Where cards were before A2A 0.3. */
const LEGACY = "/.well-known/agent.json";

/**
 * Finds the card of an agent by the URL of its host, of its card or of the agent itself. A card at the root of the
 * host counts for a path below it only if it names that path, so that a misspelt path never finds another agent.
 */
export async function discover(http: Http, given: string, signal?: AbortSignal): Promise<Discovered> {
  const url = parseUrl(given);
  const tries: string[] = [];
  let failure: A2AError | undefined;
  for (const candidate of candidates(url)) {
    const found = await fetchCard(http, candidate, url, signal);
    if (!(found instanceof A2AError)) return found;
    tries.push(`${candidate}: ${found.message}`);
    if (failure === undefined || failure.reason === "NOT_FOUND") failure = found;
    // The other places are on the same host.
    if (found.reason === "UNAVAILABLE") break;
  }
  const message = `Found no agent card for ${given}; give the URL of an agent, of its host or of its card. Tried:\n  ${tries.join("\n  ")}`;
  throw new A2AError(failure?.reason ?? "NOT_FOUND", message, { cause: failure });
}

function parseUrl(given: string): URL {
  // Without a scheme: TLS, but for this machine.
  const local = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/i.test(given);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `${local ? "http" : "https"}://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  const description = `${JSON.stringify(given)} is no HTTP URL; give one such as http://localhost:4000`;
  throw A2AError.invalidParams([{ field: "url", description }]);
}

function candidates(url: URL): string[] {
  const path = url.pathname.replace(/\/+$/, "");
  if (path.endsWith(".json")) return [url.href];
  const places = [path + WELL_KNOWN, path, WELL_KNOWN, path + LEGACY, LEGACY].filter((place) => place !== "");
  return [...new Set(places)].map((place) => new URL(place + url.search, url.origin).href);
}

/** The card at a place, or why there is none. */
async function fetchCard(
  http: Http,
  candidate: string,
  asked: URL,
  signal: AbortSignal | undefined,
): Promise<Discovered | A2AError> {
  try {
    const response = await request(http, { method: "GET", url: candidate, accept: JSON_TYPES, signal });
    const text = await readText(http, response, signal);
    if (!response.ok) return new A2AError(REASONS[response.status] ?? "NOT_FOUND", `HTTP ${response.status}`);
    const json = parseJson(text);
    if (!isCard(json)) return new A2AError("INVALID_AGENT_RESPONSE", "not an agent card");
    const card = v1.decodeCard(json);
    const found = {
      card: withAbsoluteUrls(card, candidate),
      cardUrl: candidate,
      offers: offersOf(card, json),
    };
    if (isBelow(candidate, asked) || names(found.card, asked)) return found;
    return new A2AError(
      "NOT_FOUND",
      `the card of ${JSON.stringify(card.name)}, which does not name ${asked.pathname}`,
    );
  } catch (error) {
    if (error instanceof A2AError) return error;
    throw error;
  }
}

const REASONS: Record<number, "UNAUTHENTICATED" | "PERMISSION_DENIED" | "UNAVAILABLE"> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  503: "UNAVAILABLE",
};

function isCard(json: unknown): json is Record<string, unknown> {
  return (
    isObject(json) &&
    typeof json["name"] === "string" &&
    ("supportedInterfaces" in json || "supported_interfaces" in json || "url" in json)
  );
}

/** Whether a card's place belongs to the path that was asked for. */
function isBelow(candidate: string, asked: URL): boolean {
  const path = asked.pathname.replace(/\/+$/, "");
  return new URL(candidate).pathname.startsWith(path);
}

function names(card: AgentCard, asked: URL): boolean {
  const wanted = asked.pathname.replace(/\/+$/, "");
  return card.supportedInterfaces.some(({ url }) => {
    return URL.canParse(url) && new URL(url).pathname.replace(/\/+$/, "") === wanted;
  });
}

function withAbsoluteUrls(card: AgentCard, cardUrl: string): AgentCard {
  const supportedInterfaces = card.supportedInterfaces.map((one) =>
    one.url.startsWith("/") ? { ...one, url: new URL(one.url, cardUrl).href } : one,
  );
  return { ...card, supportedInterfaces };
}

function offersOf(card: AgentCard, json: Record<string, unknown>): string {
  const offers = card.supportedInterfaces.map((one) => `${one.protocolBinding} ${one.protocolVersion}`);
  if (offers.length > 0) return offers.join(", ");
  if (!("url" in json)) return "nothing";
  // A card of 0.3 or older has one interface, spread over its top level.
  const { preferredTransport = "JSONRPC", protocolVersion = "0.2" } = json;
  return `${String(preferredTransport)} ${String(protocolVersion)}`;
}

/** The bindings that this client speaks. */
export type ClientBinding = "JSONRPC" | "HTTP+JSON";

/** The first interface of the card that this client speaks, at protocol 1.0 (A2A §8.3.2); never a silent older version. */
export function chooseInterface({ card, offers }: Discovered, binding?: ClientBinding): AgentInterface {
  const bindings: readonly string[] = binding ? [binding] : ["JSONRPC", "HTTP+JSON"];
  const chosen = card.supportedInterfaces.find(
    ({ protocolBinding, protocolVersion }) =>
      bindings.includes(protocolBinding) && /^1\.0(?:\.|$)/.test(protocolVersion),
  );
  if (chosen) return chosen;
  const wanted = bindings.join(" or ");
  const message = `${JSON.stringify(card.name)} does not offer ${wanted} at A2A 1.0; its card offers ${offers}.`;
  throw new A2AError("VERSION_NOT_SUPPORTED", message);
}
