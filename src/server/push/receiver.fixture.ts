import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as a webhook got it. */
export interface Posted {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Record<string, unknown>;
}

/** What a webhook answers: a status with headers, nothing ever, or a cut connection. */
export type Answer = number | { status: number; headers: Record<string, string> } | "hang" | "cut";

/** A webhook on a real port of this machine: keeps what it is sent, and answers as it is told. */
export class Receiver {
  readonly posted: Posted[] = [];
  /** Answers to the next requests; then 200. */
  readonly answers: Answer[] = [];
  /** The answer to all requests for which `answers` has none. */
  otherwise: Answer = 200;
  #server: Server | undefined;
  #waiting: { test: () => boolean; resolve: () => void }[] = [];

  async listen(port = 0): Promise<this> {
    const server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        const { url: path = "", method = "", headers } = incoming;
        const answer = this.answers.shift() ?? this.otherwise;
        if (answer === "cut") outgoing.destroy();
        else if (answer !== "hang") {
          const { status, headers: more } =
            typeof answer === "number" ? { status: answer, headers: {} } : answer;
          outgoing.writeHead(status, more).end();
        }
        this.posted.push({ path, method, headers, body, json: JSON.parse(body) as Record<string, unknown> });
        this.#waiting = this.#waiting.filter(({ test, resolve }) => {
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

  /** Resolves once that many requests, or such requests, have come. */
  until(enough: number | ((posted: Posted[]) => boolean)): Promise<void> {
    const test = (): boolean =>
      typeof enough === "number" ? this.posted.length >= enough : enough(this.posted);
    if (test()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ test, resolve }));
  }

  async close(): Promise<void> {
    const server = this.#server;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }
}
