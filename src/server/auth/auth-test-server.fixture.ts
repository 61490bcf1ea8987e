import { agent } from "../../agents/adapters/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { AgentCard } from "../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../index.ts";

/** An agent that returns its caller as JSON. */
export const whoamiTestAgent: Agent = agent(
  { name: "mirror", description: "Says who asks" },
  async function* ({ caller }) {
    yield JSON.stringify(caller);
  },
);

/** A test server on a real socket, with functions that send requests to it. */
export class AuthTestServer implements AsyncDisposable {
  readonly #server: Server;
  url = "";
  readonly errors: unknown[] = [];

  constructor(
    authenticate: ServerOptions["authenticate"],
    options: ServerOptions = {},
    served: Agent = whoamiTestAgent,
  ) {
    this.#server = createServer(served, {
      store: "memory",
      observer: { onError: ({ error }) => this.errors.push(error) },
      ...(authenticate === undefined ? {} : { authenticate }),
      ...options,
    });
  }

  static async start(...args: ConstructorParameters<typeof AuthTestServer>): Promise<AuthTestServer> {
    const guarded = new AuthTestServer(...args);
    guarded.url = `http://127.0.0.1:${(await guarded.#server.listen()).port}`;
    return guarded;
  }

  async fetchCard(): Promise<AgentCard> {
    const headers = { "a2a-version": "1.0" };
    const response = await fetch(`${this.url}/.well-known/agent-card.json`, { headers });
    return (await response.json()) as AgentCard;
  }

  /** Sends a ListTasks request over REST. */
  listTasks(headers: Record<string, string> = {}, query = ""): Promise<Response> {
    return fetch(`${this.url}/tasks${query}`, { headers: { "a2a-version": "1.0", ...headers } });
  }

  async fetchListTasksStatus(headers?: Record<string, string>, query?: string): Promise<number> {
    return (await this.listTasks(headers, query)).status;
  }

  sendJsonRpc(method: string, params: object, headers: Record<string, string> = {}): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const all = { "a2a-version": "1.0", "content-type": "application/json", ...headers };
    return fetch(this.url, { method: "POST", headers: all, body });
  }

  /** Returns the caller that the agent receives. */
  async fetchCallerSeenByAgent(
    headers: Record<string, string> = {},
    tenant?: string,
  ): Promise<Record<string, unknown>> {
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "Who am I?" }] };
    const response = await this.sendJsonRpc(
      "SendMessage",
      { message, ...(tenant ? { tenant } : {}) },
      headers,
    );
    const { result } = (await response.json()) as {
      result?: { task: { artifacts: { parts: { text: string }[] }[] } };
    };
    return JSON.parse(result?.task.artifacts[0]?.parts[0]?.text ?? "{}") as Record<string, unknown>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close({ graceMs: 50 });
  }
}

export const buildBearerAuthTestHeaders = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

export const buildBasicAuthTestHeaders = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
