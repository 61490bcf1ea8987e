/** A load balancer for tests: sends each request to a server that reports to be ready. */
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const HEALTH_INTERVAL_MS = 25;

interface Backend {
  readonly url: string;
  isReady: boolean;
}

export class TestBalancer {
  readonly #backends = new Set<Backend>();
  readonly #server: Server = createServer((incoming, outgoing) => void this.#forward(incoming, outgoing));
  readonly #connections = new Agent({ keepAlive: true });
  #healthTimer: NodeJS.Timeout | undefined;
  #requestCount = 0;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.#healthTimer = setInterval(() => {
      for (const backend of this.#backends) void this.#checkHealth(backend);
    }, HEALTH_INTERVAL_MS);
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a server, and resolves once it is ready. */
  async add(url: string): Promise<void> {
    const backend = { url, isReady: false };
    this.#backends.add(backend);
    await this.#checkHealth(backend);
  }

  remove(url: string): void {
    for (const backend of this.#backends) if (backend.url === url) this.#backends.delete(backend);
  }

  close(): void {
    clearInterval(this.#healthTimer);
    this.#server.closeAllConnections();
    this.#server.close();
    this.#connections.destroy();
  }

  async #checkHealth(backend: Backend): Promise<void> {
    backend.isReady = await fetch(`${backend.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const ready = [...this.#backends].filter(({ isReady }) => isReady);
    const first = this.#requestCount++ % Math.max(1, ready.length);
    this.#tryBackends([...ready.slice(first), ...ready.slice(0, first)], incoming, body, outgoing);
  }

  /** Sends the request to the first backend, and to the next one only if the first accepts no connection. */
  #tryBackends(
    [backend, ...others]: readonly Backend[],
    incoming: IncomingMessage,
    body: Buffer,
    outgoing: ServerResponse,
  ): void {
    if (!backend) {
      outgoing.writeHead(502).end();
      return;
    }
    const { method = "GET", url = "/", headers } = incoming;
    const { connection: _, ...forwarded } = headers;
    const options = { method, headers: forwarded, agent: this.#connections };
    const upstream = request(`${backend.url}${url}`, options, (response) => {
      const { connection: __, ...responseHeaders } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, responseHeaders);
      response.pipe(outgoing);
      response.once("aborted", () => outgoing.destroy());
    });
    outgoing.once("close", () => upstream.destroy());
    upstream.once("error", (error: NodeJS.ErrnoException) => {
      if (outgoing.headersSent) outgoing.destroy();
      else if (error.code === "ECONNREFUSED" || upstream.reusedSocket)
        this.#tryBackends(others, incoming, body, outgoing);
      else outgoing.writeHead(502).end();
    });
    upstream.end(body);
  }
}
