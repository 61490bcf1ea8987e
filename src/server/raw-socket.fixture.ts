import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * Whether tests can connect from 127.0.0.2 and 127.0.0.3. macOS has these addresses only after
 * `for n in 2 3; do sudo ifconfig lo0 alias 127.0.0.$n up; done`.
 */
export const hasLoopbackAliases: boolean =
  process.platform !== "darwin" ||
  ["127.0.0.2", "127.0.0.3"].every((alias) =>
    networkInterfaces()["lo0"]?.some(({ address }) => address === alias),
  );

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
