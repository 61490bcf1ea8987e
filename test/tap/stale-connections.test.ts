/** Tests the tap with agents that close an idle connection while the tap starts a request on it. */
import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createNetServer, type AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { startTestTap, type RecordingTestTap } from "./tapped-record.ts";
import { countRuns } from "../support/count-runs.ts";

const REQUESTS_PER_SENDER = countRuns(5, 20);
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startTap(url: string): Promise<RecordingTestTap> {
  const tap = await startTestTap([url]);
  closers.push(() => tap.close());
  return tap;
}

interface TestAgent {
  readonly url: string;
  /** Methods of the received requests. */
  readonly methods: readonly string[];
  /** Resolves when the tap has closed a connection. */
  readonly waitForClose: () => Promise<unknown>;
}

/** Starts an agent that answers the first request of each connection, and closes the connection at the second one. */
async function startClosingAgent(): Promise<TestAgent> {
  const methods: string[] = [];
  const closed = Promise.withResolvers<void>();
  const used = new WeakSet<object>();
  const server = createServer(({ url, method, socket }: IncomingMessage, response: ServerResponse) => {
    // The tap looks for a card at its start.
    if (url?.includes(".well-known")) {
      response.writeHead(404, { connection: "close" }).end();
      return;
    }
    methods.push(method ?? "");
    if (used.has(socket)) {
      socket.destroy();
      return;
    }
    used.add(socket);
    socket.once("close", () => closed.resolve());
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    methods,
    waitForClose: () => closed.promise,
  };
}

/** Starts an agent that closes each connection after a time without a request, and does not announce the close. */
async function startImpatientAgent(getIdleMs: () => number): Promise<string> {
  const server = createNetServer((socket) => {
    let received = "";
    let timer: NodeJS.Timeout | undefined;
    socket.setEncoding("latin1").on("error", () => {});
    socket.on("data", (text) => {
      clearTimeout(timer);
      received += String(text);
      // Each request has the body `{}` as one chunk, or no body.
      if (!/^(?:GET .*\r\n\r\n|POST .*\r\n\r\n(?:2\r\n\{\}\r\n0\r\n\r\n|\{\}))$/s.test(received)) return;
      received = "";
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      timer = setTimeout(() => socket.end(), getIdleMs());
    });
    socket.on("close", () => clearTimeout(timer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a reused connection to the agent", () => {
  // On a busy machine, the kernel can deliver the end of the connection after the tap has continued. No program could
  // notice such an end, so that the tap sends the request, which fails.
  it("is not used if the agent has closed it before the request arrived", { retry: 3 }, async () => {
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
    const { url, methods, waitForClose } = await startClosingAgent();
    const tap = await startTap(url);
    const send = async (): Promise<number> =>
      (await fetch(`${tap.url}/rpc`, { method: "POST", body: "{}" })).status;
    expect(await send()).toBe(200);
    // The agent kept the connection open until the tap closed it, so that the tap reuses the next one.
    await waitForClose();
    expect([await send(), await send()]).toEqual([200, 502]);
    expect(methods).toEqual(["POST", "POST", "POST"]);
  });

  it.each([
    ["at once", () => 0],
    ["after 1 ms", () => 1],
    ["after 0 to 5 ms", (at: number) => at % 6],
  ])("causes no error under load with an agent that closes connections %s", async (_, getIdleMs) => {
    let answers = 0;
    const { url } = await startTap(await startImpatientAgent(() => getIdleMs(answers++)));
    const pool = new Agent({ keepAlive: true, maxSockets: 20 });
    const statuses = new Map<number | undefined, number>();
    const send = async (): Promise<void> => {
      const outgoing = request(`${url}/rpc`, { method: "POST", agent: pool }).end("{}");
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      await response.resume().toArray();
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1);
    };
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let sent = 0; sent < REQUESTS_PER_SENDER; sent++) await send();
      }),
    );
    pool.destroy();
    expect([...statuses]).toEqual([[200, 20 * REQUESTS_PER_SENDER]]);
  });
});
