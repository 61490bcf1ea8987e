import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { createServer } from "./index.ts";
import { createGuardedHttpServer } from "./guarded-http-server.ts";
import { formatRawPostHead, openRawTestSocket } from "./raw-socket.fixture.ts";
import { readNodeBodyText, UnstreamedRequest } from "./read-node-body-text.ts";

const MAX_BYTES = 100;

/** Reads the body in a later microtask, like the server, and tells whether the body was a stream. */
async function readLikeServer(incoming: IncomingMessage): Promise<string> {
  await Promise.resolve();
  const contentLength = Number(incoming.headers["content-length"] ?? 0);
  const body = readNodeBodyText(incoming, MAX_BYTES, contentLength);
  return body instanceof Promise ? `streamed ${await body}` : `whole ${body}`;
}

/** Starts a server that replies with the result of `read`, and opens a connection. */
async function connect(
  read: (incoming: IncomingMessage) => Promise<string>,
): Promise<Awaited<ReturnType<typeof openRawTestSocket>>> {
  const http = createGuardedHttpServer((incoming, outgoing) => {
    void read(incoming).then(
      (text) => outgoing.end(text),
      (error: unknown) => outgoing.end(String(error)),
    );
  }, 100);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return await openRawTestSocket((http.address() as AddressInfo).port);
}

function formatPost(body: string): string {
  return formatRawPostHead("/", { "content-length": Buffer.byteLength(body) }) + body;
}

it("a body that arrives in one piece needs no stream, on each request of a connection", async () => {
  const { socket, readText } = await connect(readLikeServer);
  socket.write(formatPost("one"));
  await expect.poll(readText).toContain("whole one");
  socket.write(formatPost("two") + formatPost("three"));
  await expect.poll(readText).toMatch(/whole two[^]*whole three/);
});

it("a body that arrives later, in pieces, or in chunks is read as a stream", async () => {
  const { socket, readText } = await connect(readLikeServer);
  const head = formatRawPostHead("/", { "content-length": 6 });
  socket.write(head);
  setImmediate(() => setImmediate(() => socket.write("abc")));
  await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
  setImmediate(() => socket.write("def"));
  await expect.poll(readText).toContain("streamed abcdef");
  socket.write(`${formatRawPostHead("/", { "transfer-encoding": "chunked" })}3\r\nxyz\r\n0\r\n\r\n`);
  await expect.poll(readText).toContain("streamed xyz");
});

it("a handler that reads the request as a stream receives the body, and an unread body is dropped", async () => {
  const listenData = async (incoming: IncomingMessage): Promise<string> => {
    const data = vi.fn<(chunk: Buffer) => void>();
    incoming.on("data", data);
    await once(incoming, "end");
    return `events ${Buffer.concat(data.mock.calls.map(([chunk]) => chunk)).toString()}`;
  };
  const iterate = async (incoming: IncomingMessage): Promise<string> => {
    await new Promise((resolve) => setImmediate(resolve));
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    return `iterated ${text}`;
  };
  const ignore = async (): Promise<string> => await Promise.resolve("ignored");
  const readers = [listenData, iterate, ignore, readLikeServer];
  const { socket, readText } = await connect((incoming) => (readers.shift() ?? ignore)(incoming));
  for (const [body, expected] of [
    ["one", "events one"],
    ["two", "iterated two"],
    ["three", "ignored"],
    ["four", "whole four"],
  ] as const) {
    socket.write(formatPost(body));
    await expect.poll(readText).toContain(expected);
  }
});

it("a whole body has the same limit and the same encoding as a stream", async () => {
  const { socket, readText } = await connect(readLikeServer);
  socket.write(formatPost("x".repeat(MAX_BYTES + 1)));
  await expect.poll(readText).toContain("The request body exceeds 100 bytes");
  socket.write(
    Buffer.concat([Buffer.from(formatRawPostHead("/", { "content-length": 1 })), Buffer.of(0xff)]),
  );
  await expect.poll(readText).toContain("not UTF-8");
});

it("a body can be taken once", async () => {
  const { socket, readText } = await connect(async (incoming) => {
    await Promise.resolve();
    if (!(incoming instanceof UnstreamedRequest)) return "other class";
    const first = incoming.takeBody()?.toString();
    const chunks = await incoming.toArray();
    return `${first}, then ${chunks.length} chunks`;
  });
  socket.write(formatPost("one"));
  await expect.poll(readText).toContain("one, then 0 chunks");
});

it("a reply that needs no further event keeps the connection open", async () => {
  const server = createServer(
    agent({ name: "idle", description: "Does nothing" }, async function* () {}),
    { store: "memory", observer: false },
  );
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  const { socket, readText } = await openRawTestSocket(Number(new URL(url).port));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "unknown" } });
  const headers = { "content-length": body.length, "a2a-version": "1.0" };
  const countReplies = (): number => readText().split("HTTP/1.1 200").length - 1;
  for (let replies = 1; replies <= 3; replies++) {
    socket.write(formatRawPostHead("/", headers) + body);
    await expect.poll(countReplies).toBe(replies);
  }
  expect(readText().toLowerCase()).not.toContain("connection: close");
  expect(socket.destroyed).toBe(false);
});
