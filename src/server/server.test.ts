import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createServer } from "./index.ts";
import { defineServerContract } from "./server.contract.ts";
import { parrot, type TestEndpoint } from "./server.fixture.ts";

defineServerContract("fetch", async (agents, options) => {
  const server = createServer(agents, options);
  const url = "http://agents.test";
  const door: TestEndpoint = {
    url,
    send: (path, init) => server.fetch(new Request(url + path, init)),
    close: () => server.close({ graceMs: 50 }),
  };
  return Promise.resolve({ endpoint: door, server });
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
  it("does not listen where others reach it without authentication", async () => {
    const server = createServer(parrot, { store: "memory" });
    await expect(server.listen({ host: "0.0.0.0" })).rejects.toThrow(/allowUnauthenticated: true/);
    await server.close();
    const open = createServer(parrot, { store: "memory", allowUnauthenticated: true });
    expect((await open.listen({ host: "0.0.0.0" })).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await open.close();
  });

  it("waits for no connection on which nothing was ever asked, as browsers open them in advance", async () => {
    const server = createServer(parrot, { store: "memory" });
    const { port } = await server.listen();
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    // Accepted behind it, so that the server knows of both.
    await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`).then((answer) => answer.text());
    const hungUp = once(socket, "close");
    await server.close({ graceMs: 60_000 });
    expect(await hungUp).toEqual([false]);
  });

  it("does not answer on loopback under a foreign name", async () => {
    const server = createServer(parrot, { store: "memory", publicUrl: "https://agents.example.com" });
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

  it("says in its card where it is published, and nothing of where it runs [A-03, A-09]", async () => {
    const server = createServer(parrot, { store: "memory", publicUrl: "https://agents.example.com/all/" });
    const { agents, port } = await server.listen();
    expect(agents).toEqual([
      {
        id: "agent",
        url: "https://agents.example.com/all/a2a/agent",
        cardUrl: "https://agents.example.com/all/a2a/agent/.well-known/agent-card.json",
      },
    ]);
    const card = (await (await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`)).json()) as {
      supportedInterfaces: { url: string }[];
    };
    expect(card.supportedInterfaces[0]?.url).toBe("https://agents.example.com/all/a2a/agent");
    expect(JSON.stringify(card)).not.toMatch(/127\.0\.0\.1|localhost/);
    await server.close();
  });

  it("keeps a silent stream alive with comments [E4, G-05]", async () => {
    const server = createServer(parrot, { store: "memory", heartbeatMs: 40 });
    const { url } = await server.listen();
    const response = await fetch(`${url}/message:stream`, {
      method: "POST",
      headers: V1_JSON_HEADERS,
      body: buildMessageBody("wait"),
    });
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.split(": keep-alive\n\n").length > 3) break;
    }
    expect(text).toContain("TASK_STATE_WORKING");
    await server.close({ graceMs: 50 });
  });

  it("holds a bounded amount for a client that does not read [E5, G-06]", async () => {
    const server = createServer(parrot, { store: "memory", mergeChunks: false });
    const { port, url } = await server.listen();
    // A socket that is never read: the kernel's buffers fill, then the server must stop writing, not buffer.
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
    // The task went on without its reader; now the reader takes everything that it has not seen.
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

  it("tells the truth when its store can not be opened, and tries again", async () => {
    const server = createServer(parrot, { store: "sqlite:/dev/null/nowhere.db" });
    const response = await server.fetch(new Request("http://agents.test/a2a"));
    expect(response.status).toBe(503);
    await expect(server.listen()).rejects.toThrow();
    await server.close();
  });
});

describe("an agent that describes itself wrongly", () => {
  const skill = { id: "s", name: "S", description: "d", tags: [] };
  const wrong = { name: "twice", description: "", skills: [skill, skill], iconUrl: "icon.png" };
  const words =
    /The agent "twice" has an invalid description: iconUrl must be .*; skills\[1\]\.id "s" is used more than once\./;

  it("is not listened for [A-11]", async () => {
    const server = createServer({ ...parrot, describe: () => wrong }, { store: "memory" });
    await expect(server.listen()).rejects.toThrow(words);
    await server.close();
  });

  it("is found out as soon as it does, when that takes its time, and may do better next time", async () => {
    let described: { name: string; description: string } = wrong;
    const told: unknown[] = [];
    const server = createServer(
      { ...parrot, describe: () => Promise.resolve(described) },
      { store: "memory", observer: { onError: ({ error }) => void told.push(error) } },
    );
    const { url } = await server.listen();
    const card = (): Promise<Response> => fetch(`${url}/.well-known/agent-card.json`);
    expect((await card()).status).toBe(500);
    expect(told.map(String)).toEqual([expect.stringMatching(words)]);
    described = { name: "once", description: "" };
    expect(await (await card()).json()).toMatchObject({ name: "once" });
    await server.close();
  });
});

describe("what is no agent", () => {
  it.each([
    ["nothing", undefined, "There is no agent to serve"],
    ["a generator that nothing was made of", async function* () {}, "There is no agent to serve"],
    ["an agent of another kind", { name: "weather", runAsync() {} }, '"name" is no agent; make one with'],
    ["a name for nothing", { weather: undefined }, '"weather" is no agent; make one with'],
  ])("is refused before anything is opened: %s", (_, agents, message) => {
    expect(() => createServer(agents as never)).toThrow(message);
  });
});
