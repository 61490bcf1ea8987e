import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createOpenAiFacade } from "../agents/openai-facade/index.ts";
import type { Task } from "../protocol/index.ts";
import { createServer, type ServerOptions } from "./index.ts";
import { buildTestMessage, messageCommandTestAgent, V1_JSON_TEST_HEADERS } from "./server.fixture.ts";

interface ListeningTestServer {
  readonly url: string;
  readonly port: number;
}

async function listen(options: ServerOptions = {}): Promise<ListeningTestServer> {
  const server = createServer(messageCommandTestAgent, { store: "memory", observer: false, ...options });
  onTestFinished(() => server.close({ graceMs: 50 }));
  const { url, port } = await server.listen();
  return { url, port };
}

/** Sends the lines of a request as they are, and returns the response. */
async function sendRawRequest(port: number, ...lines: string[]): Promise<{ status: number; raw: string }> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.end([...lines, "connection: close", "", ""].join("\r\n"));
  const raw = await text(socket);
  return { status: Number(raw.split(" ")[1]), raw };
}

describe("the host of a request", () => {
  it("must be a plain host and port: user information does not pass as loopback [SEC-48]", async () => {
    const { port } = await listen();
    for (const [host, status] of [
      ["evil@localhost", 400],
      [`localhost:${port}@evil.example`, 400],
      ["localhost:99999", 400],
      ["evil.example", 403],
      ["localhost.evil.example", 403],
      ["2130706433", 403],
      ["localhost", 200],
      ["LOCALHOST.", 200],
      [`[::1]:${port}`, 200],
      ["agents.localhost", 200],
    ] as const)
      expect([host, (await sendRawRequest(port, "GET /a2a HTTP/1.1", `host: ${host}`)).status]).toEqual([
        host,
        status,
      ]);
  });

  it("must be sent exactly once in HTTP/1.1", async () => {
    const { port } = await listen();
    expect((await sendRawRequest(port, "GET /a2a HTTP/1.1")).status).toBe(400);
    const twice = ["host: localhost", "host: evil.example"];
    expect((await sendRawRequest(port, "GET /a2a HTTP/1.1", ...twice)).status).toBe(400);
    expect((await sendRawRequest(port, "GET /a2a HTTP/1.0")).status).toBe(403);
  });

  it("must be valid also on a server that any host name may reach", async () => {
    const server = createServer(messageCommandTestAgent, { store: "memory", observer: false });
    onTestFinished(() => server.close());
    const getStatus = async (host: string): Promise<number> =>
      (await server.fetch(new Request("http://agents.test/a2a", { headers: { host } }))).status;
    expect([await getStatus("agents.example"), await getStatus("evil@agents.example")]).toEqual([200, 400]);
  });

  it("comes from a request target in absolute form, and not from the Host header", async () => {
    const { port } = await listen();
    const send = (target: string, host: string): Promise<{ status: number; raw: string }> =>
      sendRawRequest(port, `GET ${target} HTTP/1.1`, `host: ${host}`);
    const card = await send(`http://127.0.0.1:${port}/.well-known/agent-card.json?a=b`, "ignored.example");
    expect(card.status).toBe(200);
    expect(card.raw).toContain(`"url":"http://127.0.0.1:${port}/a2a/parrot"`);
    expect((await send("http://evil.example/a2a", "localhost")).status).toBe(403);
    expect((await send("http://evil@localhost/a2a", "localhost")).status).toBe(400);
    expect((await send("HTTP://localhost?a=b", "localhost")).status).toBe(405);
  });

  it("may be that of the whole server, in OPTIONS *", async () => {
    const { port } = await listen();
    const { status, raw } = await sendRawRequest(port, "OPTIONS * HTTP/1.1", "host: localhost");
    expect([status, /^allow: (.*)$/im.exec(raw)?.[1]]).toEqual([200, "GET, HEAD, POST, DELETE, OPTIONS"]);
    expect((await sendRawRequest(port, "OPTIONS * HTTP/1.1", "host: evil.example")).status).toBe(403);
  });
});

const CROSS_SITE_HEADERS = [
  { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  { "sec-fetch-site": "same-site", origin: "http://localhost:3000" },
  { "sec-fetch-site": "cross-site" },
  { origin: "https://evil.example" },
  { origin: "null" },
] satisfies Record<string, string>[];

describe("a request of a browser", () => {
  it("for a web page of another origin cannot cancel a task", async () => {
    const { url } = await listen();
    const sent = await fetch(`${url}/message:send`, {
      method: "POST",
      headers: V1_JSON_TEST_HEADERS,
      body: JSON.stringify({ message: buildTestMessage("wait"), configuration: { returnImmediately: true } }),
    });
    const { task } = (await sent.json()) as { task: Task };
    const cancel = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/tasks/${task.id}:cancel?A2A-Version=1.0`, { method: "POST", headers });
    for (const headers of CROSS_SITE_HEADERS) {
      const refused = await cancel(headers);
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining("allowedOrigins"),
      ]);
    }
    expect((await cancel({ "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  it.each(CROSS_SITE_HEADERS)(
    "for a web page of another origin is refused by every binding, version, and mounted handler: %j [SEC-49]",
    async (headers) => {
      const { url } = await listen({ mountedHandlers: [createOpenAiFacade({ observer: false })] });
      const requests: [path: string, method: string, body?: object][] = [
        ["/", "POST", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} }],
        ["/", "POST", { jsonrpc: "2.0", id: 1, method: "message/send", params: {} }],
        ["/", "POST", { jsonrpc: "2.0", id: 1, method: "create_task", params: {} }],
        ["/message:send", "POST", {}],
        ["/v1/message:send", "POST", {}],
        ["/tasks/t/pushNotificationConfigs/c", "DELETE"],
        ["/v1/chat/completions", "POST", { model: "parrot", messages: [] }],
      ];
      for (const [path, method, body] of requests) {
        const send = async (extra: Record<string, string>): Promise<number> => {
          const response = await fetch(url + path, {
            method,
            headers: { "content-type": "application/json", ...extra },
            ...(body ? { body: JSON.stringify(body) } : {}),
          });
          await response.text();
          return response.status;
        };
        expect([path, await send(headers)]).toEqual([path, 403]);
        expect([path, await send({ "sec-fetch-site": "none" })]).not.toEqual([path, 403]);
      }
      expect((await fetch(`${url}/a2a`, { headers })).status).toBe(200);
    },
  );

  it("is accepted from the origins of the server, of publicUrl, and of allowedOrigins", async () => {
    const send = async (options: ServerOptions, headers: Record<string, string>): Promise<number> => {
      const { port } = await listen(options);
      const own = `127.0.0.1:${port}`;
      const body = JSON.stringify({ message: buildTestMessage("echo hi") });
      const all = { ...V1_JSON_TEST_HEADERS, ...headers };
      if (all["origin"] === "own") all["origin"] = `https://${own}`;
      return (await fetch(`http://${own}/message:send`, { method: "POST", headers: all, body })).status;
    };
    const shop = { "sec-fetch-site": "cross-site", origin: "https://shop.example" };
    expect(await send({}, { origin: "own" })).toBe(200);
    expect(await send({}, { "sec-fetch-site": "same-origin", origin: "own" })).toBe(200);
    expect(await send({ publicUrl: "https://shop.example/agents" }, shop)).toBe(200);
    expect(await send({ allowedOrigins: ["https://shop.example"] }, shop)).toBe(200);
    expect(await send({ allowedOrigins: ["https://other.example"] }, shop)).toBe(403);
    expect(await send({ allowedOrigins: "*" }, { origin: "null" })).toBe(200);
  });

  it("can only be allowed for origins, because a URL with a path equals no Origin header", () => {
    expect(() =>
      createServer(messageCommandTestAgent, { allowedOrigins: ["https://shop.example/"] }),
    ).toThrow('["https://shop.example"]');
  });
});
