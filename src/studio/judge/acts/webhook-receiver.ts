import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";

/** A push notification as it arrived. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  /** Body as JSON, or `undefined` if the body is not JSON. */
  readonly body: unknown;
}

/** Receives push notifications. Each test has a separate address. */
export interface WebhookReceiver {
  /** Returns a new address, which rejects the given number of deliveries with HTTP 503. Default: 0. */
  createUrl(rejections?: number): string;
  /** Waits until a delivery at an address is the last one, or until the time is over. Returns all deliveries. */
  waitFor(
    url: string,
    isLast: (delivery: Delivery, index: number, all: readonly Delivery[]) => boolean,
    timeoutMs: number,
  ): Promise<readonly Delivery[]>;
  close(): void;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const deliveries = new Map<string, Delivery[]>();
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await json(request).catch(() => undefined);
    const { url = "", headers } = request;
    const received = [...(deliveries.get(url) ?? []), { headers, body }];
    deliveries.set(url, received);
    response.writeHead(received.length > Number(url.split("/").at(-1)) ? 204 : 503).end();
  }

  return {
    createUrl: (rejections = 0) =>
      `http://127.0.0.1:${port}/notifications/${crypto.randomUUID()}/${rejections}`,
    async waitFor(url, isLast, timeoutMs) {
      const { pathname } = new URL(url);
      const end = performance.now() + timeoutMs;
      for (;;) {
        const received = deliveries.get(pathname) ?? [];
        if (received.some(isLast) || performance.now() > end) return received;
        await setTimeout(20);
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
