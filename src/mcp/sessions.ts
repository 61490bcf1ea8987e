import type { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

type Sdk = typeof import("@modelcontextprotocol/server");

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

/** A host that comes without its session begins a new one, so forgetting the oldest does little harm. */
const MAX_SESSIONS = 200;

/**
 * MCP of 2025 over HTTP. What it says of a call (that it is cancelled, what the user answered) comes in requests of its
 * own, which find the call by their session; without sessions neither would arrive.
 */
export class Sessions {
  readonly #sdk: Sdk;
  readonly #instance: () => Server;
  /** The one that was used last is the last. */
  readonly #open = new Map<string, Session>();

  constructor(sdk: Sdk, instance: () => Server) {
    this.#sdk = sdk;
    this.#instance = instance;
  }

  async fetch(request: Request): Promise<Response> {
    // A stream for what a server says unasked, which is nothing: tools do not change, and what belongs to a call goes
    // out with its answer.
    if (request.method === "GET")
      return new Response(null, { status: 405, headers: { allow: "POST, DELETE" } });
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#begin(request);
    const session = this.#open.get(id);
    if (!session) return notFound();
    this.#open.delete(id);
    this.#open.set(id, session);
    return session.transport.handleRequest(request);
  }

  async close(): Promise<void> {
    const sessions = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(sessions.map(({ server }) => server.close()));
  }

  async #begin(request: Request): Promise<Response> {
    const server = this.#instance();
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#keep(id, { transport, server }),
      onsessionclosed: (id) => void this.#open.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // Anything but the beginning of a session is refused by the transport, which nobody can reach again.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  async #keep(id: string, session: Session): Promise<void> {
    this.#open.set(id, session);
    const [oldest] = this.#open;
    if (this.#open.size <= MAX_SESSIONS || !oldest) return;
    this.#open.delete(oldest[0]);
    await oldest[1].server.close();
  }
}

function notFound(): Response {
  const message = "This session is over or never was; begin a new one.";
  return Response.json({ jsonrpc: "2.0", error: { code: -32001, message }, id: null }, { status: 404 });
}
