import {
  A2AError,
  type AgentCard,
  isObject,
  stripTrailingCharacters,
  truncateText,
  parseJsonOrUndefined,
} from "../../protocol/index.ts";
import { createTimeoutError, withDeadline } from "../http/deadline.ts";
import { readBoundedText } from "../http/fetch-without-redirects.ts";
import { limitCardBytes, sendRequest } from "../transport/send-http-request.ts";
import { type TrustedOrigins } from "../trusted-origins.ts";
import { decodeCard } from "./decode-card.ts";
import { discoverCard, parseAgentUrl } from "./discover-card.ts";
import { type CardFetchOptions, fetchCard, fetchCardBeforeDeadline } from "./fetch-card.ts";

/** An agent that a host lists in a catalog. */
export interface DiscoveredAgent {
  /** URL of the agent card, which `connect` accepts. Undefined if the catalog contains the card itself. */
  readonly cardUrl: string | undefined;
  /** The name in the catalog, or else the name in the agent card. */
  readonly name: string | undefined;
  /** The description in the catalog, or else the description in the agent card. */
  readonly description: string | undefined;
  /** The agent card, unless it has another origin than its catalog, or cannot be read. */
  readonly card: AgentCard | undefined;
  /** The reason why the agent card, or a nested catalog, cannot be read. */
  readonly error: A2AError | undefined;
}

const CARD_TYPE = "application/a2a-agent-card+json";
const CATALOG_TYPE = "application/ai-catalog+json";
const ACCEPTED_TYPES = `${CATALOG_TYPE}, application/linkset+json, application/json`;

/** Limits of one search, because a catalog is foreign input that can be endless. */
const MAX_AGENTS = 1000;
const MAX_CATALOGS = 20;
/** Number of agent cards that one search reads at the same time. */
const CONCURRENT_REQUESTS = 8;
/** Longest time of one search, as a multiple of the time for one card. */
const MAX_TOTAL_TIMEOUTS = 10;

/** An entry of a catalog for an agent card. */
interface CatalogEntry {
  readonly cardUrl: string | undefined;
  /** The JSON of an agent card that the catalog contains. */
  readonly inlineCard: unknown;
  readonly catalogUrl: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** The reason why a nested catalog cannot be read. */
  readonly error?: A2AError;
}

/**
 * Lists the agents of a host by its AI catalog, or else by its API catalog (RFC 9727), or else by its own agent card.
 * Reads the agent cards whose origin is the origin of the catalog, or is trusted.
 */
export async function discoverAgents(
  options: CardFetchOptions,
  hostUrl: string,
  trustedOrigins: TrustedOrigins,
  signal: AbortSignal | undefined,
): Promise<DiscoveredAgent[]> {
  const url = parseAgentUrl(hostUrl);
  const totalMs = MAX_TOTAL_TIMEOUTS * options.timeoutMs;
  const createError = (): A2AError =>
    createTimeoutError(`Did not read all agent cards of ${hostUrl}`, totalMs, "Raise timeouts.connectMs");
  return await withDeadline(totalMs, signal, createError, (deadline) =>
    searchAgents(options, url, hostUrl, trustedOrigins, deadline),
  );
}

async function searchAgents(
  options: CardFetchOptions,
  url: URL,
  hostUrl: string,
  trustedOrigins: TrustedOrigins,
  signal: AbortSignal | undefined,
): Promise<DiscoveredAgent[]> {
  const entries =
    (await readAiCatalogs(options, url, signal)) ?? (await readApiCatalog(options, url, signal));
  if (!entries) {
    const { card, url: cardUrl } = await discoverCard(options, hostUrl, signal);
    return [{ cardUrl, name: card.name, description: card.description, card, error: undefined }];
  }
  const agents: DiscoveredAgent[] = [];
  const waiting = entries.slice(0, MAX_AGENTS).entries();
  const readCards = async (): Promise<void> => {
    for (const [index, entry] of waiting)
      agents[index] = await readEntryCard(options, entry, trustedOrigins, signal);
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, readCards));
  return agents;
}

async function readEntryCard(
  options: CardFetchOptions,
  entry: CatalogEntry,
  trustedOrigins: TrustedOrigins,
  signal: AbortSignal | undefined,
): Promise<DiscoveredAgent> {
  const { cardUrl, inlineCard, catalogUrl, name, description } = entry;
  let card: AgentCard | undefined;
  let { error } = entry;
  try {
    if (error) card = undefined;
    else if (cardUrl === undefined) card = await decodeInlineCard(options, inlineCard, catalogUrl);
    else if (isTrustedUrl(cardUrl, catalogUrl, trustedOrigins))
      card = (
        await fetchCardBeforeDeadline(options, cardUrl, signal, (deadline) =>
          fetchCard(options, cardUrl, deadline),
        )
      ).card;
  } catch (thrown) {
    error = toEntryError(thrown, cardUrl ?? catalogUrl, signal);
  }
  return {
    cardUrl,
    name: name ?? card?.name,
    description: description ?? card?.description,
    card,
    error,
  };
}

/** Returns the error of an entry, which must not hide the other entries. Throws the reason of an aborted search. */
function toEntryError(thrown: unknown, url: string, signal: AbortSignal | undefined): A2AError {
  if (signal?.aborted) throw thrown;
  if (thrown instanceof A2AError) return thrown;
  // For example, `verifyCard` has rejected the card.
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new A2AError("INVALID_AGENT_RESPONSE", `${url}: ${reason}`, { cause: thrown });
}

async function decodeInlineCard(
  { transportOptions, verifyCard }: CardFetchOptions,
  json: unknown,
  catalogUrl: string,
): Promise<AgentCard> {
  const card = await decodeCard(json, catalogUrl, verifyCard !== undefined, transportOptions.peerLeniency);
  await verifyCard?.(json);
  return card;
}

/** A catalog could otherwise send the requests of its reader, with the reader's credentials, to any host. */
function isTrustedUrl(url: string, catalogUrl: string, trustedOrigins: TrustedOrigins): boolean {
  if (trustedOrigins === "any") return true;
  const { origin } = new URL(url);
  return [catalogUrl, ...trustedOrigins].some((trusted) => new URL(trusted).origin === origin);
}

/** Returns the entries of the AI catalog of a host and of its nested catalogs, or `undefined` if there is no catalog. */
async function readAiCatalogs(
  options: CardFetchOptions,
  hostUrl: URL,
  signal: AbortSignal | undefined,
): Promise<CatalogEntry[] | undefined> {
  const root = await readFirstJson(options, hostUrl, "ai-catalog.json", isAiCatalog, signal);
  if (!root) return undefined;
  const entries: CatalogEntry[] = [];
  const catalogs = [root];
  const knownUrls = new Set([root.url]);
  for (let catalog = catalogs.shift(); catalog; catalog = catalogs.shift()) {
    for (const item of listMembers(catalog.json, "entries")) {
      const type = item["type"] ?? item["mediaType"];
      const url = parseHttpUrl(item["url"], catalog.url);
      if (type === CARD_TYPE && (url !== undefined || item["data"] !== undefined))
        entries.push({ ...toNamedEntry(item, catalog.url), cardUrl: url, inlineCard: item["data"] });
      const isNew = url !== undefined && !knownUrls.has(url) && knownUrls.size < MAX_CATALOGS;
      if (type !== CATALOG_TYPE || !isNew || !isTrustedUrl(url, root.url, [])) continue;
      knownUrls.add(url);
      const nested = await readNestedCatalog(options, url, signal);
      if (nested instanceof A2AError) entries.push({ ...toNamedEntry(item, catalog.url), error: nested });
      else catalogs.push({ url, json: nested });
    }
  }
  return entries;
}

function toNamedEntry(item: Record<string, unknown>, catalogUrl: string): CatalogEntry {
  const name = toText(item["displayName"]);
  return {
    cardUrl: undefined,
    inlineCard: undefined,
    catalogUrl,
    name,
    description: toText(item["description"]),
  };
}

/** Resolves with the nested catalog at a URL, or with the reason why it cannot be read. */
async function readNestedCatalog(
  options: CardFetchOptions,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown> | A2AError> {
  try {
    const json = await readJson(options, url, signal);
    if (isAiCatalog(json)) return json;
    return new A2AError(
      "INVALID_AGENT_RESPONSE",
      `Found no AI catalog at ${url}, which another catalog names.`,
    );
  } catch (thrown) {
    return toEntryError(thrown, url, signal);
  }
}

/** AI Catalog 0.9 is the candidate for 1.0. Earlier drafts call `type` `mediaType`. */
function isAiCatalog(json: unknown): json is Record<string, unknown> {
  if (!isObject(json) || !Array.isArray(json["entries"])) return false;
  return typeof json["specVersion"] === "string" && /^[01]\./.test(json["specVersion"]);
}

function isLinkset(json: unknown): json is Record<string, unknown> {
  return isObject(json) && "linkset" in json;
}

/** Returns the agent cards in an API catalog, or `undefined` if there is no catalog or it names no agent card. */
async function readApiCatalog(
  options: CardFetchOptions,
  hostUrl: URL,
  signal: AbortSignal | undefined,
): Promise<CatalogEntry[] | undefined> {
  const catalog = await readFirstJson(options, hostUrl, "api-catalog", isLinkset, signal);
  if (!catalog) return undefined;
  const links = listMembers(catalog.json, "linkset").flatMap((context) =>
    ["service-desc", "service-meta", "describedby"].flatMap((relation) => listMembers(context, relation)),
  );
  const cardUrls = links.flatMap(({ href, type }) => {
    const url = parseHttpUrl(href, catalog.url);
    if (url === undefined) return [];
    return type === CARD_TYPE || /\/agent(?:-card)?\.json$/.test(new URL(url).pathname) ? [url] : [];
  });
  if (cardUrls.length === 0) return undefined;
  return [...new Set(cardUrls)].map((cardUrl) => ({
    cardUrl,
    inlineCard: undefined,
    catalogUrl: catalog.url,
    name: undefined,
    description: undefined,
  }));
}

/** Reads a well-known document below the path of a host's URL, or else at its root. */
async function readFirstJson(
  options: CardFetchOptions,
  { origin, pathname }: URL,
  name: string,
  isExpected: (json: unknown) => json is Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<{ url: string; json: Record<string, unknown> } | undefined> {
  const paths = new Set([stripTrailingCharacters(pathname, "/"), ""]);
  for (const path of paths) {
    const url = `${origin}${path}/.well-known/${name}`;
    const json = await readJson(options, url, signal);
    if (isExpected(json)) return { url, json };
  }
  return undefined;
}

/** Resolves with the JSON at a URL, or with `undefined` if the server has no JSON there, or redirects the request. */
async function readJson(
  { transportOptions, timeoutMs }: CardFetchOptions,
  url: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const createError = (): A2AError =>
    createTimeoutError(`Read no catalog at ${url}`, timeoutMs, "Raise timeouts.connectMs");
  return await withDeadline(timeoutMs, signal, createError, async (deadline) => {
    const request = { method: "GET", url, accept: ACCEPTED_TYPES, signal: deadline } as const;
    const response = await sendRequest(transportOptions, request).catch(ignoreRedirect);
    if (!response) return undefined;
    if (response.ok)
      return parseJsonOrUndefined(
        await readBoundedText(limitCardBytes(transportOptions), response, deadline),
      );
    await response.body?.cancel();
    return undefined;
  });
}

/** Hosts redirect unknown paths, for example to a page for people. */
function ignoreRedirect(error: unknown): undefined {
  if (!(error instanceof A2AError) || error.reason !== "INVALID_AGENT_RESPONSE") throw error;
}

/** Users can show the URL as a link, so it must have no other scheme, such as `javascript:`. */
function parseHttpUrl(value: unknown, base: string): string | undefined {
  const url = typeof value === "string" ? URL.parse(value, base) : null;
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function listMembers(json: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const value = json[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? truncateText(value, 1000) : undefined;
}
