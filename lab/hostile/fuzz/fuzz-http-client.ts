import { Agent, request as sendHttpRequest } from "node:http";
import type { FuzzRequest } from "./fuzz-request.ts";
import type { FuzzResponse } from "./judge-response.ts";

/** Time without a response after which the server counts as hung. */
const RESPONSE_TIMEOUT_MS = 20_000;
/** Time after which the client closes a stream that does not end. */
const STREAM_MS = 30;

/** Sends requests over a few connections that stay open. */
export class FuzzHttpClient {
  readonly #agent: Agent;
  readonly #port: number;

  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends a request. Resolves with the response, or with a statement if there is no response. */
  send({ method, path, headers, body }: FuzzRequest): Promise<FuzzResponse | string> {
    return new Promise((resolve) => {
      const outgoing = sendHttpRequest(
        {
          host: "127.0.0.1",
          port: this.#port,
          method,
          path,
          agent: this.#agent,
          headers: { ...headers, ...(body === "" ? {} : { "content-length": Buffer.byteLength(body) }) },
        },
        (incoming) => {
          clearTimeout(timer);
          let text = "";
          const finish = (isComplete: boolean): void => {
            clearTimeout(streamTimer);
            resolve({
              status: incoming.statusCode ?? 0,
              contentType: incoming.headers["content-type"] ?? "",
              body: text,
              isComplete,
            });
          };
          const isStream = incoming.headers["content-type"]?.startsWith("text/event-stream");
          const streamTimer = setTimeout(
            () => {
              finish(false);
              outgoing.destroy();
            },
            isStream ? STREAM_MS : RESPONSE_TIMEOUT_MS,
          );
          incoming.setEncoding("utf8");
          incoming.on("data", (chunk: string) => (text += chunk));
          incoming.once("end", () => finish(true));
          incoming.once("error", () => finish(false));
        },
      );
      const timer = setTimeout(() => {
        resolve(`no response within ${RESPONSE_TIMEOUT_MS} ms`);
        outgoing.destroy();
      }, RESPONSE_TIMEOUT_MS);
      outgoing.once("error", (error) => {
        clearTimeout(timer);
        resolve(`no response: ${error.message}`);
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
