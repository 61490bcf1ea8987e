import { ChildProcessClient } from "../../bench/child-process-rpc.ts";
import type { FuzzedServerMethods } from "../processes/fuzzed-server-process.ts";
import { FuzzHttpClient } from "./fuzz-http-client.ts";
import { fillPlaceholders, type FuzzRequest, type FuzzPlaceholders } from "./fuzz-request.ts";
import { findResponseProblem } from "./judge-response.ts";

const CONNECTIONS = 16;

/** The server that the fuzzers call, in a process of its own. */
export class FuzzedServer {
  readonly httpClient: FuzzHttpClient;
  readonly origin: string;
  readonly grpcPort: number;
  readonly #process: ChildProcessClient<FuzzedServerMethods>;
  #placeholders: FuzzPlaceholders;

  private constructor(
    process: ChildProcessClient<FuzzedServerMethods>,
    ports: { readonly http: number; readonly grpc: number },
    placeholders: FuzzPlaceholders,
  ) {
    this.#process = process;
    this.httpClient = new FuzzHttpClient(ports.http, CONNECTIONS);
    this.origin = `http://127.0.0.1:${ports.http}`;
    this.grpcPort = ports.grpc;
    this.#placeholders = placeholders;
  }

  static async start(): Promise<FuzzedServer> {
    const module = new URL("../processes/fuzzed-server-process.ts", import.meta.url);
    const process = await ChildProcessClient.start<FuzzedServerMethods>("fuzzed server", module, "any");
    return new FuzzedServer(
      process,
      await process.call("getPorts"),
      await process.call("createPlaceholders"),
    );
  }

  get placeholders(): FuzzPlaceholders {
    return this.#placeholders;
  }

  /** Creates new tasks and a new session for the placeholders. Rejects if the server does not reply as usual. */
  async renewPlaceholders(): Promise<void> {
    this.#placeholders = await this.#process.call("createPlaceholders");
  }

  /** Sends a request. Resolves with its status, and with the problem of the response, if it has one. */
  async send(request: FuzzRequest): Promise<{ readonly outcome: string; readonly problem?: string }> {
    const response = await this.httpClient.send(fillPlaceholders(request, this.#placeholders));
    if (typeof response === "string") return { outcome: "none", problem: response };
    const problem = isMcpHandshake(request) ? undefined : findResponseProblem(request.surface, response);
    return { outcome: String(response.status), ...(problem === undefined ? {} : { problem }) };
  }

  /** Returns errors that the server reported since the last call. */
  takeFaults(): Promise<string[]> {
    return this.#process.call("takeFaults");
  }

  /** Sends one request, and resolves with the problem of the response or the error that the server reported. */
  async findRequestProblem(request: FuzzRequest): Promise<string | undefined> {
    const { problem } = await this.send(request);
    const [fault] = await this.takeFaults();
    return problem ?? fault;
  }

  async stop(): Promise<void> {
    this.httpClient.close();
    await this.#process.stop();
  }
}

/**
 * The MCP SDK itself handles `initialize`, and replies with an internal error to invalid parameters. Other handlers of
 * the SDK do not, because the server passes a schema to them.
 */
function isMcpHandshake({ surface, body }: FuzzRequest): boolean {
  return surface === "MCP" && body.includes(`"initialize"`);
}
