import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { UnstreamedRequest } from "./read-node-body-text.ts";
import { Quota } from "../base/data-structures/index.ts";
import { getAddressHolderKey } from "./remote-address.ts";

/** Times in milliseconds after which the listener closes a connection. */
export const HTTP_TIMEOUTS: Pick<
  ServerOptions,
  "headersTimeout" | "requestTimeout" | "keepAliveTimeout" | "connectionsCheckingInterval"
> = {
  /** Time for the headers of a request, and for the first byte of a new connection. */
  headersTimeout: 20_000,
  /** Time for a complete request. A body of 10 MiB arrives in time at 90 KB per second. */
  requestTimeout: 120_000,
  /** Idle time between two requests. */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
};

/** Response to a connection that exceeds the share of its address, before any request. */
const REFUSED_CONNECTION_RESPONSE =
  "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/**
 * Creates an HTTP listener that closes connections whose requests do not arrive, and provides each remote address with
 * a fair share of the connections.
 */
export function createGuardedHttpServer(
  listener: RequestListener,
  maxConnections: number,
  timeouts: typeof HTTP_TIMEOUTS = HTTP_TIMEOUTS,
): Server {
  const http = createServer({ ...timeouts, IncomingMessage: UnstreamedRequest }, listener);
  http.on(
    "connection",
    createConnectionGuard(maxConnections, (socket) =>
      socket.end(REFUSED_CONNECTION_RESPONSE, () => socket.destroy()),
    ),
  );
  requestBodiesOnDemand(http, listener);
  return http;
}

/**
 * Lets a client that sends `Expect: 100-continue` send its body only when the server reads the body. The server therefore
 * refuses the headers of such a request before the body arrives.
 */
function requestBodiesOnDemand(http: Server, listener: RequestListener): void {
  http.on("checkContinue", (incoming, outgoing) => {
    incoming.once("resume", () => {
      if (!outgoing.headersSent) outgoing.writeContinue();
    });
    listener(incoming, outgoing);
  });
}

/**
 * Returns a listener for the `connection` event of a server, which limits each remote address to a fair share of
 * the connections. The listener calls `refuse` for each connection that exceeds the share of its address.
 */
export function createConnectionGuard(
  maxConnections: number,
  refuse: (socket: Socket) => void,
): (socket: Socket) => void {
  const shares = new Quota({ capacity: maxConnections });
  return (socket) => {
    const holder = getAddressHolderKey(socket.remoteAddress);
    if (shares.reserve(holder, 1) === undefined) socket.once("close", () => shares.release(holder, 1));
    else refuse(socket);
  };
}
