import type { Readable, Writable } from "node:stream";
import { connect, type ConnectOptions, type A2AClient } from "../client/index.ts";
import type { Agent, Observer } from "../engine/index.ts";
import { createServer, type Server, type ServerOptions } from "../server/index.ts";
import { McpHttpEndpoint } from "./mcp-http-endpoint.ts";
import { ToolServer } from "./tool-server.ts";
import { loadMcpPackage } from "./load-mcp-package.ts";
import { serveStdio } from "./serve-stdio.ts";

/** An agent as MCP tools: one somewhere else by its URL or as `connectOptions` gives it, or one of this process. */
export type McpAgentSource = string | A2AClient | Agent;

export interface McpServerOptions {
  /** What hosts show of the server. Default: `colloquy`. */
  readonly name?: string;
  readonly version?: string;
  /** How URLs are connected to. Credentials go to the agents of all of them. */
  readonly connectOptions?: Omit<ConnectOptions, "signal">;
  /** How agents of this process are served. Default: their tasks live in memory. */
  readonly serverOptions?: Omit<ServerOptions, "observer">;
  /**
   * True: what an agent asks goes to the user of a host that can do that (MCP elicitation). Default: it goes to the
   * model, as a result with the task's id, and the model answers with the same tool.
   */
  readonly askUser?: boolean;
  /**
   * A call that takes longer gives the task as it is, which goes on; the model can wait for it with the same tool. For
   * hosts that give up early. Default: a call takes as long as its task.
   */
  readonly waitMs?: number;
  /** Names under which `fetch` may be reached, and from whose pages, beside those of this machine. */
  readonly allowedHosts?: readonly string[];
  readonly observer?: Observer;
}

/** Agents as tools, for any MCP host. */
export interface McpServer {
  /** The tools, as hosts see them. */
  readonly tools: readonly { readonly name: string; readonly title: string; readonly description: string }[];
  /**
   * Serves one host over stdin and stdout, on which nothing else may be written then. Resolves when the host has gone,
   * and the tasks that it waited for have been cancelled.
   */
  serveStdio(streams?: { readonly stdin?: Readable; readonly stdout?: Writable }): Promise<void>;
  /** Listens for streamable HTTP on this machine; 0 (default) takes any free port. */
  listen(options?: { readonly port?: number }): Promise<{ readonly url: string }>;
  /** The same for hosts that speak `Request` and `Response`. It lets in whoever reaches it: put what knows callers before it. */
  fetch(request: Request): Promise<Response>;
  /** Cancels the tasks that are waited for, and stops. */
  close(): Promise<void>;
}

/**
 * Agents as MCP tools, each skill a tool, by the ids that begin their names. Takes the package
 * `@modelcontextprotocol/server`. Cards are read once, here; rejects when one can not be had.
 */
export async function createMcpServer(
  agents: Readonly<Record<string, McpAgentSource>>,
  options: McpServerOptions = {},
): Promise<McpServer> {
  const sdk = await loadMcpPackage("server", import("@modelcontextprotocol/server"));
  const local = createLocalServer(agents, options);
  const opened = await Promise.all(
    Object.entries(agents).map(
      async ([id, agent]) => [id, await connectAgent(id, agent, options, local)] as const,
    ),
  );
  const {
    name = "colloquy",
    version = "1.0.0",
    askUser = false,
    waitMs,
    allowedHosts: hosts = [],
    observer = {},
  } = options;
  const tools = new ToolServer(sdk, Object.fromEntries(opened), { name, version, askUser, waitMs, observer });
  const instance = (): ReturnType<ToolServer["createSdkServer"]> => tools.createSdkServer();
  const http = new McpHttpEndpoint(sdk, instance, hosts);
  const ends = new AbortController();
  return {
    tools: tools.tools,
    async serveStdio(streams = {}) {
      await serveStdio(instance, streams, ends.signal);
      await tools.waitForCalls();
    },
    listen: async ({ port = 0 } = {}) => ({ url: await http.listen(port) }),
    fetch: (request) => http.fetch(request),
    async close() {
      await tools.close();
      ends.abort();
      await http.close();
      await local?.close();
    },
  };
}

/** One server, and so one store, for all agents of this process. */
function createLocalServer(
  agents: Readonly<Record<string, McpAgentSource>>,
  { serverOptions: server, observer }: McpServerOptions,
): Server | undefined {
  const own = Object.entries(agents).filter((entry): entry is [string, Agent] => isAgent(entry[1]));
  if (own.length === 0) return undefined;
  return createServer(Object.fromEntries(own), {
    store: "memory",
    ...server,
    ...(observer ? { observer } : {}),
  });
}

function isAgent(agent: McpAgentSource): agent is Agent {
  return typeof agent === "object" && "execute" in agent;
}

async function connectAgent(
  id: string,
  agent: McpAgentSource,
  options: McpServerOptions,
  local: Server | undefined,
): Promise<A2AClient> {
  if (typeof agent === "string") return connect(agent, options.connectOptions);
  if (!isAgent(agent)) return agent;
  // A server is a function of requests; there is no socket in between.
  const ask = (request: Request): Promise<Response> => (local as Server).fetch(request);
  return connect(`http://localhost/a2a/${id}`, { fetch: (input, init) => ask(new Request(input, init)) });
}
