import type { Readable, Writable } from "node:stream";
import type { Server as SdkServer } from "@modelcontextprotocol/server";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { type A2AClient, connect, type ConnectOptions } from "../../client/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { resolveObserver } from "../../observe/logging/index.ts";
import { createServer, installNodeTraceScope, type Server, type ServerOptions } from "../../server/index.ts";
import { AgentToolServer } from "./agent-tool-server.ts";
import { loadMcpPackage } from "./load-mcp-package.ts";
import { McpHttpEndpoint } from "./mcp-http-endpoint.ts";
import { TaskSubscriptionEndpoint } from "./tasks/task-subscription-endpoint.ts";

/**
 * An agent whose skills become MCP tools: the URL of a remote agent, a connected client, or an agent in this
 * process.
 */
export type McpAgentSource = string | A2AClient | Agent;

/** Options for `createMcpServer`. */
export interface McpServerOptions {
  /** The name of the MCP server, which hosts display. Default: `colloquy`. */
  readonly name?: string;
  /** The version of the MCP server, which hosts display. Default: `1.0.0`. */
  readonly version?: string;
  /** Options for connections to agents by URL, including the credentials for all remote agents. */
  readonly connectOptions?: Omit<ConnectOptions, "signal">;
  /**
   * Options for the A2A server of the agents in this process. By default, the tasks of agents in this process
   * are stored in memory. With `authenticate`, the A2A server authenticates the `Authorization` header of
   * each MCP request, so each caller can access only its own tasks.
   */
  readonly serverOptions?: Omit<ServerOptions, "observer">;
  /**
   * Whether the host's user, instead of the model, answers an agent's questions, if the host supports MCP
   * elicitation. By default, the user answers the questions of MCP tasks, and the model answers other
   * questions. Without elicitation, the model receives the question and the task id as a tool result, and
   * answers by calling the same tool.
   */
  readonly askUser?: boolean;
  /**
   * Time in milliseconds before a tool call returns the unfinished task. The unfinished task continues, and
   * the model can call the same tool again to wait for the task. Set a time limit for hosts with short
   * timeouts. The option has no effect on hosts that support MCP Tasks. Default: no limit.
   */
  readonly waitMs?: number;
  /**
   * Time in milliseconds before a tool call continues as an MCP task, if the host supports the extension
   * `io.modelcontextprotocol/tasks`. Results that are available earlier are returned directly. With 0, each
   * tool call that creates an A2A task becomes an MCP task, unless the A2A task ends immediately. Default:
   * 1000.
   */
  readonly taskAfterMs?: number;
  /**
   * Interval in milliseconds for checking agent cards. The server fetches cards again if they are no longer
   * fresh. If the tools have changed, the server notifies the hosts. The value 0 disables the interval.
   * Default: 300,000 (five minutes).
   */
  readonly refreshToolsMs?: number;
  /**
   * Host names that `fetch` accepts in the `Host` and `Origin` headers, in addition to the names of this
   * machine.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * The observer of the MCP server and of the agents in this process. The default observer writes errors to
   * stderr. The value `false` disables the default observer.
   */
  readonly observer?: Observer | false;
}

const assertKnownOptions = defineOptionNames<McpServerOptions>()(
  "createMcpServer",
  "allowedHosts askUser connectOptions name observer refreshToolsMs serverOptions taskAfterMs",
  "version waitMs",
);

/** An MCP server that offers agents as tools. */
export interface McpServer {
  /** The current tools of the server, in the format of an MCP tool list. */
  readonly tools: readonly { readonly name: string; readonly title: string; readonly description: string }[];
  /**
   * Serves one MCP host over stdin and stdout. No other code may write to stdout while the MCP server runs.
   * Resolves when the host has disconnected and the server has canceled the tasks of the host's calls.
   */
  serveStdio(streams?: { readonly stdin?: Readable; readonly stdout?: Writable }): Promise<void>;
  /** Starts a streamable HTTP server on this machine. By default, the server listens on any free port. */
  listen(options?: { readonly port?: number }): Promise<{ readonly url: string }>;
  /**
   * Handles one streamable HTTP request, for use inside another server. `fetch` does not authenticate
   * callers. The server that calls `fetch` must authenticate each caller.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Fetches the agent cards that are no longer fresh. If the tools have changed, `refreshTools` notifies the
   * hosts and resolves with `true`.
   */
  refreshTools(): Promise<boolean>;
  /** Cancels the tasks of pending tool calls, and stops the server. */
  close(): Promise<void>;
}

/**
 * Creates an MCP server from a record that maps ids to agents. Each skill of an agent becomes a tool whose
 * name starts with the agent's id. Requires the package `@modelcontextprotocol/server`. The function fetches
 * all agent cards, and rejects if a card cannot be fetched.
 */
export async function createMcpServer(
  agents: Readonly<Record<string, McpAgentSource>>,
  options: McpServerOptions = {},
): Promise<McpServer> {
  assertKnownOptions(options);
  const sdk = await loadMcpPackage("server", import("@modelcontextprotocol/server"));
  installNodeTraceScope();
  const local = createA2AServerForLocalAgents(agents, options);
  const clients = await Promise.all(
    Object.entries(agents).map(
      async ([id, agent]) =>
        [
          id,
          { client: await connectAgentClient(id, agent, options, local), isLocal: isAgent(agent) },
        ] as const,
    ),
  );
  const {
    name = "colloquy",
    version = "1.0.0",
    askUser,
    waitMs,
    taskAfterMs = 1000,
    refreshToolsMs = 300_000,
    allowedHosts = [],
  } = options;
  const observer = resolveObserver(options.observer);
  const tools = new AgentToolServer(sdk, new Map(clients), {
    name,
    version,
    askUser,
    waitMs,
    taskAfterMs,
    observer,
  });
  const createSdkServer = (): SdkServer => tools.createSdkServer();
  const stdioServers = new Set<SdkServer>();
  const taskSubscriptions = new TaskSubscriptionEndpoint(sdk, tools.taskOperations, {
    askUser: askUser !== false,
    onError: (error) => observer.onError?.({ where: "subscriptions/listen", error }),
  });
  const http = new McpHttpEndpoint(sdk, createSdkServer, taskSubscriptions, allowedHosts);
  const closeController = new AbortController();
  const refreshTools = async (): Promise<boolean> => {
    const hasChanged = await tools.refreshTools();
    if (hasChanged) {
      const notifications = [...stdioServers].map((server) => server.sendToolListChanged());
      await Promise.allSettled([http.notifyToolsChanged(), ...notifications]);
    }
    return hasChanged;
  };
  const refreshTimer =
    refreshToolsMs > 0 ? setInterval(() => void refreshTools(), refreshToolsMs).unref() : undefined;
  return {
    get tools() {
      return tools.tools;
    },
    refreshTools,
    async serveStdio(streams = {}) {
      const createStdioServer = (): SdkServer => {
        const server = createSdkServer();
        stdioServers.add(server);
        return server;
      };
      await serveStdio(createStdioServer, streams, closeController.signal);
      stdioServers.clear();
      await tools.waitForPendingCalls();
    },
    listen: async ({ port = 0 } = {}) => ({ url: await http.listen(port) }),
    fetch: (request) => http.fetch(request),
    async close() {
      clearInterval(refreshTimer);
      await tools.close();
      closeController.abort();
      await http.close();
      await local?.close();
    },
  };
}

/** Creates one A2A server with one task store for all agents in this process. */
function createA2AServerForLocalAgents(
  agents: Readonly<Record<string, McpAgentSource>>,
  { serverOptions: server, observer }: McpServerOptions,
): Server | undefined {
  const localAgents = Object.entries(agents).filter((entry): entry is [string, Agent] => isAgent(entry[1]));
  if (localAgents.length === 0) return undefined;
  return createServer(Object.fromEntries(localAgents), {
    store: "memory",
    ...server,
    ...(observer === undefined ? {} : { observer }),
  });
}

function isAgent(agent: McpAgentSource): agent is Agent {
  return typeof agent === "object" && "execute" in agent;
}

async function connectAgentClient(
  id: string,
  agent: McpAgentSource,
  options: McpServerOptions,
  local: Server | undefined,
): Promise<A2AClient> {
  if (typeof agent === "string") return connect(agent, options.connectOptions);
  if (!isAgent(agent)) return agent;
  // The client calls the local server directly, without a socket.
  const fetchLocal = (request: Request): Promise<Response> => (local as Server).fetch(request);
  return connect(`http://localhost/a2a/${id}`, {
    fetch: (input, init) => fetchLocal(new Request(input, init)),
  });
}

/**
 * Serves one host of MCP 2026 or 2025 over stdin and stdout, until the host closes stdin or `closeSignal`
 * aborts.
 */
async function serveStdio(
  createSdkServer: () => SdkServer,
  {
    stdin = process.stdin,
    stdout = process.stdout,
  }: { readonly stdin?: Readable; readonly stdout?: Writable },
  closeSignal: AbortSignal,
): Promise<void> {
  const sdk = await loadMcpPackage("server", import("@modelcontextprotocol/server/stdio"));
  const closed = new Promise<void>((resolve) => {
    for (const event of ["end", "close"] as const) stdin.once(event, () => resolve());
    stdout.once("close", () => resolve());
    closeSignal.addEventListener("abort", () => resolve(), { once: true });
    if (closeSignal.aborted || stdin.readableEnded) resolve();
  });
  const transport = new sdk.StdioServerTransport(stdin, stdout);
  const handle = sdk.serveStdio(createSdkServer, { transport });
  await closed;
  await handle.close();
}
