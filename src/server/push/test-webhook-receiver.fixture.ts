import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the webhook received. */
export interface ReceivedTestWebhookRequest {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Record<string, unknown>;
}

/**
 * The response of the webhook: a status with headers, no response (`hang`), or a closed connection (`cut`).
 */
export type FakeWebhookResponse =
  | number
  | { status: number; headers: Record<string, string> }
  | "hang"
  | "cut";

/**
 * A webhook on a real local port. The receiver records requests, and returns the responses that a test sets.
 */
export class TestWebhookReceiver {
  readonly requests: ReceivedTestWebhookRequest[] = [];
  /** Responses to the next requests, before `defaultResponse` applies. */
  readonly queuedResponses: FakeWebhookResponse[] = [];
  /** Response to a request when `queuedResponses` is empty. */
  defaultResponse: FakeWebhookResponse = 200;
  #server: Server | undefined;
  #waiters: { test: () => boolean; resolve: () => void }[] = [];

  async listen(port = 0): Promise<this> {
    const server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        const { url: path = "", method = "", headers } = incoming;
        const answer = this.queuedResponses.shift() ?? this.defaultResponse;
        if (answer === "cut") outgoing.destroy();
        else if (answer !== "hang") {
          const { status, headers: more } =
            typeof answer === "number" ? { status: answer, headers: {} } : answer;
          outgoing.writeHead(status, more).end();
        }
        this.requests.push({
          path,
          method,
          headers,
          body,
          json: JSON.parse(body) as Record<string, unknown>,
        });
        this.#waiters = this.#waiters.filter(({ test, resolve }) => {
          if (test()) resolve();
          return !test();
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    this.#server = server;
    return this;
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | undefined;
    return address?.port ?? 0;
  }

  url(path = "/hook"): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Resolves when the webhook has received a number of requests, or requests that satisfy a condition. */
  waitForRequests(enough: number | ((posted: ReceivedTestWebhookRequest[]) => boolean)): Promise<void> {
    const test = (): boolean =>
      typeof enough === "number" ? this.requests.length >= enough : enough(this.requests);
    if (test()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ test, resolve }));
  }

  async close(): Promise<void> {
    const server = this.#server;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }
}
