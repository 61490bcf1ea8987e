import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { toNodeListener } from "../../server/index.ts";
import type { McpServerSdk } from "./host-capabilities.ts";
import type { TaskSubscriptionEndpoint } from "./tasks/task-subscription-endpoint.ts";

const MCP_PATH = "/mcp";

/**
 * An MCP endpoint over streamable HTTP, for hosts of MCP 2026 and 2025. The endpoint rejects requests with an
 * unknown `Host` or `Origin`. Without this check, a web page could call the agents through the browser.
 */
export class McpHttpEndpoint {
  readonly #sdk: McpServerSdk;
  readonly #allowedHosts: readonly string[];
  readonly #modernHandler: ReturnType<McpServerSdk["createMcpHandler"]>;
  readonly #sessionRouter: McpSessionRouter;
  readonly #taskSubscriptions: TaskSubscriptionEndpoint;
  #httpServer: HttpServer | undefined;

  /** The endpoint accepts the host names in `allowedHosts` in addition to those of this machine. */
  constructor(
    sdk: McpServerSdk,
    createSdkServer: () => Server,
    taskSubscriptions: TaskSubscriptionEndpoint,
    allowedHosts: readonly string[],
  ) {
    this.#sdk = sdk;
    this.#allowedHosts = allowedHosts;
    this.#taskSubscriptions = taskSubscriptions;
    this.#modernHandler = sdk.createMcpHandler(createSdkServer, { legacy: "reject" });
    this.#sessionRouter = new McpSessionRouter(sdk, createSdkServer);
  }

  async fetch(request: Request): Promise<Response> {
    const rejection = this.#rejectForeignOrigin(request);
    if (rejection) return rejection;
    if (await this.#sdk.isLegacyRequest(request)) return this.#sessionRouter.fetch(request);
    return this.#taskSubscriptions.fetch(request, (other) => this.#modernHandler.fetch(other));
  }

  /** Notifies all subscribed hosts that the tools have changed. */
  async notifyToolsChanged(): Promise<void> {
    this.#modernHandler.notify.toolsChanged();
    this.#taskSubscriptions.notifyToolsChanged();
    await this.#sessionRouter.notifyToolsChanged();
  }

  /** Listens on the loopback interface and returns the URL of the endpoint. */
  async listen(port: number): Promise<string> {
    const http = createServer(toNodeListener((request) => this.#handleAtPath(request)));
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject).listen(port, "127.0.0.1", resolve);
    });
    this.#httpServer = http;
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}${MCP_PATH}`;
  }

  async close(): Promise<void> {
    this.#taskSubscriptions.close();
    await Promise.all([this.#modernHandler.close(), this.#sessionRouter.close()]);
    const http = this.#httpServer;
    if (!http) return;
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }

  #handleAtPath(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === MCP_PATH) return this.fetch(request);
    return Promise.resolve(new Response(`Not found; the MCP endpoint is at ${MCP_PATH}.\n`, { status: 404 }));
  }

  #rejectForeignOrigin(request: Request): Response | undefined {
    const { hostHeaderValidationResponse, originValidationResponse } = this.#sdk;
    const { localhostAllowedHostnames, localhostAllowedOrigins } = this.#sdk;
    return (
      hostHeaderValidationResponse(request, [...localhostAllowedHostnames(), ...this.#allowedHosts]) ??
      originValidationResponse(request, [...localhostAllowedOrigins(), ...this.#allowedHosts])
    );
  }
}

interface McpServerSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

/**
 * Maximum number of MCP sessions. When a new session exceeds the maximum number, the least recently used
 * session is closed. The host of the closed session can start a new session.
 */
const MAX_SESSIONS = 200;

/**
 * Routes HTTP requests of MCP 2025 hosts to their sessions. Messages about a running tool call, such as a
 * cancellation or a user's answer, arrive as separate requests. The session assigns each separate request to
 * the running tool call.
 */
class McpSessionRouter {
  readonly #sdk: McpServerSdk;
  readonly #createServer: () => Server;
  /** MCP sessions by id, with the most recently used session last. */
  readonly #sessions = new Map<string, McpServerSession>();

  constructor(sdk: McpServerSdk, createServer: () => Server) {
    this.#sdk = sdk;
    this.#createServer = createServer;
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    // A GET opens the stream of a session for messages outside of calls.
    if (id === null && request.method === "GET")
      return new Response(null, { status: 405, headers: { allow: "POST, DELETE" } });
    if (id === null) return this.#startSession(request);
    const session = this.#sessions.get(id);
    if (!session) return createSessionNotFoundResponse();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request);
  }

  /** Notifies the hosts of all sessions that the tools have changed. */
  async notifyToolsChanged(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map(({ server }) => server.sendToolListChanged()));
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(({ server }) => server.close()));
  }

  async #startSession(request: Request): Promise<Response> {
    const server = this.#createServer();
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#addSession(id, { transport, server }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // The transport rejects any request that does not start a session. Nothing can reach that server again,
    // so it is closed.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  async #addSession(id: string, session: McpServerSession): Promise<void> {
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions;
    if (this.#sessions.size <= MAX_SESSIONS || !oldest) return;
    this.#sessions.delete(oldest[0]);
    await oldest[1].server.close();
  }
}

function createSessionNotFoundResponse(): Response {
  const message = "The session has ended or does not exist; start a new one.";
  return Response.json({ jsonrpc: "2.0", error: { code: -32001, message }, id: null }, { status: 404 });
}
