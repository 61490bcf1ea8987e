import { A2AError } from "../protocol/index.ts";
import { isDeviationAccepted } from "../wire/index.ts";
import { handleJsonRpc } from "./bindings/json-rpc.ts";
import {
  assertHttpMethodAllowed,
  createJsonReply,
  type HttpReply,
  type HttpRequest,
} from "./http-exchange.ts";
import type { BindingContext } from "./bindings/request-pipeline.ts";
import { createRestErrorReply, handleRest } from "./bindings/rest.ts";
import { type ServedAgent, getAgentPath } from "./served-agent.ts";
import type { JSONWebKeySet } from "../wire/keys/index.ts";
import type { CardSigningOptions } from "./card/card-signing.ts";
import type { PushSigner } from "./push/push-signer.ts";

/** Path of an agent card below the URL of its agent (A2A §8.2). */
const CARD_PATH = "/.well-known/agent-card.json";
/** The card path with the slash that some clients append (`slashAfterCardPath`). */
const CARD_PATH_WITH_SLASH = `${CARD_PATH}/`;
const JWKS_PATH = "/.well-known/jwks.json";
/** URL path of agent cards in versions before A2A 0.3. */
const LEGACY_CARD_PATH = "/.well-known/agent.json";
const READ_METHODS = ["GET", "HEAD"];
/** The functions that render the lists of the server's agents, by path. */
const RENDERERS_OF_AGENT_LISTS = new Map<string, AgentListRenderer>([
  ["/a2a", renderAgentList],
  ["/a2a/", renderAgentList],
  ["/.well-known/ai-catalog.json", renderAiCatalog],
  ["/.well-known/api-catalog", renderApiCatalog],
]);

/** Settings and services that the router and the protocol bindings use to handle a request. */
export interface RouterContext extends BindingContext {
  /** Agents by id, in the same order as in the argument of `createServer`. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** The option `previousAgentIds` of the server: current agent ids by earlier ids. Both are valid in URL paths. */
  readonly currentIdsByEarlierId: ReadonlyMap<string, string>;
  /** The first agent, which the server also serves at the root path. */
  readonly defaultAgent: ServedAgent | undefined;
  /** Base URL of the URLs in agent cards. The default base URL is the origin of the request. */
  readonly publicUrl: string | undefined;
  /**
   * Provides the public keys that verify the server's agent cards and push notifications. A server that signs
   * neither agent cards nor push notifications has no key provider.
   */
  readonly jwksProvider: PublishedJwksProvider | undefined;
  /** Throws an error if the host or the web page of a request is not allowed. */
  readonly assertRequestAllowed: (request: HttpRequest) => void;
}

/**
 * Finds the agent in the path of a request, and passes the request to the agent card or to a protocol
 * binding. Never rejects, because every error becomes an error reply.
 */
export function routeRequest(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  const { recordRefusal } = context.instrument;
  if (!recordRefusal) return dispatchOrRefuse(request, context);
  const startMs = performance.now();
  return dispatchOrRefuse(request, context).then((reply) => {
    const { status, refusal } = reply;
    if (refusal) recordRefusal({ ...refusal, request, status, startMs });
    return reply;
  });
}

async function dispatchOrRefuse(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  try {
    context.assertRequestAllowed(request);
    return await dispatchRequest(request, context);
  } catch (thrown) {
    const error = context.reportError("server", thrown);
    const reply = createRestErrorReply(request, context.specRevision, error);
    // Browsers and scanners request paths that belong to no agent.
    if (error.reason === "NOT_FOUND") return reply;
    return { ...reply, refusal: { operation: request.method, binding: "HTTP", error } };
  }
}

function dispatchRequest(request: HttpRequest, context: RouterContext): HttpReply | Promise<HttpReply> {
  const { path } = request;
  if (path === "*") return handleServerOptions(request);
  const renderList = RENDERERS_OF_AGENT_LISTS.get(path);
  if (renderList) return handleAgentList(request, context, renderList);
  if (path === JWKS_PATH && context.jwksProvider) return handleJwks(request, context.jwksProvider);
  const { agent, rest } = findAgentByPath(path, context);
  if (!agent) throw createAgentNotFoundError(`at ${path}`);
  if (isCardPath(rest, context)) {
    assertHttpMethodAllowed(request, READ_METHODS);
    const { cardPublisher } = findAgentByAssistantId(request, context) ?? agent;
    return cardPublisher.handle(request, getBaseUrl(request, context));
  }
  if (rest !== "" && rest !== "/") return handleRest(request, agent, context, rest);
  assertHttpMethodAllowed(request, ["POST"]);
  return handleJsonRpc(request, agent, context);
}

function isCardPath(path: string, { peerLeniency }: RouterContext): boolean {
  if (path === CARD_PATH || path === LEGACY_CARD_PATH) return true;
  return path === CARD_PATH_WITH_SLASH && isDeviationAccepted("slashAfterCardPath", peerLeniency);
}

/** Replies to `OPTIONS *`, which asks for the abilities of the whole server (RFC 9110 §9.3.7). */
function handleServerOptions(request: HttpRequest): HttpReply {
  assertHttpMethodAllowed(request, ["OPTIONS"]);
  return { status: 200, headers: { allow: "GET, HEAD, POST, DELETE, OPTIONS" } };
}

function createAgentNotFoundError(place: string): A2AError {
  return new A2AError("NOT_FOUND", `This server has no agent ${place}; GET /a2a lists its agents.`);
}

/** Returns the agent that a request path addresses, and the rest of the path. */
function findAgentByPath(
  path: string,
  context: RouterContext,
): { agent: ServedAgent | undefined; rest: string } {
  if (path.startsWith("/a2a/")) {
    const end = path.indexOf("/", "/a2a/".length);
    const id = decodeUriComponentOrEmpty(path.slice("/a2a/".length, end < 0 ? undefined : end));
    return { agent: findAgentById(id, context), rest: end < 0 ? "" : path.slice(end) };
  }
  return { agent: context.defaultAgent, rest: path };
}

/** Returns the agent with a current or an earlier id. */
export function findAgentById(
  id: string,
  { agents, currentIdsByEarlierId }: Pick<RouterContext, "agents" | "currentIdsByEarlierId">,
): ServedAgent | undefined {
  return agents.get(id) ?? agents.get(currentIdsByEarlierId.get(id) ?? "");
}

/**
 * Returns the agent for an agent card request in the simple dialect. The query `?assistant_id=…` contains the
 * agent id.
 */
function findAgentByAssistantId(
  { path, query }: HttpRequest,
  context: RouterContext,
): ServedAgent | undefined {
  if (!context.simpleDialect || path !== CARD_PATH || query === "") return undefined;
  const id = new URLSearchParams(query).get("assistant_id");
  if (id === null) return undefined;
  const agent = findAgentById(id, context);
  if (agent) return agent;
  throw createAgentNotFoundError(`with the id ${JSON.stringify(id.slice(0, 80))}`);
}

function decodeUriComponentOrEmpty(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Replies with a list of the server's agents, which needs no authentication. */
async function handleAgentList(
  request: HttpRequest,
  context: RouterContext,
  renderList: AgentListRenderer,
): Promise<HttpReply> {
  assertHttpMethodAllowed(request, READ_METHODS);
  return await renderList({ agents: context.agents, baseUrl: getBaseUrl(request, context) });
}

/**
 * Replies with the public keys of the server's signatures. The request needs no authentication, because every
 * receiver must be able to verify signatures.
 */
async function handleJwks(request: HttpRequest, jwksProvider: PublishedJwksProvider): Promise<HttpReply> {
  assertHttpMethodAllowed(request, READ_METHODS);
  const body = JSON.stringify(await jwksProvider.getJwks());
  return createJsonReply(200, body, { "cache-control": "public, max-age=300" });
}

function getBaseUrl(request: HttpRequest, { publicUrl }: RouterContext): string {
  return publicUrl ?? request.origin;
}

/** Provides the public keys that the server publishes at `/.well-known/jwks.json`. */
interface PublishedJwksProvider {
  getJwks(): Promise<JSONWebKeySet>;
}

/**
 * Creates a provider of the public keys that verify the server's agent cards and push notifications. Returns
 * `undefined` if the server signs neither agent cards nor push notifications. The provider lists each public
 * key only once, because verifiers reject two keys with the same id.
 */
export function createPublishedJwksProvider(
  pushSigner: PushSigner | undefined,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[] | undefined,
): PublishedJwksProvider | undefined {
  if (!pushSigner && !cardSigning) return undefined;
  return {
    async getJwks() {
      const sets = await Promise.all([
        pushSigner?.getJwks(),
        cardSigning && loadCardSigningJwks(cardSigning),
      ]);
      const keys = sets.flatMap((set) => set?.keys ?? []);
      return { keys: [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()] };
    },
  };
}

async function loadCardSigningJwks(
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<JSONWebKeySet> {
  const { buildCardSigningJwks } = await import("./card/card-signing.ts");
  return await buildCardSigningJwks(cardSigning);
}

const CARD_TYPE = "application/a2a-agent-card+json";
const LINKSET_TYPE = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`;

/** The agents of a server, and the base URL of their URLs. */
interface ListedAgents {
  readonly agents: ReadonlyMap<string, ServedAgent>;
  readonly baseUrl: string;
}

interface ListedAgent extends Pick<ServedAgent, "id" | "cardPublisher"> {
  readonly url: string;
  readonly cardUrl: string;
}

function listAgents({ agents, baseUrl }: ListedAgents): ListedAgent[] {
  return [...agents.values()].map(({ id, cardPublisher }) => {
    const url = baseUrl + getAgentPath(id);
    return { id, cardPublisher, url, cardUrl: url + CARD_PATH };
  });
}

/** Renders a list of the agents of a server. */
type AgentListRenderer = (listed: ListedAgents) => HttpReply | Promise<HttpReply>;

/** Lists the id, name, description, URL, and card URL of every agent. */
export async function renderAgentList(listed: ListedAgents): Promise<HttpReply> {
  const agents = await Promise.all(
    listAgents(listed).map(async ({ id, cardPublisher, url, cardUrl }) => {
      const { name, description } = await cardPublisher.loadDescription();
      return { id, name, description, url, cardUrl };
    }),
  );
  return createJsonReply(200, JSON.stringify({ agents }));
}

/**
 * Lists the agent cards in the format of AI Catalog 0.9 (https://ai-catalog.io/spec). The entries have no names, because
 * the specification leaves names and descriptions to the agent cards.
 */
function renderAiCatalog(listed: ListedAgents): HttpReply {
  const entries = listAgents(listed).map(({ id, cardUrl }) => ({
    identifier: createEntryIdentifier(id, cardUrl),
    type: CARD_TYPE,
    url: cardUrl,
  }));
  const catalog = { specVersion: "0.9", entries };
  return createJsonReply(200, JSON.stringify(catalog), { "content-type": "application/ai-catalog+json" });
}

/** Returns an AI resource name for an agent of a domain. An agent of an IP address or of this machine has no such name. */
function createEntryIdentifier(id: string, cardUrl: string): string {
  const { hostname } = new URL(cardUrl);
  const isDomain = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/i.test(hostname);
  return isDomain ? `urn:air:${hostname}:${encodeURIComponent(id)}:a2a` : cardUrl;
}

/** Lists the agents as APIs whose descriptions are the agent cards (RFC 9727). */
function renderApiCatalog(listed: ListedAgents): HttpReply {
  const linkset = listAgents(listed).map(({ url, cardUrl }) => ({
    anchor: url,
    "service-desc": [{ href: cardUrl, type: CARD_TYPE }],
  }));
  return createJsonReply(200, JSON.stringify({ linkset }), {
    "content-type": LINKSET_TYPE,
    link: `<${listed.baseUrl}/.well-known/api-catalog>; rel="api-catalog"`,
  });
}
