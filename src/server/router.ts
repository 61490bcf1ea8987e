import type { Caller } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import { ANYBODY, callerOf } from "./auth/caller.ts";
import type { Authenticate } from "./auth/scheme.ts";
import type { BindingContext } from "./bindings/binding.ts";
import { json, type HttpReply, type HttpRequest } from "./exchange.ts";
import { answerJsonRpc, presumedDialect, refuseJsonRpc } from "./bindings/json-rpc.ts";
import { answerRest, notAllowed, presumedDialect as presumedRest, refuseRest } from "./bindings/rest.ts";
import { pathOf, type ServedAgent } from "./served-agent.ts";
import type { PublishedKeys } from "./published-keys.ts";
import { answerEvents, taskOfEvents } from "./bindings/simple.ts";

const CARD = "/.well-known/agent-card.json";
const KEYS = "/.well-known/jwks.json";
/** Where cards were before A2A 0.3. */
const OLD_CARD = "/.well-known/agent.json";
const READ = ["GET", "HEAD"];

/** What the router needs beside the bindings. */
export interface RouterContext extends BindingContext {
  /** In the order in which they were given. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** Answers for the root: the first of them. */
  readonly byDefault: ServedAgent | undefined;
  readonly authenticate: Authenticate | undefined;
  /** What the URLs in cards begin with; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
  /** The public keys of what the server signs. */
  readonly keys: PublishedKeys | undefined;
  /** Refuses requests that may not be answered at all. */
  readonly admit: (request: HttpRequest) => void;
}

/** Answers any request: agent by path, card or binding by what follows. Never rejects. */
export async function route(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  try {
    context.admit(request);
    return await dispatch(request, context);
  } catch (error) {
    return refuseRest(request, context.revision, context.told("server", error));
  }
}

function dispatch(request: HttpRequest, context: RouterContext): HttpReply | Promise<HttpReply> {
  const { path, method } = request;
  if (path === "/a2a" || path === "/a2a/") return catalogue(request, context);
  if (path === KEYS && context.keys) return publicKeys(request, context, context.keys);
  const { agent, rest } = locate(path, context);
  if (!agent) {
    const text = `There is no agent at ${path}; GET /a2a lists the agents of this server.`;
    throw new A2AError("NOT_FOUND", text);
  }
  if (rest === CARD || rest === OLD_CARD) {
    if (!READ.includes(method)) return notAllowed(request, context.revision, READ);
    return (assistantOf(request, context) ?? agent).card.reply(request, baseOf(request, context));
  }
  if (rest !== "" && rest !== "/") return rpcOrRest(request, agent, context, rest);
  return method === "POST"
    ? rpcOrRest(request, agent, context, undefined)
    : notAllowed(request, context.revision, ["POST"]);
}

/** Lets the caller in and hands the request to its binding: REST for a `path` below the agent's URL, else JSON-RPC. */
function rpcOrRest(
  request: HttpRequest,
  agent: ServedAgent,
  context: RouterContext,
  path: string | undefined,
): Promise<HttpReply> {
  const answer = (caller: Caller): Promise<HttpReply> => {
    const admitted = { request, agent, caller };
    if (path === undefined) return answerJsonRpc(admitted, context);
    const followed = taskOfEvents(request, context, path);
    return followed === undefined
      ? answerRest(admitted, context, path)
      : answerEvents(admitted, context, followed);
  };
  if (!context.authenticate) return answer(ANYBODY);
  return callerOf(request, context.authenticate).then(answer, (error: unknown) => {
    const refusal = context.told("authenticate", error);
    return path === undefined
      ? refuseJsonRpc(null, refusal, presumedDialect(request, context))
      : refuseRest(request, context.revision, refusal, presumedRest(request, context, path));
  });
}

/** The agent that a path belongs to, and what follows the agent's own path. */
function locate(
  path: string,
  { agents, byDefault }: RouterContext,
): { agent: ServedAgent | undefined; rest: string } {
  if (path.startsWith("/a2a/")) {
    const end = path.indexOf("/", "/a2a/".length);
    const id = decodeURIComponentOrNothing(path.slice("/a2a/".length, end < 0 ? undefined : end));
    return { agent: agents.get(id), rest: end < 0 ? "" : path.slice(end) };
  }
  return { agent: byDefault, rest: path };
}

/** The agent whose card the simple dialect asks the root for: `?assistant_id=…`. */
function assistantOf(
  { path, query }: HttpRequest,
  { simple, agents }: RouterContext,
): ServedAgent | undefined {
  if (!simple || path !== CARD || query === "") return undefined;
  const id = new URLSearchParams(query).get("assistant_id");
  if (id === null) return undefined;
  const agent = agents.get(id);
  if (agent) return agent;
  const text = `There is no agent ${JSON.stringify(id.slice(0, 80))}; GET /a2a lists the agents of this server.`;
  throw new A2AError("NOT_FOUND", text);
}

function decodeURIComponentOrNothing(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Who is here: name, description, endpoint and card of every agent. */
async function catalogue(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  if (!READ.includes(request.method)) return notAllowed(request, context.revision, READ);
  const base = baseOf(request, context);
  const agents = await Promise.all(
    [...context.agents.values()].map(async ({ id, card }) => {
      const { name, description } = await card.description();
      const url = base + pathOf(id);
      return { id, name, description, url, cardUrl: url + CARD };
    }),
  );
  return json(200, JSON.stringify({ agents }));
}

/** Public, like the card: whoever is sent something that this server signed may verify it. */
async function publicKeys(
  request: HttpRequest,
  { revision }: RouterContext,
  keys: PublishedKeys,
): Promise<HttpReply> {
  if (!READ.includes(request.method)) return notAllowed(request, revision, READ);
  return json(200, JSON.stringify(await keys.keys()), { "cache-control": "public, max-age=300" });
}

function baseOf(request: HttpRequest, { publicUrl }: RouterContext): string {
  return publicUrl ?? request.origin;
}
