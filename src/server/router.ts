import type { Observer } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { isDeviationAccepted } from "../wire/index.ts";
import {
  type AgentListRenderer,
  CARD_PATH,
  renderAgentList,
  renderAiCatalog,
  renderApiCatalog,
} from "./agent-catalogs.ts";
import { handleJsonRpc } from "./bindings/json-rpc.ts";
import { assertHttpMethodAllowed } from "./bindings/method-not-allowed-error.ts";
import type { BindingContext } from "./bindings/request-pipeline.ts";
import { createRestErrorReply, handleRest } from "./bindings/rest.ts";
import { createJsonReply, type HttpReply, type HttpRequest } from "./http-exchange.ts";
import type { PublishedJwksProvider } from "./published-jwks-provider.ts";
import type { ServedAgent } from "./served-agent.ts";

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
  /** Current agent ids by the ids of older versions. Both are valid in URL paths. */
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
  /** Observer of the requests that do not arrive over HTTP. */
  readonly observer: Pick<Observer, "onRequest">;
  /** Throws an error if the host or the web page of a request is not allowed. */
  readonly assertRequestAllowed: (request: HttpRequest) => void;
}

/**
 * Finds the agent in the path of a request, and passes the request to the agent card or to a protocol
 * binding. Never rejects, because every error becomes an error reply.
 */
export function routeRequest(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  const { recordRefusal } = context;
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
