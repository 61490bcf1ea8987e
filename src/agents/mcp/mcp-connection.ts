import { basename } from "node:path";
import type {
  CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  Transport,
} from "@modelcontextprotocol/client";
import { untilAborted } from "../../client/index.ts";
import { getCurrentTraceScope } from "../../observe/telemetry/index.ts";
import { A2AError, toTraceHeaders } from "../../protocol/index.ts";
import { loadMcpPackage } from "./load-mcp-package.ts";
import { truncateStart } from "./sanitize-text.ts";
import { MCP_TASKS_EXTENSION } from "./tasks/mcp-task.ts";
import { acceptTaskHandleResults } from "./tasks/task-handle-result.ts";

/**
 * The address of an MCP server: either a command that starts the server, or the URL of a streamable HTTP
 * endpoint.
 */
export type McpServerAddress =
  | {
      /** Executable that serves MCP over stdin and stdout. */
      readonly command: string;
      readonly args?: readonly string[];
      /**
       * Environment variables for the command, in addition to standard variables that contain no secrets. The
       * command does not inherit the other environment variables of this process, because they may contain
       * secrets.
       */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly url: string | URL;
      /** HTTP headers for every request, for example for authentication. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly fetch?: typeof fetch;
    };

type McpClientSdk = typeof import("@modelcontextprotocol/client");

/** Maximum length, in characters, of the stderr output in the cause of an error. */
const MAX_STDERR_LENGTH = 2000;
const CONNECT_TIMEOUT_MS = 30_000;
const SESSION_END_TIMEOUT_MS = 1_000;

/** A connection to an MCP server. The connection opens on first use, and opens again after a disconnect. */
export class McpConnection {
  readonly #address: McpServerAddress;
  #client: Promise<Client> | undefined;
  #transport: Transport | undefined;
  /** Name that the server has stated. */
  #statedName: string | undefined;
  #stderr = "";
  readonly #canAnswerQuestions: boolean;
  #isClosed = false;

  /** With `canAnswerQuestions`, the client declares that it can answer the questions of MCP tasks. */
  constructor(address: McpServerAddress, canAnswerQuestions: boolean) {
    this.#address = address;
    this.#canAnswerQuestions = canAnswerQuestions;
  }

  /** Name of the server: the name that the server has stated, or its host, or its command. */
  get serverName(): string {
    const address = this.#address;
    return this.#statedName ?? ("url" in address ? new URL(address.url).host : basename(address.command));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Runs `work` with a connected MCP client. Rejects with an `A2AError`, or with the abort reason of
   * `signal`.
   */
  async withClient<T>(signal: AbortSignal | undefined, work: (client: Client) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const sdk = await loadMcpPackage("client", import("@modelcontextprotocol/client"));
    for (let isRetry = false; ; isRetry = true) {
      const connection = this.#getClient(sdk);
      try {
        return await work(await untilAborted(connection, signal));
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        // If the server does not know the session, it has not run the call, so the call is safe to repeat
        // (MCP 2025-11-25, session management).
        if (isRetry || !isSessionExpired(sdk, error)) throw this.#toA2AError(sdk, error);
        await this.#closeClient(connection);
      }
    }
  }

  /** Returns the tool result of an MCP task. Throws an `A2AError` if the result is not a tool result. */
  async assertCallToolResult(result: object): Promise<CallToolResult> {
    const sdk = await loadMcpPackage("client", import("@modelcontextprotocol/client"));
    if (sdk.isCallToolResult(result)) return result;
    throw new A2AError(
      "INVALID_REQUEST",
      `${this.#displayName} returned an MCP task without a tool result; report the error to its operator.`,
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const transport = this.#transport;
    // Servers of MCP 2025 keep a session until its client ends it.
    if (transport && "terminateSession" in transport) {
      const ended = (transport as StreamableHTTPClientTransport).terminateSession();
      await untilAborted(ended, AbortSignal.timeout(SESSION_END_TIMEOUT_MS)).catch(() => {});
    }
    // Also ends an attempt to connect.
    await transport?.close();
    if (this.#client) await this.#closeClient(this.#client);
  }

  #getClient(sdk: McpClientSdk): Promise<Client> {
    if (this.#isClosed) throw this.#createClosedError();
    if (!this.#client) {
      const connection = this.#connect(sdk);
      this.#client = connection;
      // The next call connects again.
      connection.catch(() => this.#clearClient(connection));
    }
    return this.#client;
  }

  async #connect(sdk: McpClientSdk): Promise<Client> {
    const client = new sdk.Client(
      { name: "colloquy", version: "1.0.0" },
      // Version negotiation costs one request over HTTP. For a command it would start another process, and
      // many commands support only MCP 2025.
      {
        versionNegotiation: { mode: "url" in this.#address ? "auto" : "legacy" },
        capabilities: {
          extensions: { [MCP_TASKS_EXTENSION]: {} },
          ...(this.#canAnswerQuestions ? { elicitation: { form: {} } } : {}),
        },
      },
    );
    // Only the questions of MCP tasks can be answered, because a turn of an agent cannot wait for its user.
    if (this.#canAnswerQuestions)
      client.setRequestHandler("elicitation/create", () => ({ action: "cancel" }));
    const transport = await this.#createTransport(sdk);
    if (this.#isClosed) throw this.#createClosedError();
    this.#transport = transport;
    await client.connect(transport, { timeout: CONNECT_TIMEOUT_MS });
    this.#statedName = client.getServerVersion()?.name;
    acceptTaskHandleResults(transport);
    const connection = this.#client;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- It is no event target.
    client.onclose = () => this.#clearClient(connection);
    return client;
  }

  async #createTransport(sdk: McpClientSdk): Promise<Transport> {
    const address = this.#address;
    if ("url" in address) {
      return new sdk.StreamableHTTPClientTransport(new URL(address.url), {
        ...(address.headers ? { requestInit: { headers: { ...address.headers } } } : {}),
        fetch: createFetchWithTraceHeaders(createFetchWithinOrigin(address.fetch ?? fetch)),
      });
    }
    const { StdioClientTransport, getDefaultEnvironment } =
      await import("@modelcontextprotocol/client/stdio");
    const { command, args = [], env = {}, cwd } = address;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...env },
      stderr: "pipe",
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#stderr = "";
    transport.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = truncateStart(this.#stderr + chunk.toString(), MAX_STDERR_LENGTH);
    });
    return transport;
  }

  #clearClient(client: Promise<Client> | undefined): void {
    if (this.#client === client) this.#client = undefined;
  }

  async #closeClient(connection: Promise<Client>): Promise<void> {
    this.#clearClient(connection);
    try {
      await (await connection).close();
    } catch {
      // Opening the connection failed, so there is nothing to close.
    }
  }

  #createClosedError(): A2AError {
    return new A2AError("UNAVAILABLE", `${this.#displayName} was closed; create a new tool client.`);
  }

  get #displayName(): string {
    const address = this.#address;
    if ("url" in address) return `The MCP server at ${new URL(address.url).origin}`;
    return `The MCP server ${JSON.stringify(basename(address.command))}`;
  }

  /**
   * Converts an error to an `A2AError` whose message contains the server's name. The agent's callers may
   * receive the error message. Only the `cause` contains the command line and the stderr output, because both
   * may contain secrets.
   */
  #toA2AError(sdk: McpClientSdk, error: unknown): A2AError {
    if (error instanceof A2AError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    // A protocol error is the server's response, and a retry would get the same response.
    if (error instanceof sdk.ProtocolError) {
      return new A2AError("INVALID_REQUEST", `${this.#displayName} refused: ${reason}`, { cause: error });
    }
    const cause = this.#createErrorCause(error, reason);
    return new A2AError("UNAVAILABLE", `${this.#displayName} did not respond: ${reason}`, { cause });
  }

  #createErrorCause(error: unknown, reason: string): unknown {
    const address = this.#address;
    if ("url" in address) return error;
    const commandLine = [address.command, ...(address.args ?? [])].join(" ");
    const stderr = this.#stderr.trim() === "" ? "" : `; it wrote: ${this.#stderr.trim()}`;
    return new Error(`${commandLine}: ${reason}${stderr}`, { cause: error });
  }
}

function isSessionExpired(sdk: McpClientSdk, error: unknown): boolean {
  return error instanceof sdk.SdkHttpError && error.status === 404;
}

/**
 * Returns a function that fetches with the headers of the current trace. MCP servers read the trace from `_meta`, but
 * servers in front of them only know the headers.
 */
function createFetchWithTraceHeaders(fetchFunction: FetchFunction): FetchFunction {
  return (url, init) => {
    const scope = getCurrentTraceScope();
    if (!scope) return fetchFunction(url, init);
    const headers = new Headers(init?.headers);
    if (!headers.has("traceparent"))
      for (const [name, value] of Object.entries(toTraceHeaders(scope.context))) headers.set(name, value);
    return fetchFunction(url, { ...init, headers });
  };
}

type FetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_REDIRECTS = 5;

/**
 * Returns a `fetch` function that follows redirects only within one origin, for example from `/mcp` to `/mcp/`. The
 * built-in `fetch` would also send the body and headers such as `x-api-key` to the other origin.
 */
function createFetchWithinOrigin(fetchFunction: FetchFunction): FetchFunction {
  return async (url, init) => {
    let target = new URL(url);
    for (let redirects = 0; ; redirects++) {
      const response = await fetchFunction(target, { ...init, redirect: "manual" });
      // After other redirects, `fetch` would replace POST by GET, which no MCP server expects.
      const location = [307, 308].includes(response.status) ? response.headers.get("location") : null;
      if (location === null) return response;
      await response.body?.cancel();
      const next = URL.parse(location, target.href);
      if (next?.origin !== target.origin || redirects === MAX_REDIRECTS) {
        const message = `The MCP server at ${target.origin} redirects to ${(next?.origin ?? location).slice(0, 200)}. Use that URL if you trust it.`;
        throw new A2AError("INVALID_AGENT_RESPONSE", message);
      }
      target = next;
    }
  };
}
