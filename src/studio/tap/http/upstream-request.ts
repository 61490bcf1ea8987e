import { once } from "node:events";
import {
  type Agent,
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestOverHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestOverHttps } from "node:https";
import type { Socket } from "node:net";
import { setImmediate as waitForEventLoop } from "node:timers/promises";
import { replaceOriginInHeader, selectForwardedHeaders } from "./forwarded-headers.ts";
import type { Duplex } from "node:stream";

/**
 * Idle time in milliseconds after which the tap closes a connection to an agent. Servers close idle connections after
 * five seconds (uvicorn, Node.js), and a request on a connection that the server is closing would fail.
 */
const IDLE_CONNECTION_MS = 1_000;

/** Methods without side effects, which may be repeated (RFC 9110 §9.2.2). */
const REPEATABLE_METHODS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Methods for which a request without a body should state the length 0 (RFC 9110 §8.6). */
const BODY_METHODS: ReadonlySet<string | undefined> = new Set(["PATCH", "POST", "PUT"]);

/** A request to the agent, and its response. */
export interface UpstreamRequest {
  readonly outgoing: ClientRequest;
  readonly response: Promise<IncomingMessage>;
}

/** The connections of the tap to one origin. */
export class UpstreamConnections {
  readonly #url: URL;
  readonly #pseudonym: string;
  readonly #connectMs: number;
  readonly #agent: HttpAgent | HttpsAgent;
  /** Opens a new connection for each request. */
  readonly #agentWithoutReuse: HttpAgent | HttpsAgent;
  readonly #idleConnections: IdleConnectionEvidence;

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
    const createAgent = (keepAlive: boolean): HttpAgent | HttpsAgent => {
      const pool = { keepAlive, ...(keepAlive ? { timeout: IDLE_CONNECTION_MS } : {}) };
      return url.protocol === "https:"
        ? new HttpsAgent({ ...pool, rejectUnauthorized: options.verifyCertificates })
        : new HttpAgent(pool);
    };
    this.#agent = createAgent(true);
    this.#agentWithoutReuse = createAgent(false);
    this.#idleConnections = new IdleConnectionEvidence(this.#agent);
  }

  close(): void {
    this.#agent.destroy();
    this.#agentWithoutReuse.destroy();
  }

  /**
   * Starts the request to the agent, without its body. An agent can close an idle connection at any time. A request with
   * side effects, which the tap cannot repeat, therefore uses idle connections only if the agent is known to keep them
   * open. On a busy machine, a close can wait in the operating system when the next request begins. The request takes
   * an idle connection only if the connection is still open after one turn of the event loop. No byte is sent before.
   */
  async open(request: IncomingMessage, signal: AbortSignal): Promise<UpstreamRequest> {
    for (;;) {
      if (!isRepeatable(request) && !this.#idleConnections.allowsReuse)
        return this.#start(request, signal, this.#agentWithoutReuse);
      const upstream = this.#start(request, signal, this.#agent);
      const { outgoing } = upstream;
      const [socket] = (await once(outgoing, "socket")) as [Socket];
      if (!outgoing.reusedSocket) return upstream;
      // The first callback can belong to the turn in which the request arrived.
      await waitForEventLoop();
      await waitForEventLoop();
      signal.throwIfAborted();
      if (!outgoing.destroyed && socket.readable && socket.writable) return upstream;
      outgoing.destroy();
    }
  }

  /**
   * Waits for the response. If the agent closed an idle connection while the request was under way, repeats a request
   * without a body and without side effects on a new connection. Other requests may have had an effect.
   */
  async waitForResponse(
    { outgoing, response }: UpstreamRequest,
    request: IncomingMessage,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    try {
      return await response;
    } catch (error) {
      if (!outgoing.reusedSocket || signal.aborted || !isRepeatable(request)) throw error;
      const repeated = this.#start(request, signal, this.#agentWithoutReuse);
      repeated.outgoing.end();
      return await repeated.response;
    }
  }

  #start(request: IncomingMessage, signal: AbortSignal, agent: HttpAgent | HttpsAgent): UpstreamRequest {
    const { method, url: path } = request;
    const isHttps = this.#url.protocol === "https:";
    const outgoing = (isHttps ? requestOverHttps : requestOverHttp)({
      method,
      path,
      headers: this.#selectHeaders(request),
      agent,
      signal,
      hostname: this.#url.hostname.replace(/^\[|\]$/g, ""),
      port: this.#url.port === "" ? (isHttps ? 443 : 80) : this.#url.port,
    });
    // Errors after the response also reach the reader of the response.
    outgoing.on("error", () => {});
    this.#limitConnectTime(outgoing);
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once("response", resolve).once("error", reject);
    });
    // An error before the caller waits for the response is not unhandled.
    response.catch(() => {});
    return { outgoing, response };
  }

  #selectHeaders({
    method,
    rawHeaders,
    headers: { host, "transfer-encoding": encoding, "content-length": length },
  }: IncomingMessage): string[] {
    // Compressed bodies could not be recorded, and the tap changes cards even if the agent has not changed them.
    const removed = ["host", "accept-encoding", "expect"];
    if (method === "GET") removed.push("if-none-match", "if-modified-since");
    const headers = selectForwardedHeaders(rawHeaders, removed);
    if (encoding !== undefined) headers.push("Transfer-Encoding", "chunked");
    // Node.js would declare a chunked body, which some servers refuse without a content type.
    else if (length === undefined && BODY_METHODS.has(method)) headers.push("Content-Length", "0");
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

function isRepeatable({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  return REPEATABLE_METHODS.has(method) && !hasBody;
}

/**
 * Observes how an agent treats idle connections. A request on a connection that the agent is closing fails, and the
 * sender cannot know whether the agent has received the request.
 */
class IdleConnectionEvidence {
  readonly #pool: Agent;
  readonly #idle = new WeakSet<Duplex>();
  readonly #observed = new WeakSet<Duplex>();
  #isKept = false;
  #isClosed = false;

  /** `pool` closes connections that are idle for its `timeout`. */
  constructor(pool: Agent) {
    this.#pool = pool;
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    const reuseSocket = pool.reuseSocket.bind(pool);
    pool.keepSocketAlive = (socket) => {
      this.#observe(socket);
      this.#idle.add(socket);
      return keepSocketAlive(socket);
    };
    pool.reuseSocket = (socket, request) => {
      this.#idle.delete(socket);
      reuseSocket(socket, request);
    };
  }

  /**
   * Whether a request with side effects may use the pool. Before that, one idle connection must have stayed open until
   * the pool closed it, and the agent must never have closed an idle connection. A connection that the pool must open
   * is always safe.
   */
  get allowsReuse(): boolean {
    return (this.#isKept && !this.#isClosed) || this.#isPoolEmpty();
  }

  #isPoolEmpty(): boolean {
    return Object.keys(this.#pool.sockets).length === 0 && Object.keys(this.#pool.freeSockets).length === 0;
  }

  #observe(socket: Duplex): void {
    if (this.#observed.has(socket)) return;
    this.#observed.add(socket);
    socket.on("timeout", () => {
      if (this.#idle.has(socket)) this.#isKept = true;
      // The pool closes the connection.
      this.#idle.delete(socket);
    });
    for (const event of ["end", "close"] as const)
      socket.once(event, () => {
        if (this.#idle.delete(socket)) this.#isClosed = true;
      });
  }
}
