import {
  A2AError,
  type AgentCard,
  isObject,
  parseJsonOrUndefined,
  stripTrailingCharacters,
} from "../../protocol/index.ts";
import { readBoundedText } from "../http/fetch-without-redirects.ts";
import { JSON_MEDIA_TYPES, limitCardBytes, sendRequest } from "../transport/send-http-request.ts";
import type { TransportOptions } from "../transport/transport.ts";
import { type CardFetchOptions, fetchCard, fetchCardBeforeDeadline, type FetchedCard } from "./fetch-card.ts";

const WELL_KNOWN_PATH = "/.well-known/agent-card.json";
/** The well-known path of agent cards before A2A 0.3. */
const LEGACY_WELL_KNOWN_PATH = "/.well-known/agent.json";

/**
 * Finds an agent card by the URL of the agent, the host, or the card. If the URL has a path, a card at the
 * root of the host is accepted only if one of its interfaces has that path. A misspelled path therefore never
 * finds the card of a different agent.
 */
export async function discoverCard(
  fetchOptions: CardFetchOptions,
  agentUrl: string,
  signal: AbortSignal | undefined,
): Promise<FetchedCard> {
  const url = parseAgentUrl(agentUrl);
  return await fetchCardBeforeDeadline(fetchOptions, agentUrl, signal, (deadline) =>
    tryCandidateUrls(fetchOptions, agentUrl, url, deadline),
  );
}

async function tryCandidateUrls(
  fetchOptions: CardFetchOptions,
  agentUrl: string,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<FetchedCard> {
  const attempts: string[] = [];
  let failure: A2AError | undefined;
  for (const candidate of listCandidateUrls(url)) {
    const result = await fetchCandidateCard(fetchOptions, candidate, url, signal);
    if (!(result instanceof A2AError)) return result;
    attempts.push(`${candidate}: ${result.message}`);
    if (failure === undefined || failure.reason === "NOT_FOUND") failure = result;
    // The remaining candidates are on the same host.
    if (result.reason === "UNAVAILABLE") break;
  }
  const reason = failure?.reason ?? "NOT_FOUND";
  const agentUrls =
    reason === "NOT_FOUND" && url.pathname !== "/"
      ? await listServerAgentUrls(fetchOptions.transportOptions, url, signal)
      : [];
  // Without an answer, nothing is known about the card.
  const silence = reason === "UNAVAILABLE" && failure?.cause !== undefined ? `${failure.message}\n` : "";
  const message = `${silence}Found no agent card for ${agentUrl}. ${formatServerAgents(agentUrls)}Pass the URL of an agent, its host, or its card. Tried:\n  ${attempts.join("\n  ")}`;
  throw new A2AError(reason, message, { cause: failure });
}

const MAX_PRINTED_AGENTS = 10;

function formatServerAgents(urls: readonly string[]): string {
  if (urls.length === 0) return "";
  const shown = urls.slice(0, MAX_PRINTED_AGENTS);
  const all = urls.length > shown.length ? [...shown, `${urls.length - shown.length} more`] : shown;
  return `The server has the agent${urls.length > 1 ? "s" : ""} ${new Intl.ListFormat("en").format(all)}. `;
}

export function parseAgentUrl(location: unknown): URL {
  if (typeof location !== "string" && !(location instanceof URL)) {
    const description = `is ${location === null ? "null" : `of type ${typeof location}`}; pass the URL of an agent, such as http://localhost:4000`;
    throw A2AError.invalidParams([{ field: "url", description }]);
  }
  const address = String(location);
  // A URL without a scheme uses HTTPS, except for the local machine.
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/i.test(address);
  // A host may be followed by a port, but the rest of a URL never starts with a digit.
  const text = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(address)
    ? address
    : `${isLocal ? "http" : "https"}://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  const description = `${JSON.stringify(address)} is not an HTTP URL; pass one such as http://localhost:4000`;
  throw A2AError.invalidParams([{ field: "url", description }]);
}

function listCandidateUrls(url: URL): string[] {
  const path = stripTrailingCharacters(url.pathname, "/");
  if (path.endsWith(".json")) return [url.href];
  const paths = [
    path + WELL_KNOWN_PATH,
    path,
    WELL_KNOWN_PATH,
    path + LEGACY_WELL_KNOWN_PATH,
    LEGACY_WELL_KNOWN_PATH,
  ].filter((path) => path !== "");
  return [...new Set(paths)].map((path) => new URL(path + url.search, url.origin).href);
}

/** Fetches the agent card at a candidate URL, and returns an error if no matching card exists at that URL. */
async function fetchCandidateCard(
  fetchOptions: CardFetchOptions,
  candidate: string,
  requestedUrl: URL,
  signal: AbortSignal | undefined,
): Promise<FetchedCard | A2AError> {
  try {
    const found = await fetchCard(fetchOptions, candidate, signal);
    if (isCardUrlUnderRequestedPath(candidate, requestedUrl) || hasInterfaceAtPath(found.card, requestedUrl))
      return found;
    return new A2AError(
      "NOT_FOUND",
      `the card of ${JSON.stringify(found.card.name)} does not name ${requestedUrl.pathname}`,
    );
  } catch (error) {
    if (error instanceof A2AError) return error;
    throw error;
  }
}

/** Returns whether a candidate URL has the requested path or a path below the requested path. */
function isCardUrlUnderRequestedPath(candidate: string, requestedUrl: URL): boolean {
  const path = stripTrailingCharacters(requestedUrl.pathname, "/");
  return new URL(candidate).pathname.startsWith(path);
}

function hasInterfaceAtPath(card: AgentCard, requestedUrl: URL): boolean {
  const requestedPath = stripTrailingCharacters(requestedUrl.pathname, "/");
  return card.supportedInterfaces.some(({ url }) => {
    return URL.canParse(url) && stripTrailingCharacters(new URL(url).pathname, "/") === requestedPath;
  });
}

/**
 * Returns the URLs of the agents that the server of `url` lists at `/a2a`, in the order of the list. Servers other than
 * Colloquy have no such list, so the result is empty for them and for servers that do not answer.
 */
export async function listServerAgentUrls(
  transportOptions: TransportOptions,
  { origin, pathname }: URL,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const end = pathname.indexOf("/a2a/");
  const url = `${origin}${end < 0 ? "" : pathname.slice(0, end)}/a2a`;
  try {
    const response = await sendRequest(transportOptions, {
      method: "GET",
      url,
      accept: JSON_MEDIA_TYPES,
      signal,
    });
    const text = await readBoundedText(limitCardBytes(transportOptions), response, signal);
    const json = parseJsonOrUndefined(text);
    const agents = isObject(json) && Array.isArray(json["agents"]) ? json["agents"] : [];
    const ids = agents.map((agent) => (isObject(agent) ? agent["id"] : undefined));
    return ids.filter(isAgentId).map((id) => `${url}/${id}`);
  } catch {
    return [];
  }
}

/** Returns whether a value is a valid agent id, which an error message can contain unescaped. */
function isAgentId(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9._~-]{1,100}$/.test(value);
}
