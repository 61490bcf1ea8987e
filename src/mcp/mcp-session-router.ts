import type { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

interface McpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

/** A host that comes without its session begins a new one, so forgetting the oldest does little harm. */
const MAX_SESSIONS = 200;

/**
 * MCP of 2025 over HTTP. What it says of a call (that it is cancelled, what the user answered) comes in requests of its
 * own, which find the call by their session; without sessions neither would arrive.
 */
export class McpSessionRouter {
  readonly #sdk: McpServerSdk;
  readonly #createServer: () => Server;
  /** The one that was used last is the last. */
  readonly #sessions = new Map<string, McpSession>();

  constructor(sdk: McpServerSdk, instance: () => Server) {
    this.#sdk = sdk;
    this.#createServer = instance;
  }

  async fetch(request: Request): Promise<Response> {
    // A stream for what a server says unasked, which is nothing: tools do not change, and what belongs to a call goes
    // out with its answer.
    if (request.method === "GET")
      return new Response(null, { status: 405, headers: { allow: "POST, DELETE" } });
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#startSession(request);
    const session = this.#sessions.get(id);
    if (!session) return createSessionNotFoundResponse();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request);
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
    // Anything but the beginning of a session is refused by the transport, which nobody can reach again.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  async #addSession(id: string, session: McpSession): Promise<void> {
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions;
    if (this.#sessions.size <= MAX_SESSIONS || !oldest) return;
    this.#sessions.delete(oldest[0]);
    await oldest[1].server.close();
  }
}

function createSessionNotFoundResponse(): Response {
  const message = "This session is over or never was; begin a new one.";
  return Response.json({ jsonrpc: "2.0", error: { code: -32001, message }, id: null }, { status: 404 });
}
