import type { Caller } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { ANONYMOUS_CALLER, authenticateCaller } from "./auth/authenticate-caller.ts";
import type { AuthenticateFunction } from "./auth/auth-scheme.ts";
import type { BindingContext } from "./bindings/request-pipeline.ts";
import { createJsonReply, type HttpReply, type HttpRequest } from "./http-exchange.ts";
import { handleJsonRpc, resolveJsonRpcErrorDialect, createJsonRpcErrorReply } from "./bindings/json-rpc.ts";
import {
  handleRest,
  createMethodNotAllowedReply,
  resolveRestErrorDialect as presumedRest,
  createRestErrorReply,
} from "./bindings/rest.ts";
import { getAgentPath, type ServedAgent } from "./served-agent.ts";
import type { JwksProvider } from "./jwks-provider.ts";
import { handleTaskEvents, matchTaskEventsPath } from "./bindings/task-events.ts";

const CARD_PATH = "/.well-known/agent-card.json";
const JWKS_PATH = "/.well-known/jwks.json";
/** Where cards were before A2A 0.3. */
const LEGACY_CARD_PATH = "/.well-known/agent.json";
const READ_METHODS = ["GET", "HEAD"];

/** What the router needs beside the bindings. */
export interface RouterContext extends BindingContext {
  /** In the order in which they were given. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** Answers for the root: the first of them. */
  readonly defaultAgent: ServedAgent | undefined;
  readonly authenticate: AuthenticateFunction | undefined;
  /** What the URLs in cards begin with; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
  /** The public keys of what the server signs. */
  readonly jwksProvider: JwksProvider | undefined;
  /** Refuses requests that may not be answered at all. */
  readonly assertHostAllowed: (request: HttpRequest) => void;
}

/** Answers any request: agent by path, card or binding by what follows. Never rejects. */
export async function routeRequest(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  try {
    context.assertHostAllowed(request);
    return await dispatchRequest(request, context);
  } catch (error) {
    return createRestErrorReply(request, context.specRevision, context.reportError("server", error));
  }
}

function dispatchRequest(request: HttpRequest, context: RouterContext): HttpReply | Promise<HttpReply> {
  const { path, method } = request;
  if (path === "/a2a" || path === "/a2a/") return handleAgentList(request, context);
  if (path === JWKS_PATH && context.jwksProvider) return handleJwks(request, context, context.jwksProvider);
  const { agent, rest } = findAgentByPath(path, context);
  if (!agent) {
    const text = `There is no agent at ${path}; GET /a2a lists the agents of this server.`;
    throw new A2AError("NOT_FOUND", text);
  }
  if (rest === CARD_PATH || rest === LEGACY_CARD_PATH) {
    if (!READ_METHODS.includes(method))
      return createMethodNotAllowedReply(request, context.specRevision, READ_METHODS);
    return (findAgentByAssistantId(request, context) ?? agent).cardPublisher.handle(
      request,
      getBaseUrl(request, context),
    );
  }
  if (rest !== "" && rest !== "/") return dispatchToBinding(request, agent, context, rest);
  return method === "POST"
    ? dispatchToBinding(request, agent, context, undefined)
    : createMethodNotAllowedReply(request, context.specRevision, ["POST"]);
}

/** Lets the caller in and hands the request to its binding: REST for a `path` below the agent's URL, else JSON-RPC. */
function dispatchToBinding(
  request: HttpRequest,
  agent: ServedAgent,
  context: RouterContext,
  path: string | undefined,
): Promise<HttpReply> {
  const answer = (caller: Caller): Promise<HttpReply> => {
    const admitted = { request, agent, caller };
    if (path === undefined) return handleJsonRpc(admitted, context);
    const followed = matchTaskEventsPath(request, context, path);
    return followed === undefined
      ? handleRest(admitted, context, path)
      : handleTaskEvents(admitted, context, followed);
  };
  if (!context.authenticate) return answer(ANONYMOUS_CALLER);
  return authenticateCaller(request, context.authenticate).then(answer, (error: unknown) => {
    const refusal = context.reportError("authenticate", error);
    return path === undefined
      ? createJsonRpcErrorReply(null, refusal, resolveJsonRpcErrorDialect(request, context))
      : createRestErrorReply(request, context.specRevision, refusal, presumedRest(request, context, path));
  });
}

/** The agent that a path belongs to, and what follows the agent's own path. */
function findAgentByPath(
  path: string,
  { agents, defaultAgent: byDefault }: RouterContext,
): { agent: ServedAgent | undefined; rest: string } {
  if (path.startsWith("/a2a/")) {
    const end = path.indexOf("/", "/a2a/".length);
    const id = decodeUriComponentOrEmpty(path.slice("/a2a/".length, end < 0 ? undefined : end));
    return { agent: agents.get(id), rest: end < 0 ? "" : path.slice(end) };
  }
  return { agent: byDefault, rest: path };
}

/** The agent whose card the simple dialect asks the root for: `?assistant_id=…`. */
function findAgentByAssistantId(
  { path, query }: HttpRequest,
  { simpleDialect: simple, agents }: RouterContext,
): ServedAgent | undefined {
  if (!simple || path !== CARD_PATH || query === "") return undefined;
  const id = new URLSearchParams(query).get("assistant_id");
  if (id === null) return undefined;
  const agent = agents.get(id);
  if (agent) return agent;
  const text = `There is no agent ${JSON.stringify(id.slice(0, 80))}; GET /a2a lists the agents of this server.`;
  throw new A2AError("NOT_FOUND", text);
}

function decodeUriComponentOrEmpty(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Who is here: name, description, endpoint and card of every agent. */
async function handleAgentList(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  if (!READ_METHODS.includes(request.method))
    return createMethodNotAllowedReply(request, context.specRevision, READ_METHODS);
  const base = getBaseUrl(request, context);
  const agents = await Promise.all(
    [...context.agents.values()].map(async ({ id, cardPublisher: card }) => {
      const { name, description } = await card.getDescription();
      const url = base + getAgentPath(id);
      return { id, name, description, url, cardUrl: url + CARD_PATH };
    }),
  );
  return createJsonReply(200, JSON.stringify({ agents }));
}

/** Public, like the card: whoever is sent something that this server signed may verify it. */
async function handleJwks(
  request: HttpRequest,
  { specRevision: revision }: RouterContext,
  keys: JwksProvider,
): Promise<HttpReply> {
  if (!READ_METHODS.includes(request.method))
    return createMethodNotAllowedReply(request, revision, READ_METHODS);
  return createJsonReply(200, JSON.stringify(await keys.getJwks()), {
    "cache-control": "public, max-age=300",
  });
}

function getBaseUrl(request: HttpRequest, { publicUrl }: RouterContext): string {
  return publicUrl ?? request.origin;
}
