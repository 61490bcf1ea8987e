import type { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

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
export class McpSessionRouter {
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
