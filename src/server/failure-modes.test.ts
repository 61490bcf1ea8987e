import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { connect as connectSocket, type Socket } from "node:net";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, Observer } from "../engine/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";

const V1_JSON_HEADERS = { "a2a-version": "1.0", "content-type": "application/json" };
const buildMessageBody = (): string =>
  JSON.stringify({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "x" }] } });
const formatRawPost = (path: string, text: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n` +
  `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

/** An agent whose events the test releases. It responds with a message or a task. */
class SteppedAgent implements Agent {
  readonly respondsWith = "either";
  startedRuns = 0;
  #pendingSteps: (() => void)[] = [];
  releaseSteps(): void {
    for (const resolve of this.#pendingSteps.splice(0)) resolve();
  }
  describe(): { name: string; description: string } {
    return { name: "slow", description: "Thinks before it speaks." };
  }
  async *execute(): AsyncGenerator<AgentEvent> {
    this.startedRuns++;
    await new Promise<void>((resolve) => this.#pendingSteps.push(resolve));
    yield { status: { state: "TASK_STATE_WORKING" } };
    await new Promise<void>((resolve) => this.#pendingSteps.push(resolve));
  }
}

const openServers: Server[] = [];
afterEach(async () => {
  await Promise.all(openServers.splice(0).map((server) => server.close({ graceMs: 10 })));
});

async function startServer(
  agent: Agent,
  options: ServerOptions = {},
): Promise<{ url: string; port: number }> {
  const server = createServer(agent, { store: "memory", ...options });
  openServers.push(server);
  return await server.listen();
}

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

async function openRawSocket(port: number, text: string): Promise<Socket> {
  const socket = connectSocket(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(text);
  return socket;
}

/** Returns true when the server accepts `count` more streams. */
async function hasStreamCapacity(url: string, count = 1): Promise<boolean> {
  const { tasks } = (await (await fetch(`${url}/tasks`, { headers: V1_JSON_HEADERS })).json()) as {
    tasks: { id: string }[];
  };
  const streams = await Promise.all(
    Array.from({ length: count }, () =>
      fetch(`${url}/tasks/${tasks[0]?.id}:subscribe`, { method: "POST", headers: V1_JSON_HEADERS }),
    ),
  );
  await Promise.all(streams.map(async ({ body }) => await body?.cancel()));
  return streams.every(({ status }) => status === 200);
}

describe("a client that disconnects", () => {
  it("before its stream starts keeps no stream open [E2, E14]", async () => {
    const agent = new SteppedAgent();
    const { url, port } = await startServer(agent, { limits: { streams: 1 } });
    const socket = await openRawSocket(port, formatRawPost("/message:stream", buildMessageBody()));
    await waitUntil(() => agent.startedRuns === 1);
    socket.destroy();
    await delay(20);
    agent.releaseSteps();
    await expect.poll(() => hasStreamCapacity(url)).toBe(true);
  });

  it("while its stream waits for another response keeps none open [E2, E14]", async () => {
    const agent = new SteppedAgent();
    const { url, port } = await startServer(agent, { limits: { streams: 4 } });
    // A single caller can open half of the streams.
    const socket = await openRawSocket(
      port,
      formatRawPost("/message:stream", buildMessageBody()) +
        formatRawPost("/message:stream", buildMessageBody()),
    );
    await waitUntil(() => agent.startedRuns === 2);
    agent.releaseSteps();
    await delay(20);
    expect(await hasStreamCapacity(url)).toBe(false);
    socket.destroy();
    await expect.poll(() => hasStreamCapacity(url, 2)).toBe(true);
  });

  it("during its body causes no server error", async () => {
    const errors: unknown[] = [];
    const observer: Observer = { onError: ({ error }) => errors.push(error) };
    const { url, port } = await startServer(new SteppedAgent(), { observer });
    const socket = await openRawSocket(port, formatRawPost("/message:send", buildMessageBody()).slice(0, -5));
    await delay(20);
    socket.destroy();
    await delay(20);
    expect((await fetch(`${url}/a2a`)).status).toBe(200);
    expect(errors).toEqual([]);
  });
});

describe("a request", () => {
  it("with a body that was already read returns an error", async () => {
    const server = createServer(new SteppedAgent(), { store: "memory" });
    openServers.push(server);
    const http = createHttpServer((incoming, outgoing) => {
      incoming.resume().on("end", () => setImmediate(() => server.listener(incoming, outgoing)));
    }).listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as { port: number };
    const options = {
      port,
      method: "POST",
      path: "/message:send",
      headers: V1_JSON_HEADERS,
      timeout: 20_000,
    };
    const status = await new Promise((resolve) => {
      const sent = httpRequest(options, (response) => resolve(response.resume().statusCode));
      sent.on("timeout", () => resolve("nothing")).on("error", () => {});
      sent.end(buildMessageBody());
    });
    http.closeAllConnections();
    http.close();
    expect(status).toBe(500);
  });

  it("with Expect: 100-continue can send its body [E14]", async () => {
    const { port } = await startServer(new SteppedAgent());
    const headers = { ...V1_JSON_HEADERS, expect: "100-continue" };
    const sent = httpRequest({ port, method: "POST", path: "/tasks/none:cancel", headers });
    sent.flushHeaders();
    await once(sent, "continue");
    sent.end("{}");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(404);
  });
});

describe("a reply", () => {
  it("with status 304 has no content length [A-21]", async () => {
    const { port } = await startServer(new SteppedAgent());
    const path = "/.well-known/agent-card.json";
    const sent = httpRequest({ port, path, headers: { "if-none-match": "*" } }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(304);
    expect(response.headers).not.toHaveProperty("content-length");
  });
});

describe("a stream that fails", () => {
  it("reports the error to the observer, not to the client", async () => {
    const errors: unknown[] = [];
    const observer: Observer = { onError: ({ where, error }) => errors.push([where, String(error)]) };
    let looks = 0;
    const data = {
      toJSON: () => {
        // The engine and the store serialize the event first, and then the stream converts the event to A2A 0.3.
        if (looks++ > 1) throw new Error("secret");
        return "x";
      },
    } as unknown as string;
    const agent: Agent = {
      describe: () => ({ name: "moody", description: "Changes its mind." }),
      async *execute() {
        yield { artifact: { artifactId: "a", parts: [{ data }] } };
      },
    };
    const { url } = await startServer(agent, { observer });
    const message = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] };
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/stream", params: { message } }),
    });
    const text = await response.text();
    expect(text).toContain("its log has the cause");
    expect(text).not.toContain("secret");
    expect(errors).toEqual([["stream", "Error: secret"]]);
  });
});

describe("closing", () => {
  it("completes although nothing else keeps the process alive [E15]", async () => {
    const script = `
      import { createServer } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
      const deaf = {
        describe: () => ({ name: "deaf", description: "Never ends." }),
        async *execute() { await new Promise(() => {}); },
      };
      const server = createServer(deaf, { store: "memory" });
      const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] };
      await server.fetch(new Request("http://agents.test/message:send", {
        method: "POST",
        headers: { "a2a-version": "1.0", "content-type": "application/json" },
        body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
      }));
      await server.close({ graceMs: 50 });
      console.log("closed");`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    expect(stdout).toBe("closed\n");
  });

  it("can be called twice", async () => {
    const server = createServer(new SteppedAgent(), { store: "memory" });
    await server.listen();
    await expect(Promise.all([server.close(), server.close()])).resolves.toBeDefined();
    await expect(server.close()).resolves.toBeUndefined();
  });
});
