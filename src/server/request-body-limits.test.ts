import { request as httpRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { bearer } from "./auth/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { formatRawPostHead, hasLoopbackAliases, openRawTestSocket } from "./raw-socket.fixture.ts";
import { messageCommandTestAgent, buildTestMessage } from "./server.fixture.ts";

/** Paths of JSON-RPC, HTTP+JSON, and A2A 0.3. */
const PATHS = ["/", "/message:send", "/v1/message:send"];
const V1 = { "a2a-version": "1.0" };
const MIB = 2 ** 20;

const openServers: Server[] = [];
afterEach(async () => {
  await Promise.all(openServers.splice(0).map((server) => server.close({ graceMs: 10 })));
});

async function startServer(
  options: ServerOptions = {},
): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(messageCommandTestAgent, { store: "memory", ...options });
  openServers.push(server);
  const { url, port } = await server.listen();
  return { url, port, server };
}

/** Runs a check on all paths at the same time, because the server waits two seconds before it closes a connection. */
async function checkPaths(
  options: ServerOptions,
  check: (connection: Awaited<ReturnType<typeof openRawTestSocket>>, path: string) => Promise<unknown>,
): Promise<void> {
  const { port } = await startServer(options);
  await Promise.all(
    PATHS.map(async (path) => {
      const connection = await openRawTestSocket(port);
      await check(connection, path);
      await connection.closed;
    }),
  );
}

describe("a request body over JSON-RPC, HTTP+JSON, and A2A 0.3", () => {
  it("that is too large according to Content-Length receives 413 before the client has sent it", async () => {
    await checkPaths({}, async ({ socket, readText }, path) => {
      socket.write(formatRawPostHead(path, { ...V1, "content-length": 2 ** 40 }) + "{");
      await expect.poll(readText).toMatch(/^HTTP\/1\.1 413 [^]*connection: close[^]*10,485,760 bytes/i);
    });
  });

  it("in chunks is cut at the limit, although the client never ends it [SEC-09]", async () => {
    await checkPaths({ limits: { maxBodyBytes: MIB } }, async ({ socket, readText }, path) => {
      socket.write(formatRawPostHead(path, { ...V1, "transfer-encoding": "chunked" }));
      for (let sent = 0; sent <= MIB; sent += 65_536) socket.write(`10000\r\n${"x".repeat(65_536)}\r\n`);
      await expect.poll(readText).toMatch(/^HTTP\/1\.1 413 /);
    });
  });

  it("of a client without valid credentials receives 401 before 413, and is not read [SEC-07]", async () => {
    const authenticate = bearer({ tokens: { "token-of-ada-0123456789abcdef": "ada" } });
    await checkPaths({ authenticate }, async ({ socket, readText }, path) => {
      socket.write(formatRawPostHead(path, { ...V1, "content-length": 2 ** 40 }) + "{");
      await expect.poll(readText).toMatch(/^HTTP\/1\.1 401 [^]*connection: close/i);
    });
  });
});

describe("the reply to an oversized body", () => {
  it("reaches a client that sends the whole body before it reads", async () => {
    const { port } = await startServer({ limits: { maxBodyBytes: MIB } });
    const { socket, readText, closed } = await openRawTestSocket(port, { isPaused: true });
    const body = Buffer.alloc(8 * MIB, "x");
    socket.write(formatRawPostHead("/", { ...V1, "content-length": body.length }));
    await new Promise((resolve) => socket.write(body, resolve));
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await closed;
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(readText()).toBe("");
  });

  it("precedes 100 Continue, so that the client never sends the body", async () => {
    const { port } = await startServer();
    const sent = httpRequest({
      port,
      method: "POST",
      headers: {
        ...V1,
        "content-type": "application/json",
        expect: "100-continue",
        "content-length": 2 ** 40,
      },
    });
    sent.on("error", () => {});
    sent.on("continue", () => expect.unreachable());
    sent.flushHeaders();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    sent.destroy();
  });
});

describe("bodies that are never finished", () => {
  it.skipIf(!hasLoopbackAliases)(
    "take at most the share of their remote address, and another address is served [SEC-08]",
    async () => {
      const { port } = await startServer({ limits: { bufferedBytes: 10 * MIB } });
      const part = Buffer.alloc(MIB, "x");
      const sendPart = async (localAddress: string): Promise<() => string> => {
        const { socket, readText } = await openRawTestSocket(port, { localAddress });
        onTestFinished(() => void socket.destroy());
        socket.write(formatRawPostHead("/", { ...V1, "content-length": 8 * MIB }));
        await new Promise((resolve) => socket.write(part, resolve));
        return readText;
      };
      const replies: (() => string)[] = [];
      while (!replies.some((readText) => readText().startsWith("HTTP/1.1 429 "))) {
        replies.push(await sendPart("127.0.0.2"));
        // A busy machine sends the reply late. The server refuses these later bodies as well.
        expect(replies.length).toBeLessThan(100);
        await delay(50);
      }
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: buildTestMessage(`echo ${"y".repeat(500_000)}`) },
      });
      const { socket, readText } = await openRawTestSocket(port);
      socket.write(formatRawPostHead("/", { ...V1, "content-length": body.length }) + body);
      await expect.poll(readText).toMatch(/^HTTP\/1\.1 200 /);
      socket.destroy();
    },
  );

  it("free their bytes when the client disconnects", async () => {
    const { port, url } = await startServer({ limits: { bufferedBytes: 10 * MIB } });
    const { socket } = await openRawTestSocket(port);
    socket.write(formatRawPostHead("/", { ...V1, "content-length": 8 * MIB }));
    await new Promise((resolve) => socket.write(Buffer.alloc(1.5 * MIB, "x"), resolve));
    // The body is larger than one read of a socket, so its first part is already counted when the rest arrives.
    const send = async (): Promise<number> =>
      (
        await fetch(url, {
          method: "POST",
          headers: { ...V1, "content-type": "application/json" },
          body: "x".repeat(700_000),
        })
      ).status;
    await expect.poll(send).toBe(429);
    socket.destroy();
    await expect.poll(send).toBe(200);
  });
});
