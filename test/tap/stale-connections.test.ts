/** Tests the tap with agents that close an idle connection while the tap starts a request on it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { startTestTap, type RecordingTestTap } from "./tapped-record.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startTap(url: string): Promise<RecordingTestTap> {
  const tap = await startTestTap([url]);
  closers.push(() => tap.close());
  return tap;
}

/** Starts an agent that answers the first request of each connection, and closes the connection at the second one. */
async function startClosingAgent(): Promise<{ url: string; methods: string[] }> {
  const methods: string[] = [];
  const used = new WeakSet<object>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    // The tap looks for a card at its start.
    if (request.url?.includes(".well-known")) {
      response.writeHead(404, { connection: "close" }).end();
      return;
    }
    methods.push(request.method ?? "");
    if (used.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    used.add(request.socket);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods };
}

describe("a reused connection to the agent", () => {
  it("is not used if the agent has closed it before the request arrived", async () => {
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(new URL("./stale-connection-worker.ts", import.meta.url), {
      workerData: { signal },
    });
    closers.push(() => worker.terminate());
    const receive = async (): Promise<unknown> => ((await once(worker, "message")) as unknown[])[0];
    const { url } = (await receive()) as { url: string };
    const { url: tapUrl } = await startTap(url);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage({ tapUrl, step: "first" });
    await receive();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage({ tapUrl, step: "second" });
    // The event loop of the tap stands still until the request and the end of the connection have arrived.
    expect(Atomics.wait(signal, 0, 0, 20_000)).not.toBe("timed-out");
    expect(await receive()).toEqual({ status: 200, requests: expect.any(Number) as number });
  });

  it("causes a repetition of a request without side effects", async () => {
    const { url, methods } = await startClosingAgent();
    const tap = await startTap(url);
    const read = async (): Promise<number> => (await fetch(`${tap.url}/tasks/1`)).status;
    expect([await read(), await read()]).toEqual([200, 200]);
    expect(methods).toEqual(["GET", "GET", "GET"]);
  });

  it("causes no repetition of a message, which the agent may have received", async () => {
    const { url, methods } = await startClosingAgent();
    const tap = await startTap(url);
    const send = async (): Promise<number> =>
      (await fetch(`${tap.url}/rpc`, { method: "POST", body: "{}" })).status;
    expect([await send(), await send()]).toEqual([200, 502]);
    expect(methods).toEqual(["POST", "POST"]);
  });
});
