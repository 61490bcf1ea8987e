import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestOverHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestOverHttps } from "node:https";
import { replaceOriginInHeader, selectForwardedHeaders } from "./forwarded-headers.ts";
import type { BoundedBodyCopy } from "./bounded-body-copy.ts";
import { writeAndDrain } from "./write-response-bytes.ts";

/**
 * Idle time in milliseconds after which the tap closes a connection to an agent. Servers close idle connections after
 * five seconds (uvicorn, Node.js), and a request on a connection that the server is closing would fail.
 */
const IDLE_CONNECTION_MS = 1_000;

/** The connections of the tap to one origin. */
export class UpstreamConnections {
  readonly #url: URL;
  readonly #pseudonym: string;
  readonly #connectMs: number;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(
    url: URL,
    options: {
      readonly verifyCertificates: boolean;
      /** Identifies the tap in the `Via` header. */
      readonly pseudonym: string;
      /** Maximum time in milliseconds for a connection. */
      readonly connectMs: number;
    },
  ) {
    this.#url = url;
    this.#pseudonym = options.pseudonym;
    this.#connectMs = options.connectMs;
    const pool = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
    this.#agent =
      url.protocol === "https:"
        ? new HttpsAgent({ ...pool, rejectUnauthorized: options.verifyCertificates })
        : new HttpAgent(pool);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Starts the request to the agent, without its body. */
  open(request: IncomingMessage): ClientRequest {
    const { method, url: path } = request;
    const isHttps = this.#url.protocol === "https:";
    const upstream = (isHttps ? requestOverHttps : requestOverHttp)({
      method,
      path,
      headers: this.#selectHeaders(request),
      agent: this.#agent,
      hostname: this.#url.hostname.replace(/^\[|\]$/g, ""),
      port: this.#url.port === "" ? (isHttps ? 443 : 80) : this.#url.port,
    });
    // Errors after the response also reach the reader of the response.
    upstream.on("error", () => {});
    this.#limitConnectTime(upstream);
    return upstream;
  }

  #selectHeaders({
    method,
    rawHeaders,
    headers: { host, "transfer-encoding": encoding },
  }: IncomingMessage): string[] {
    // Compressed bodies could not be recorded, and the tap changes cards even if the agent has not changed them.
    const removed = ["host", "accept-encoding", "expect"];
    if (method === "GET") removed.push("if-none-match", "if-modified-since");
    const headers = selectForwardedHeaders(rawHeaders, removed);
    if (encoding !== undefined) headers.push("Transfer-Encoding", "chunked");
    headers.push("Host", this.#url.host, "Accept-Encoding", "identity", "Via", `1.1 ${this.#pseudonym}`);
    return replaceOriginInHeader(headers, "origin", `http://${host}`, this.#url.origin);
  }

  #limitConnectTime(upstream: ClientRequest): void {
    upstream.once("socket", (socket) => {
      if (!socket.connecting) return;
      const expire = (): void => {
        // On a busy machine, the timer can run before the event of a connection that exists.
        setImmediate(() => {
          if (socket.connecting)
            upstream.destroy(new Error(`no connection within ${this.#connectMs / 1_000} s`));
        });
      };
      const timer = setTimeout(expire, this.#connectMs);
      const stop = (): void => clearTimeout(timer);
      socket.once("connect", stop).once("close", stop);
    });
  }
}

/** Resolves with the beginning of the response, or rejects if the request fails before. */
export function waitForResponse(upstream: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    upstream.once("response", resolve).once("error", reject);
  });
}

/** Sends the chunks of a request body as they arrive, and copies them for the record. */
export async function sendRequestBody(
  upstream: ClientRequest,
  held: readonly Buffer[],
  chunks: AsyncIterator<Buffer, void>,
  copy: BoundedBodyCopy,
): Promise<void> {
  for (const chunk of held) await writeAndDrain(upstream, chunk);
  for (;;) {
    const next = await chunks.next();
    if (next.done) break;
    copy.add(next.value);
    if (upstream.destroyed) return;
    await writeAndDrain(upstream, next.value);
  }
  upstream.end();
}
