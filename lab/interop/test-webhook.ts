import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createWebhook } from "../../src/client/index.ts";
import type { StreamResponse } from "../../src/protocol/index.ts";
import { toNodeListener } from "../../src/server/index.ts";

/** Starts a webhook that requires the token and collects the requests that it receives. */
export async function startTestWebhook(token: string): Promise<{
  url: string;
  /** Resolves with the first event that matches, after it has arrived. */
  first(isWanted: (event: StreamResponse) => boolean): Promise<StreamResponse>;
  close(): void;
}> {
  const events: StreamResponse[] = [];
  let arrival = Promise.withResolvers<void>();
  const receive = createWebhook({
    token,
    onEvent: (event) => {
      events.push(event);
      arrival.resolve();
      arrival = Promise.withResolvers();
    },
  });
  const http = createServer(toNodeListener(receive));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`,
    async first(isWanted) {
      for (;;) {
        const found = events.find(isWanted);
        if (found) return found;
        await arrival.promise;
      }
    },
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
}
