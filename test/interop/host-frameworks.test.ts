/** Tests our server mounted under a path in real web frameworks, on real sockets. */
import { SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import type { Message as Message0_3 } from "a2a-js-sdk-0.3";
import { ClientFactory as ClientFactory0_3 } from "a2a-js-sdk-0.3/client";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/adapters/index.ts";
import { createBreakingProxy } from "../../src/client/breaking-proxy.fixture.ts";
import { collect, connect } from "../../src/client/index.ts";
import {
  ArtifactContentTracker,
  getText,
  type SendMessageResponse,
  type StreamResponse as OurEvent,
} from "../../src/protocol/index.ts";
import { CliTestProcess, createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";
import { createOpenAiFacade } from "../../src/openai-facade/index.ts";
import { createServer, toNodeListener, type Server } from "../../src/server/index.ts";
import { STREAM_REQUESTS, createUserMessage } from "../support/http-bindings.ts";
import { HOST_FRAMEWORKS, type MountedHost } from "../support/host-frameworks.ts";
import { readSseStream } from "../support/raw-stream.ts";

const LARGE_TEXT = "x".repeat(64 * 1024);

function getAnswerText(result: SendMessageResponse): string {
  if (!("task" in result)) throw new Error("no task");
  expect(result.task.status.state).toBe("TASK_STATE_COMPLETED");
  return (result.task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
}

describe.each(Object.entries(HOST_FRAMEWORKS))("a server inside %s", (_name, mount) => {
  let server: Server;
  let host: MountedHost;
  let goOn = Promise.withResolvers<void>();
  const ended = { count: 0 };

  /**
   * `count` yields 30 numbers. `gate` yields one word, and the next when the test allows it. `flood` yields 4
   * MB. Any other text is echoed.
   */
  const actor = agent({ name: "actor", description: "Does what it is told" }, async function* ({ text }) {
    if (text === "count") for (let at = 1; at <= 30; at++) yield await setImmediate<string>(`${at} `);
    else if (text === "flood") for (let at = 0; at < 64; at++) yield LARGE_TEXT;
    else if (text === "gate") {
      yield "before";
      await goOn.promise;
      yield "after";
      ended.count++;
    } else yield text;
  });

  beforeAll(async () => {
    server = createServer(
      { actor },
      { store: "memory", mergeChunks: false, basePath: "/agents", mountedHandlers: [createOpenAiFacade()] },
    );
    host = await mount(server);
  });
  afterAll(async () => {
    await server.close({ graceMs: 50 });
    await host.close();
  });

  it("serves its cards and its list of agents under the path, with matching URLs", async () => {
    const get = async (path: string): Promise<unknown> => (await fetch(host.origin + path)).json();
    const url = `${host.origin}/agents/a2a/actor`;
    expect(await get("/agents/a2a")).toMatchObject({ agents: [{ id: "actor", url }] });
    for (const card of [
      "/agents/.well-known/agent-card.json",
      "/agents/a2a/actor/.well-known/agent-card.json",
    ])
      expect(await get(card)).toMatchObject({ supportedInterfaces: [{ url }, { url }, { url }, { url }] });
    expect((await fetch(`${host.origin}/elsewhere`)).status).toBe(404);
  });

  it.each([
    ["1.0", "JSONRPC"],
    ["1.0", "HTTP+JSON"],
    ["0.3", "JSONRPC"],
    ["0.3", "HTTP+JSON"],
  ] as const)("answers our client in %s over %s", async (version, binding) => {
    const remote = await connect(`${host.origin}/agents`, { version, binding, allowOlderVersion: true });
    expect(remote.agentInterface.protocolBinding).toBe(binding);
    expect(getAnswerText(await remote.send("grüezi"))).toBe("grüezi");
    const counted = await collect(remote.stream("count"));
    expect(getAnswerText(counted).trim().split(" ")).toHaveLength(30);
  });

  it.each(["1.0", "0.3"] as const)(
    "has streams that our client resumes after cuts, in %s",
    async (version) => {
      let cuts = 0;
      const proxy = await createBreakingProxy(host.origin);
      onTestFinished(() => proxy.close());
      const remote = await connect(`${proxy.url}/agents`, {
        version,
        allowOlderVersion: true,
        reconnect: { sleep: () => Promise.resolve(void cuts++) },
      });
      proxy.breakAfter([1_500, 1_500, 1_500]);
      const counted = await collect(remote.stream("count"));
      expect(getAnswerText(counted)).toBe(Array.from({ length: 30 }, (_, at) => `${at + 1} `).join(""));
      expect(cuts).toBeGreaterThan(0);
    },
  );

  it("answers the official client of 1.0", async () => {
    const client = await new ClientFactory().createFromUrl(`${host.origin}/agents/`);
    expect(client.protocolVersion).toBe("1.0");
    const request = (text: string): SendMessageRequest =>
      SendMessageRequest.fromJSON({ message: createUserMessage(crypto.randomUUID(), text) });
    expect(Task.toJSON((await client.sendMessage(request("hello"))) as Task)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "hello" }] }],
    });
    let counted = "";
    const tracker = new ArtifactContentTracker();
    for await (const event of client.sendMessageStream(request("count"))) {
      const json = StreamResponse.toJSON(event) as OurEvent;
      if ("artifactUpdate" in json) counted += getText(tracker.addUpdate(json.artifactUpdate).parts);
    }
    expect(counted.trim().split(" ")).toHaveLength(30);
  });

  it("answers the official client of 0.3", async () => {
    const client = await new ClientFactory0_3().createFromUrl(`${host.origin}/agents/`);
    const params = (text: string): { message: Message0_3 } => ({
      message: {
        kind: "message",
        messageId: crypto.randomUUID(),
        role: "user",
        parts: [{ kind: "text", text }],
      },
    });
    expect(await client.sendMessage(params("hello"))).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: "hello" }] }],
    });
    let chunks = 0;
    for await (const { kind } of client.sendMessageStream(params("count")))
      if (kind === "artifact-update") chunks++;
    expect(chunks).toBe(30);
  });

  it("sends every chunk immediately", async () => {
    goOn = Promise.withResolvers();
    const { send, event } = STREAM_REQUESTS.JSONRPC;
    const output: string[] = [];
    for await (const { data } of readSseStream(
      send(`${host.origin}/agents/a2a/actor`, createUserMessage(crypto.randomUUID(), "gate")),
    )) {
      const happened = event(data);
      if (!("artifactUpdate" in happened)) continue;
      output.push(getText(happened.artifactUpdate.artifact.parts));
      // The agent yields nothing more before this chunk was read.
      goOn.resolve();
    }
    expect(output).toEqual(["before", "beforeafter"]);
  });

  it("continues a task whose client has disconnected", async () => {
    goOn = Promise.withResolvers();
    const before = ended.count;
    const remote = await connect(`${host.origin}/agents`);
    let taskId = "";
    for await (const event of remote.stream("gate")) {
      if ("task" in event) taskId = event.task.id;
      if ("artifactUpdate" in event) break;
    }
    goOn.resolve();
    expect(getAnswerText(await collect(remote.tasks.subscribe(taskId, { after: 0 })))).toBe("beforeafter");
    expect(ended.count).toBe(before + 1);
  });

  it("waits for a slow reader without losing events", async () => {
    const { send, event } = STREAM_REQUESTS.JSONRPC;
    const tracker = new ArtifactContentTracker();
    let size = 0;
    let frames = 0;
    const request = send(`${host.origin}/agents/a2a/actor`, createUserMessage(crypto.randomUUID(), "flood"));
    for await (const { data } of readSseStream(request)) {
      const happened = event(data);
      if ("artifactUpdate" in happened)
        size += getText(tracker.addUpdate(happened.artifactUpdate).parts).length;
      if (frames++ % 8 === 0) for (let turn = 0; turn < 50; turn++) await setImmediate();
    }
    expect(size).toBe(64 * LARGE_TEXT.length);
  });

  it("serves the OpenAI façade under the path", async () => {
    const response = await fetch(`${host.origin}/agents/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "actor", messages: [{ role: "user", content: "hello" }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "hello" } }] });
  });

  it("rejects a body that is not JSON with an A2A error", async () => {
    const response = await fetch(`${host.origin}/agents/a2a/actor`, {
      method: "POST",
      headers: { "content-type": "text/plain", "a2a-version": "1.0" },
      body: "hello",
    });
    expect(await response.text()).toMatch(/application\/json/);
  });
});

it.each(["Hono", "a route handler"])("%s notifies the server when a reader disconnects", async (name) => {
  const disconnected = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(": here\n\n")),
    cancel: () => disconnected.resolve(),
  });
  const fetching = (): Promise<Response> =>
    Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  const host = await HOST_FRAMEWORKS[name]?.({ fetch: fetching, listener: toNodeListener(fetching) });
  onTestFinished(() => host?.close());
  const leave = new AbortController();
  const { body: read } = await fetch(`${host?.origin}/agents/`, { signal: leave.signal });
  await read?.getReader().read();
  leave.abort();
  expect(await disconnected.promise).toBeUndefined();
});

describe("a server with a base path", () => {
  const actor = agent({ name: "actor", description: "Echoes" }, async function* ({ text }) {
    yield text;
  });

  it.each(["agents", "/agents/", "/", "/a?b", ""])("refuses %j", (basePath) => {
    expect(() => createServer(actor, { basePath })).toThrow(/such as \/agents/);
  });

  it("reports a host that has stripped the path", async () => {
    const server = createServer(actor, { store: "memory", basePath: "/agents" });
    onTestFinished(() => server.close());
    const app = new Hono().mount("/agents", server.fetch);
    const response = await app.request("/agents/.well-known/agent-card.json");
    expect(response.status).toBe(404);
    expect(await response.text()).toMatch(/make the host pass full paths/);
  });

  it("uses its public URL in its cards, if configured", async () => {
    const server = createServer(actor, {
      store: "memory",
      basePath: "/agents",
      publicUrl: "https://example.com/all/agents",
    });
    onTestFinished(() => server.close());
    const response = await server.fetch(new Request("http://127.0.0.1/agents/.well-known/agent-card.json"));
    expect(await response.json()).toMatchObject({
      supportedInterfaces: [{ url: "https://example.com/all/agents/a2a/actor" }, {}, {}, {}],
    });
  });

  it("checks the Host header even if the host writes another name into the URL", async () => {
    const server = createServer(actor, { store: "memory", basePath: "/agents" });
    onTestFinished(() => server.close());
    const card = "http://localhost:3000/agents/.well-known/agent-card.json";
    const response = await server.fetch(new Request(card, { headers: { host: "shop.example:8080" } }));
    expect(await response.json()).toMatchObject({
      supportedInterfaces: [{ url: "http://shop.example:8080/agents/a2a/actor" }, {}, {}, {}],
    });
  });

  it("can also listen without a host", async () => {
    const server = createServer(actor, { store: "memory", basePath: "/agents" });
    onTestFinished(() => server.close());
    const { url, agents } = await server.listen();
    expect(url).toMatch(/:\d+\/agents$/);
    expect(getAnswerText(await (await connect(agents[0]?.url ?? "")).send("hello"))).toBe("hello");
  });

  it("accepts cross-origin requests if its host allows them", async () => {
    const allowedOrigins = ["https://shop.example"];
    const server = createServer(actor, { store: "memory", basePath: "/agents", allowedOrigins });
    onTestFinished(() => server.close());
    const app = new Hono();
    app.use("/agents/*", cors({ origin: allowedOrigins }));
    app.all("/agents/*", (context) => server.fetch(context.req.raw));
    const headers = {
      origin: "https://shop.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,a2a-version,last-event-id",
    };
    const request = await app.request("/agents/a2a/actor", { method: "OPTIONS", headers });
    expect(request.headers.get("access-control-allow-headers")).toBe(
      "content-type,a2a-version,last-event-id",
    );
    const card = await app.request("/agents/.well-known/agent-card.json", { headers });
    expect(card.headers.get("access-control-allow-origin")).toBe("https://shop.example");
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
    const sent = await app.request("/agents/message:send", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "sec-fetch-site": "cross-site" },
      body: JSON.stringify({ message }),
    });
    expect([sent.status, sent.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://shop.example",
    ]);
  });
});

describe("a request body that the host has already read", () => {
  const actor = agent({ name: "actor", description: "Echoes" }, async function* ({ text }) {
    yield text;
  });
  const errors: unknown[] = [];

  /** Starts a host that reads every request body completely and passes on the result of `keep`. */
  async function reading(keep: (bytes: Buffer) => object): Promise<string> {
    const limits = { maxBodyBytes: 1_000 };
    const observer = { onError: ({ error }: { error: unknown }) => void errors.push(error) };
    const server = createServer(actor, { store: "memory", limits, observer });
    const http = createHttpServer((incoming, outgoing) => {
      void incoming
        .toArray()
        .then((chunks: Buffer[]) =>
          server.listener(Object.assign(incoming, keep(Buffer.concat(chunks))), outgoing),
        );
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void http.close());
    onTestFinished(() => server.close());
    await once(http, "listening");
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  it.each([
    ["the bytes, as cloud functions do", (rawBody: Buffer) => ({ rawBody, body: {} })],
    ["the bytes as its body", (body: Buffer) => ({ body })],
    ["the text", (bytes: Buffer) => ({ body: bytes.toString() })],
  ])("is taken from where it was kept: %s", async (_what, keep) => {
    const remote = await connect(await reading(keep));
    expect(getAnswerText(await remote.send("grüezi"))).toBe("grüezi");
    await expect(remote.send("x".repeat(1_000))).rejects.toThrow(/exceeds 1,000 bytes/);
  });

  it("that is lost is reported to the server's observer", async () => {
    const remote = await connect(await reading(() => ({})));
    await expect(remote.send("hello")).rejects.toThrow(/its log has the cause/);
    expect(errors).toMatchObject([{ message: expect.stringContaining("before body parsers") as string }]);
  });
});

describe("the examples of hosts", () => {
  const example = (file: string): string =>
    fileURLToPath(new URL(`../../examples/hosts/${file}`, import.meta.url));

  /** Returns the app's answers under the path of its agents and elsewhere. */
  async function visit(app: CliTestProcess): Promise<{ said: string; elsewhere: number }> {
    const url = (await app.waitForOutput("/agents\n")).trim();
    const output = getAnswerText(await collect((await connect(url)).stream("Ada")));
    return { said: output, elsewhere: (await fetch(new URL("/elsewhere", url))).status };
  }
  const visited = { said: expect.stringMatching(/^Hello, Ada!/) as string, elsewhere: 404 };

  it.each(["hono.ts", "express.ts", "fastify.ts"])("%s serves agents below a path", async (file) => {
    const app = new CliTestProcess(
      process.execPath,
      [example(file)],
      await createTempTestDirectoryWithFiles({}),
      {
        PORT: "0",
      },
    );
    onTestFinished(() => void app.child.kill("SIGKILL"));
    expect(await visit(app)).toEqual(visited);
  });

  it("next-route.ts serves agents below a path", async () => {
    // Like Next.js, calls the route handler with requests and nothing else.
    const route = JSON.stringify(example("next-route.ts"));
    const served = `
      import { createServer } from "node:http";
      import { toNodeListener } from "colloquy";
      const route = await import(${route});
      const answer = async (request) =>
        route[request.method]?.(request, { params: Promise.resolve({}) }) ?? new Response(null, { status: 405 });
      const http = createServer(toNodeListener(answer)).listen(0, "127.0.0.1", () =>
        console.log("http://127.0.0.1:" + http.address().port + "/agents"));`;
    const folder = await createTempTestDirectoryWithFiles({ "served.mjs": served });
    const app = new CliTestProcess(process.execPath, ["served.mjs"], folder);
    onTestFinished(() => void app.child.kill("SIGKILL"));
    expect(await visit(app)).toEqual(visited);
  });
});
