import { readFile } from "node:fs/promises";
import type { BaseSessionService, Runner } from "@google/adk";
import type { Agent, AgentDescription } from "../engine/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import { createServer, type ListenOptions, type Server, type ServerOptions } from "../server/index.ts";
import { type AdkAgentOptions, adkAgent } from "./adk-agent.ts";
import { SqliteSessionService } from "./sessions/sqlite-session-service.ts";
import type { AdkRunnableSource } from "./lazy-runner.ts";
import type { AdkRunner } from "./types.ts";

export interface ToA2aOptions
  extends ServerOptions, ListenOptions, Omit<AdkAgentOptions, "observer" | "sessionService"> {
  /** Where conversations live. Default: beside the tasks. */
  sessionService?: BaseSessionService;
  /** What the card says instead of what the agent's skills say: members of a card, or where they stand as JSON. */
  agentCard?: Partial<AgentCard> | string | URL;
  /** Runs the agent instead of a runner of our own; the services then are its services. */
  runner?: Runner | AdkRunner | (() => Runner | AdkRunner | Promise<Runner | AdkRunner>);
}

/**
 * Serves an ADK agent over A2A: `await toA2a(rootAgent, { port: 8001 }).listen()`, or `.fetch` for hosts that speak
 * `Request` and `Response`. Port 8000 of this machine unless told otherwise. Tasks and sessions live in one SQLite file
 * (`.colloquy/colloquy.db`); with `store: "memory"` both live in memory, and a `sessionService` of your own is used
 * with either.
 */
export function toA2a(agent: AdkRunnableSource, options: ToA2aOptions = {}): Server {
  const { agentCard, runner, port = 8000, host = "127.0.0.1", grpc = false, sessionService } = options;
  let sessions: SqliteSessionService | undefined;
  const chooseSessions = (): BaseSessionService | undefined => {
    const file = getSqlitePath(server);
    return sessionService ?? (file === undefined ? undefined : (sessions ??= new SqliteSessionService(file)));
  };
  const served = adkAgent(runner ?? agent, { ...options, sessionService: chooseSessions });
  const server = createServer({ [deriveAgentId(agent)]: withCardOverrides(served, agentCard) }, options);
  return {
    store: server.store,
    listener: server.listener,
    fetch: (request) => server.fetch(request),
    listen: (listen) => server.listen({ port, host, grpc, ...listen }),
    close: async (how) => {
      await server.close(how);
      sessions?.close();
    },
  };
}

/** The file of the server's own store, when it is one. */
function getSqlitePath({ store }: Server): string | undefined {
  return store.name.startsWith("sqlite:") ? store.name.slice("sqlite:".length) : undefined;
}

/** The id under which the agent is served: its name, where that can stand in a URL. */
function deriveAgentId(agent: AdkRunnableSource): string {
  const name = "name" in agent && typeof agent !== "function" ? agent.name : "";
  return /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/.test(name) ? name : "agent";
}

function withCardOverrides(agent: Agent, card: ToA2aOptions["agentCard"]): Agent {
  if (card === undefined) return agent;
  return {
    ...agent,
    describe: async (): Promise<AgentDescription> => {
      const [own, given] = await Promise.all([agent.describe(), readAgentCard(card)]);
      // Where it is served and who signed it, only the server knows.
      const { supportedInterfaces: _, signatures: __, ...said } = given;
      return { ...own, ...said };
    },
  };
}

async function readAgentCard(card: NonNullable<ToA2aOptions["agentCard"]>): Promise<Partial<AgentCard>> {
  if (typeof card === "object" && !(card instanceof URL)) return card;
  const place = String(card);
  try {
    const json = /^https?:/.test(place) ? await (await fetch(place)).text() : await readFile(card, "utf8");
    return JSON.parse(json) as Partial<AgentCard>;
  } catch (cause) {
    throw new A2AError("INTERNAL", `The agent card at ${place} cannot be read; check the path or URL.`, {
      cause,
    });
  }
}
