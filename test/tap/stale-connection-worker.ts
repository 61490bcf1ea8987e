/**
 * An agent and its client in a thread of their own. At the command of the test, the client starts a request, and the
 * agent then closes its idle connections. The test blocks the thread of the tap meanwhile, as a busy machine does, so
 * that both are waiting when the tap continues.
 */
import { once } from "node:events";
import { Agent, createServer, request as sendRequest, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { signal } = workerData as { readonly signal: Int32Array };
const sockets = new Set<Socket>();
let requests = 0;
const server = createServer((_request, response) => {
  requests++;
  response.end("{}");
}).listen(0, "127.0.0.1");
server.on("connection", (socket: Socket) => sockets.add(socket));
await once(server, "listening");
const agent = new Agent({ keepAlive: true });

async function post(tapUrl: string, onSent?: () => void): Promise<number> {
  const outgoing = sendRequest(`${tapUrl}/rpc`, { method: "POST", agent }).end("{}", onSent);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  await response.resume().toArray();
  return response.statusCode ?? 0;
}

function closeConnections(): void {
  for (const socket of sockets) socket.destroy();
  // The operating system closes the sockets after this turn of the event loop.
  setTimeout(() => {
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  }, 200);
}

parentPort?.on("message", ({ tapUrl, step }: { tapUrl: string; step: "first" | "second" }) => {
  void (async () => {
    if (step === "first") {
      await post(tapUrl);
      // The tap closes the idle connection, and then knows that this agent keeps idle connections open.
      for (const socket of sockets) if (!socket.destroyed) await once(socket, "close");
      sockets.clear();
      await post(tapUrl);
    }
    const status = step === "first" ? 200 : await post(tapUrl, closeConnections);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    parentPort?.postMessage({ status, requests });
  })();
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
parentPort?.postMessage({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
