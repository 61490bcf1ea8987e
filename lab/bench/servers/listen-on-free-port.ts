import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on a free port of the loopback interface and returns the base URL. */
export async function listenOnFreePort(server: Server | RequestListener): Promise<string> {
  const http = typeof server === "function" ? createServer(server) : server;
  await new Promise<void>((resolve) => http.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}
