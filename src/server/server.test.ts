import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createServer } from "./index.ts";
import { defineServerContract } from "./server.contract.ts";
import { messageCommandTestAgent, type TestEndpoint } from "./server.fixture.ts";

defineServerContract("fetch", async (agents, options) => {
  const server = createServer(agents, options);
  const url = "http://agents.test";
  const endpoint: TestEndpoint = {
    url,
    send: (path, init) => server.fetch(new Request(url + path, init)),
    close: () => server.close({ graceMs: 50 }),
  };
  return Promise.resolve({ endpoint, server });
});

defineServerContract("a Node listener", async (agents, options) => {
  const server = createServer(agents, options);
  const http = createHttpServer(server.listener);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 50 });
    http.closeAllConnections();
    http.close();
  };
  return { endpoint: { url, send: (path, init) => fetch(url + path, init), close }, server };
});

defineServerContract("listen", async (agents, options) => {
  const server = createServer(agents, options);
  const { url } = await server.listen();
  const close = (): Promise<void> => server.close({ graceMs: 50 });
  return { endpoint: { url, send: (path, init) => fetch(url + path, init), close }, server };
});

const V1_JSON_HEADERS = { "a2a-version": "1.0", "content-type": "application/json" };
const buildMessageBody = (text: string): string =>
  JSON.stringify({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] } });

describe("a listening server", () => {
  it("does not listen beyond loopback without authentication [SEC-01]", async () => {
    const server = createServer(messageCommandTestAgent, { store: "memory" });
    await expect(server.listen({ host: "0.0.0.0" })).rejects.toThrow(/allowUnauthenticated: true/);
    await server.close();
    const open = createServer(messageCommandTestAgent, { store: "memory", allowUnauthenticated: true });
    expect((await open.listen({ host: "0.0.0.0" })).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await open.close();
  });

  it("closes without waiting for connections without a request, which browsers open in advance", async () => {
    const server = createServer(messageCommandTestAgent, { store: "memory" });
    const { port } = await server.listen();
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    // This connection is accepted after the idle one, so the server knows both.
    await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`).then((answer) => answer.text());
    await expect(server.close({ graceMs: 60_000 })).resolves.toBeUndefined();
    // On Linux, Bun does not accept a connection before its first byte, so that it cannot close the connection either.
    if (!("Bun" in globalThis) && !socket.closed) await once(socket, "close");
    socket.destroy();
  });

  it("rejects a foreign Host header on loopback [SEC-47]", async () => {
    const server = createServer(messageCommandTestAgent, {
      store: "memory",
      publicUrl: "https://agents.example.com",
    });
    const { port } = await server.listen();
    const status = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = httpRequest({ port, host: "127.0.0.1", path: "/a2a", headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on("error", reject).end();
      });
    expect(await status(`localhost:${port}`)).toBe(200);
    expect(await status("agents.example.com")).toBe(200);
    expect(await status("evil.example.com")).toBe(403);
    await server.close();
  });

  it("has only its public URL in the card [A-03, A-09]", async () => {
    const server = createServer(messageCommandTestAgent, {
      store: "memory",
      publicUrl: "https://agents.example.com/all/",
    });
    const { agents, port } = await server.listen();
    expect(agents).toEqual([
      {
        id: "parrot",
        url: "https://agents.example.com/all/a2a/parrot",
        cardUrl: "https://agents.example.com/all/a2a/parrot/.well-known/agent-card.json",
      },
    ]);
    const card = (await (await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)).json()) as {
      supportedInterfaces: { url: string }[];
    };
    expect(card.supportedInterfaces[0]?.url).toBe("https://agents.example.com/all/a2a/parrot");
    expect(JSON.stringify(card)).not.toMatch(/127\.0\.0\.1|localhost/);
    await server.close();
  });

  it.each([
    ["a steady wall clock", 0],
    ["a wall clock that is set back an hour", -3_600_000],
    ["a wall clock that is set forward a day", 86_400_000],
  ])("sends comments on an idle stream with %s [E4, G-05]", async (_, clockChangeMs) => {
    const server = createServer(messageCommandTestAgent, { store: "memory", heartbeatMs: 40 });
    const { url } = await server.listen();
    const wallNow = Date.now.bind(Date);
    onTestFinished(() => void vi.restoreAllMocks());
    const response = await fetch(`${url}/message:stream`, {
      method: "POST",
      headers: V1_JSON_HEADERS,
      body: buildMessageBody("wait"),
    });
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      vi.spyOn(Date, "now").mockImplementation(() => wallNow() + clockChangeMs);
      if (text.split(": keep-alive\n\n").length > 3) break;
    }
    expect(text).toContain("TASK_STATE_WORKING");
    await server.close({ graceMs: 50 });
  });

  it("buffers a bounded amount for a client that does not read [E5, G-06]", async () => {
    const server = createServer(messageCommandTestAgent, { store: "memory", mergeChunks: false });
    const { port, url } = await server.listen();
    // Nothing reads this socket. When the kernel's buffers are full, the server must stop writing instead of
    // buffering.
    const stalled = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest(
        { port, method: "POST", path: "/message:stream", headers: V1_JSON_HEADERS },
        resolve,
      );
      sent.on("error", reject).end(buildMessageBody("chunks 40000"));
    });
    stalled.pause();
    const [first] = (
      (await (await fetch(`${url}/tasks`, { headers: V1_JSON_HEADERS })).json()) as {
        tasks: { id: string }[];
      }
    ).tasks;
    const state = async (): Promise<string> =>
      (
        (await (await fetch(`${url}/tasks/${first?.id}`, { headers: V1_JSON_HEADERS })).json()) as {
          status: { state: string };
        }
      ).status.state;
    while ((await state()) !== "TASK_STATE_COMPLETED") await delay(20);
    // The task has continued without its reader. The reader now receives all events that it missed.
    let ids = 0;
    let rest = "";
    for await (const bytes of stalled) {
      const lines = (rest + String(bytes)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("id: ")) expect(Number(line.slice(4))).toBe(++ids);
    }
    expect(ids).toBe(40_003);
    await server.close();
  });

  it("returns UNAVAILABLE when its store cannot be opened, and tries again", async () => {
    const server = createServer(messageCommandTestAgent, { store: "sqlite:package.json/nowhere.db" });
    const response = await server.fetch(new Request("http://agents.test/a2a"));
    expect(response.status).toBe(503);
    await expect(server.listen()).rejects.toThrow();
    await server.close();
  });
});

describe("an agent with an invalid description", () => {
  const skill = { id: "s", name: "S", description: "d", tags: [] };
  const wrong = { name: "twice", description: "", skills: [skill, skill], iconUrl: "icon.png" };
  const words =
    /The agent "twice" has an invalid description: iconUrl must be .*; skills\[1\]\.id "s" is used more than once\./;

  it("prevents the server from listening [A-11]", async () => {
    const server = createServer({ ...messageCommandTestAgent, describe: () => wrong }, { store: "memory" });
    await expect(server.listen()).rejects.toThrow(words);
    await server.close();
  });

  it("fails the request when an asynchronous description is invalid, and is loaded again", async () => {
    let described: { name: string; description: string } = wrong;
    const reportedErrors: unknown[] = [];
    const server = createServer(
      { ...messageCommandTestAgent, describe: () => Promise.resolve(described) },
      { store: "memory", observer: { onError: ({ error }) => void reportedErrors.push(error) } },
    );
    const { url } = await server.listen();
    const card = (): Promise<Response> => fetch(`${url}/.well-known/agent-card.json`);
    expect((await card()).status).toBe(500);
    expect(reportedErrors.map(String)).toEqual([expect.stringMatching(words)]);
    described = { name: "once", description: "" };
    expect(await (await card()).json()).toMatchObject({ name: "once" });
    await server.close();
  });
});

describe("a value that is not an agent", () => {
  it.each([
    ["nothing", undefined, "createServer was called without an agent"],
    ["a generator function", async function* () {}, "The argument of createServer is a function"],
    ["an ADK agent", { name: "weather", runAsync() {} }, "The argument of createServer is an ADK agent"],
    ["an undefined agent", { weather: undefined }, 'The value of "weather" in createServer is not an agent'],
    [
      "an agent with an unknown value",
      { weather: { ...messageCommandTestAgent, afterRestart: "retry" } },
      `"afterRestart" of the agent "weather" is "retry"; use one of "fail", "restart", "resume".`,
    ],
  ])("is rejected before the store is opened: %s", (_, agents, message) => {
    expect(() => createServer(agents as never)).toThrow(message);
  });
});
