import { A2AError } from "../protocol/index.ts";
import { ANYBODY, callerOf, type Authenticate } from "./auth.ts";
import type { BindingContext } from "./binding.ts";
import { json, type HttpReply, type HttpRequest } from "./exchange.ts";
import { answerJsonRpc, refuseJsonRpc } from "./json-rpc.ts";
import { answerRest, notAllowed, refuseRest } from "./rest.ts";
import { pathOf, type ServedAgent } from "./served-agent.ts";

const CARD = "/.well-known/agent-card.json";
const READ = ["GET", "HEAD"];

/** What the router needs beside the bindings. */
export interface RouterContext extends BindingContext {
  /** In the order in which they were given; the first answers for the root. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  readonly authenticate: Authenticate | undefined;
  /** What the URLs in cards begin with; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
  /** Refuses requests that may not be answered at all. */
  readonly admit: (request: HttpRequest) => void;
  readonly onError: (where: string, error: unknown) => void;
}

/** Answers any request: agent by path, card or binding by what follows. Never rejects. */
export async function route(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  try {
    context.admit(request);
    return await dispatch(request, context);
  } catch (error) {
    if (!(error instanceof A2AError)) context.onError("server", error);
    return refuseRest(request, context.revision, A2AError.from(error));
  }
}

async function dispatch(request: HttpRequest, context: RouterContext): Promise<HttpReply> {
  const { path } = request;
  if (path === "/a2a" || path === "/a2a/") return catalogue(request, context);
  const { agent, rest } = locate(path, context);
  if (!agent)
    throw new A2AError(
      "NOT_FOUND",
      `There is no agent at ${path}; GET /a2a lists the agents of this server.`,
    );
  if (rest === CARD) {
    if (!READ.includes(request.method)) return notAllowed(request, context.revision, READ);
    return agent.card.reply(request, baseOf(request, context));
  }
  if (rest === "" || rest === "/") return await jsonRpc(request, agent, context);
  const { authenticate } = context;
  const caller = authenticate ? await callerOf(request, authenticate) : ANYBODY;
  return answerRest({ request, agent, caller }, context, rest);
}

async function jsonRpc(request: HttpRequest, agent: ServedAgent, context: RouterContext): Promise<HttpReply> {
  if (request.method !== "POST") return notAllowed(request, context.revision, ["POST"]);
  try {
    const { authenticate } = context;
    const caller = authenticate ? await callerOf(request, authenticate) : ANYBODY;
    return await answerJsonRpc({ request, agent, caller }, context);
  } catch (error) {
    if (!(error instanceof A2AError)) context.onError("authenticate", error);
    return refuseJsonRpc(null, A2AError.from(error));
  }
}

/** The agent that a path belongs to, and what follows the agent's own path. */
function locate(path: string, { agents }: RouterContext): { agent: ServedAgent | undefined; rest: string } {
  if (path.startsWith("/a2a/")) {
    const end = path.indexOf("/", "/a2a/".length);
    const id = decodeURIComponentOrNothing(path.slice("/a2a/".length, end < 0 ? undefined : end));
    return { agent: agents.get(id), rest: end < 0 ? "" : path.slice(end) };
  }
  const [first] = agents.values();
  return { agent: first, rest: path };
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

function baseOf(request: HttpRequest, { publicUrl }: RouterContext): string {
  return publicUrl ?? request.origin;
}
