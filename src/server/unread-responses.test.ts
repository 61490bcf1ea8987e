import { createServer as createHttpServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { Agent, AgentEvent, Run, StalledReaderReport } from "../engine/index.ts";
import { getText, type Task } from "../protocol/index.ts";
import { bearer } from "./auth/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { formatRawPostHead, openRawTestSocket } from "./raw-socket.fixture.ts";

const LARGE = 9_500_000;

/** Replies with an artifact of as many characters as the message says: `500` means ASCII, and `500 €` other text. */
const largeAgent: Agent = {
  describe: () => ({ name: "large", description: "Replies with a large artifact." }),
  async *execute({ message }: Run): AsyncGenerator<AgentEvent> {
    const [length, character = "x"] = getText(message.parts).split(" ");
    yield { status: { state: "TASK_STATE_WORKING" } };
    yield { artifact: { artifactId: "a", parts: [{ text: character.repeat(Number(length)) }] } };
  },
};
const authenticate = bearer({
  tokens: Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`token-of-caller-${at}-0123456789`, `caller-${at}`]),
  ),
});
const getAuthorization = (caller: number): string => `Bearer token-of-caller-${caller}-0123456789`;

const openServers: Server[] = [];
/** Paths of the requests that the servers of the current test have answered. */
const answeredPaths: string[] = [];
afterEach(async () => {
  answeredPaths.length = 0;
  await Promise.all(openServers.splice(0).map((server) => server.close({ graceMs: 10 })));
});

async function startServer(
  options: ServerOptions = {},
): Promise<{ url: string; port: number; server: Server }> {
  const observer = {
    ...options.observer,
    onRequest: ({ path }: { path: string }) => answeredPaths.push(path),
  };
  const server = createServer(largeAgent, { store: "memory", ...options, observer });
  openServers.push(server);
  const { url, port } = await server.listen();
  return { url, port, server };
}

async function callJsonRpc(
  send: (request: Request) => Promise<Response>,
  url: string,
  method: string,
  params: object,
  caller?: number,
): Promise<Response> {
  const headers = {
    "a2a-version": "1.0",
    "content-type": "application/json",
    ...(caller === undefined ? {} : { authorization: getAuthorization(caller) }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return await send(new Request(url, { method: "POST", headers, body }));
}

async function createLargeTask(url: string, length = LARGE, caller?: number): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: String(length) }] };
  const response = await callJsonRpc(fetch, url, "SendMessage", { message }, caller);
  const text = await response.text();
  expect({ status: response.status, text: text.slice(0, 500) }).toMatchObject({ status: 200 });
  return (JSON.parse(text) as { result: { task: Task } }).result.task.id;
}

/** Opens a connection that asks for a task and never reads the answer. Resolves when the server has answered. */
async function requestWithoutReading(port: number, id: string): ReturnType<typeof openRawTestSocket> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id } });
  const answeredBefore = answeredPaths.length;
  const opened = await openRawTestSocket(port, { isPaused: true });
  opened.socket.pause();
  opened.socket.write(formatRawPostHead("/", { "a2a-version": "1.0", "content-length": body.length }) + body);
  onTestFinished(() => void opened.socket.destroy());
  await expect.poll(() => answeredPaths.length).toBe(answeredBefore + 1);
  return opened;
}

describe("responses that the client does not read", () => {
  it("take at most the share of their remote address, and other requests receive 429 with Retry-After [SEC-19]", async () => {
    const { url, port } = await startServer({ limits: { bufferedBytes: 100_000_000 } });
    const id = await createLargeTask(url);
    await requestWithoutReading(port, id);
    await requestWithoutReading(port, id);
    expect((await callJsonRpc(fetch, url, "GetTask", { id })).status).toBe(429);
    const refused = await callJsonRpc(fetch, url, "GetTask", { id });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.text()).toMatch(/RESOURCE_EXHAUSTED.*limits\.bufferedBytes|limits\.bufferedBytes/);
    const rest = await fetch(`${url}/tasks/${id}`, { headers: { "a2a-version": "1.0" } });
    expect(rest.status).toBe(429);
    expect(((await rest.json()) as { error: { status: string } }).error.status).toBe("RESOURCE_EXHAUSTED");
  });

  it("free their bytes when the connection ends", async () => {
    const { url, port } = await startServer({ limits: { bufferedBytes: 40_000_000 } });
    const id = await createLargeTask(url);
    const { socket } = await requestWithoutReading(port, id);
    const getStatus = async (): Promise<number> => {
      const response = await callJsonRpc(fetch, url, "GetTask", { id });
      await response.body?.cancel();
      return response.status;
    };
    expect(await getStatus()).toBe(429);
    socket.destroy();
    await expect.poll(getStatus).toBe(200);
  });

  it("end when the client takes no byte for the time limit, and the observer receives one report [SEC-20]", async () => {
    const reports: StalledReaderReport[] = [];
    const { url, port } = await startServer({
      limits: { writeStallMs: 200 },
      observer: { onReaderStalled: (report) => reports.push(report) },
    });
    const id = await createLargeTask(url);
    const readers = [await requestWithoutReading(port, id), await requestWithoutReading(port, id)];
    await expect.poll(() => reports.length).toBe(1);
    await delay(300);
    for (const { socket } of readers) socket.resume();
    await Promise.all(readers.map(({ closed }) => closed));
    expect(reports).toEqual([{ remoteAddress: "127.0.0.1", connections: 1, timeoutMs: 200 }]);
  });
});

describe("honest readers", () => {
  it("receive the whole answer, however slow they read", async () => {
    const { url, port } = await startServer({ limits: { writeStallMs: 1000 } });
    const id = await createLargeTask(url);
    const { socket, closed } = await requestWithoutReading(port, id);
    let received = 0;
    // Pauses are longer than a slice needs, and shorter than the time limit.
    socket.on("data", (chunk: Buffer) => {
      received += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 5);
    });
    socket.resume();
    await expect.poll(() => received).toBeGreaterThan(LARGE);
    socket.destroy();
    await closed;
  });

  it("of ten callers each receive an answer of 10 MB at the same time", async () => {
    const { url, port } = await startServer({ authenticate });
    const ids = await Promise.all(
      [...Array(10).keys()].map((caller) => createLargeTask(url, 9_900_000, caller)),
    );
    const responses = await Promise.all(
      ids.map((id, caller) => callJsonRpc(fetch, url, "GetTask", { id }, caller)),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    for (const response of responses) expect((await response.text()).length).toBeGreaterThan(9_900_000);
    expect(port).toBeGreaterThan(0);
  });
});

describe("a stream that the client does not read", () => {
  it("receives an error event instead of a task that exceeds the share", async () => {
    const { url, port } = await startServer({ limits: { bufferedBytes: 40_000_000 } });
    const id = await createLargeTask(url);
    await requestWithoutReading(port, id);
    expect((await callJsonRpc(fetch, url, "GetTask", { id })).status).toBe(429);
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: String(LARGE) }] };
    const stream = await callJsonRpc(fetch, url, "SendStreamingMessage", { message });
    expect(stream.status).toBe(200);
    expect(await stream.text()).toMatch(/"reason":"RESOURCE_EXHAUSTED"|limits\.bufferedBytes/);
  });
});

describe("a large response that is refused after it has been encoded", () => {
  // The client reads neither response, and the second one needs more bytes than its number of characters.
  const limits = { bufferedBytes: 80_000_000 };

  async function createTask(server: Server, text: string): Promise<string> {
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
    const response = await callJsonRpc(server.fetch, "http://localhost/", "SendMessage", { message });
    return ((await response.json()) as { result: { task: Task } }).result.task.id;
  }

  it.each(["node:http", "fetch"])(
    "is a JSON-RPC error with the id of the request, over %s [E14]",
    async (host) => {
      const { url, port, server } = await startServer({ limits });
      const ascii = await createTask(server, String(LARGE));
      const other = await createTask(server, "3000000 €");
      const unread =
        host === "fetch"
          ? await callJsonRpc(server.fetch, "http://localhost/", "GetTask", { id: ascii })
          : await requestWithoutReading(port, ascii);
      const send = host === "fetch" ? server.fetch : fetch;
      const refused = await callJsonRpc(send, url, "GetTask", { id: other });
      expect(refused.status).toBe(429);
      expect(refused.headers.get("retry-after")).toBe("1");
      const reply: unknown = await refused.json();
      expect(reply).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: expect.any(Number) } });
      expect(JSON.stringify(reply)).toMatch(/"reason":"RESOURCE_EXHAUSTED"/);
      const rest = await send(new Request(`${url}/tasks/${other}`, { headers: { "a2a-version": "1.0" } }));
      expect(rest.status).toBe(429);
      expect(rest.headers.get("content-type")).toBe("application/a2a+json");
      expect(await rest.json()).toMatchObject({
        error: { status: "RESOURCE_EXHAUSTED", details: [{ reason: "RESOURCE_EXHAUSTED" }, {}] },
      });
      expect(unread).toBeDefined();
    },
  );
});

describe("a server behind fetch", () => {
  it("counts a response until the host has read it or dropped it", async () => {
    const { server } = await startServer({ limits: { bufferedBytes: 40_000_000 } });
    const url = "http://localhost/";
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: String(LARGE) }] };
    const created = await callJsonRpc(server.fetch, url, "SendMessage", { message });
    const { id } = ((await created.json()) as { result: { task: Task } }).result.task;
    const unread = await callJsonRpc(server.fetch, url, "GetTask", { id });
    expect((await callJsonRpc(server.fetch, url, "GetTask", { id })).status).toBe(429);
    await unread.body?.cancel();
    const read = await callJsonRpc(server.fetch, url, "GetTask", { id });
    expect(Number(read.headers.get("content-length"))).toBe((await read.text()).length);
    expect((await callJsonRpc(server.fetch, url, "GetTask", { id })).status).toBe(200);
  });
});

it("responses of mounted handlers count as well, and free their bytes when the client disconnects", async () => {
  const path = "/large";
  const mounted = {
    matchesPath: (one: string) => one === path,
    handle: () => Promise.resolve(new Response("x".repeat(LARGE))),
  };
  const { url, port } = await startServer({
    mountedHandlers: [mounted],
    limits: { bufferedBytes: 40_000_000 },
  });
  const { socket } = await openRawTestSocket(port, { isPaused: true });
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  const getStatus = async (): Promise<number> => (await fetch(url + path)).status;
  await expect.poll(() => answeredPaths.length).toBe(1);
  expect(await getStatus()).toBe(429);
  socket.destroy();
  await expect.poll(getStatus).toBe(200);
});

it("a server mounted in another HTTP server limits unread answers as well", async () => {
  const { server, url } = await startServer({ limits: { bufferedBytes: 40_000_000 } });
  const id = await createLargeTask(url);
  const http = createHttpServer(server.listener).listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  await requestWithoutReading(port, id);
  expect((await callJsonRpc(fetch, `http://127.0.0.1:${port}`, "GetTask", { id })).status).toBe(429);
});
