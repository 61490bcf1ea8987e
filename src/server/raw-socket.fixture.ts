import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Opens a TCP connection to a test server, and collects what the server sends unless the socket is paused. */
export async function openRawTestSocket(
  port: number,
  options: { readonly isPaused?: boolean; readonly localAddress?: string } = {},
): Promise<{ socket: Socket; readText: () => string; closed: Promise<void> }> {
  const { isPaused = false, localAddress = "127.0.0.1" } = options;
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  // `once` of `node:events` would reject if the server resets the connection.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  let text = "";
  if (!isPaused) socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  return { socket, readText: () => text, closed };
}

/** Returns the head of a POST request with a JSON body. */
export function formatRawPostHead(path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: "localhost", "content-type": "application/json", ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}
