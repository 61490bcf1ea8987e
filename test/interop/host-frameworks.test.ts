/** Tests our server mounted under a path in real web frameworks, on real sockets. */
import { Hono } from "hono";
import { cors } from "hono/cors";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import { collect, connect } from "../../src/client/index.ts";
import { CliTestProcess, createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";
import { createServer, toNodeListener } from "../../src/server/index.ts";
import { HOST_FRAMEWORKS } from "../support/host-frameworks.ts";
import { defineHostFrameworkContract, getCompletedAnswerText } from "./host-framework.contract.ts";

for (const [name, mount] of Object.entries(HOST_FRAMEWORKS)) defineHostFrameworkContract(name, mount);

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
    expect(getCompletedAnswerText(await (await connect(agents[0]?.url ?? "")).send("hello"))).toBe("hello");
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
      headers: {
        ...headers,
        "a2a-version": "1.0",
        "content-type": "application/json",
        "sec-fetch-site": "cross-site",
      },
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
    expect(getCompletedAnswerText(await remote.send("grüezi"))).toBe("grüezi");
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
    const output = getCompletedAnswerText(await collect((await connect(url)).stream("Ada")));
    return { said: output, elsewhere: (await fetch(new URL("/elsewhere", url))).status };
  }
  const visited = { said: expect.stringMatching(/^Hello, Ada!/) as string, elsewhere: 404 };

  it.each(["hono.ts", "express.ts"])("%s serves agents below a path", async (file) => {
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
