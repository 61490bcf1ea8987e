import { basename } from "node:path";
import type { Client, Transport } from "@modelcontextprotocol/client";
import { A2AError } from "../protocol/index.ts";
import { loadMcpPackage } from "./load-mcp-package.ts";
import { truncateStart } from "./sanitize-text.ts";

/** Where an MCP server is: a program that is started, or a URL. */
export type McpServerAddress =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Beside the few variables that are harmless; secrets of this process are not passed on. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly url: string | URL;
      readonly headers?: Readonly<Record<string, string>>;
      readonly fetch?: typeof fetch;
    };

type McpClientSdk = typeof import("@modelcontextprotocol/client");

/** How much is kept of what a server writes to stderr, for the message of an error. */
const MAX_STDERR_LENGTH = 2000;
const CONNECT_TIMEOUT_MS = 30_000;

/** A connection that is made when it is needed, and made again when it has ended. */
export class McpConnection {
  readonly #address: McpServerAddress;
  #client: Promise<Client> | undefined;
  #stderr = "";
  #isClosed = false;

  constructor(address: McpServerAddress) {
    this.#address = address;
  }

  /** Does something with the client; what fails, fails as an A2AError, or with the reason of `signal`. */
  async withClient<T>(signal: AbortSignal | undefined, work: (client: Client) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const sdk = await loadMcpPackage("client", import("@modelcontextprotocol/client"));
    for (let isAgain = false; ; isAgain = true) {
      const opening = this.#getClient(sdk);
      try {
        return await work(await opening);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        // The server knows nothing of the session, and so has done nothing (MCP 2025-11-25, session management).
        if (isAgain || !isSessionExpired(sdk, error)) throw this.#toA2AError(sdk, error);
        await this.#closeClient(opening);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#client) await this.#closeClient(this.#client);
  }

  #getClient(sdk: McpClientSdk): Promise<Client> {
    if (this.#isClosed)
      throw new A2AError("UNAVAILABLE", `${this.#displayName} was closed; make new tools of it.`);
    if (!this.#client) {
      const opening = this.#connect(sdk);
      this.#client = opening;
      // The next who needs it tries again.
      opening.catch(() => this.#clearClient(opening));
    }
    return this.#client;
  }

  async #connect(sdk: McpClientSdk): Promise<Client> {
    const client = new sdk.Client(
      { name: "colloquy", version: "1.0.0" },
      // Over HTTP one question more; of a program it would be one process more, and many of those only know 2025.
      { versionNegotiation: { mode: "url" in this.#address ? "auto" : "legacy" } },
    );
    await client.connect(await this.#createTransport(sdk), { timeout: CONNECT_TIMEOUT_MS });
    const opened = this.#client;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- It is no event target.
    client.onclose = () => this.#clearClient(opened);
    return client;
  }

  async #createTransport(sdk: McpClientSdk): Promise<Transport> {
    const address = this.#address;
    if ("url" in address) {
      return new sdk.StreamableHTTPClientTransport(new URL(address.url), {
        ...(address.headers ? { requestInit: { headers: { ...address.headers } } } : {}),
        ...(address.fetch ? { fetch: address.fetch } : {}),
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

  async #closeClient(opening: Promise<Client>): Promise<void> {
    this.#clearClient(opening);
    try {
      await (await opening).close();
    } catch {
      // It was never open.
    }
  }

  get #displayName(): string {
    const address = this.#address;
    if ("url" in address) return `The MCP server at ${new URL(address.url).origin}`;
    return `The MCP server ${JSON.stringify(basename(address.command))}`;
  }

  /**
   * What happened, and where. The message may reach a caller of the agent; how a program was started and what it wrote,
   * in which there may be secrets, is in the cause.
   */
  #toA2AError(sdk: McpClientSdk, error: unknown): A2AError {
    if (error instanceof A2AError) return error;
    const why = error instanceof Error ? error.message : String(error);
    // It has answered, and will answer the same again.
    if (error instanceof sdk.ProtocolError) {
      return new A2AError("INVALID_REQUEST", `${this.#displayName} refused: ${why}`, { cause: error });
    }
    const cause = this.#createErrorCause(error, why);
    return new A2AError("UNAVAILABLE", `${this.#displayName} did not answer: ${why}`, { cause });
  }

  #createErrorCause(error: unknown, why: string): unknown {
    const address = this.#address;
    if ("url" in address) return error;
    const started = [address.command, ...(address.args ?? [])].join(" ");
    const said = this.#stderr.trim() === "" ? "" : `; it wrote: ${this.#stderr.trim()}`;
    return new Error(`${started}: ${why}${said}`, { cause: error });
  }
}

function isSessionExpired(sdk: McpClientSdk, error: unknown): boolean {
  return error instanceof sdk.SdkHttpError && error.status === 404;
}
