import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { bearer } from "./auth/index.ts";
import { createServer, type CorsOptions, type Server, type ServerOptions } from "./index.ts";

const SHOP = "https://shop.example";
const TOKEN = "token-of-ada-0123456789";
const hello = agent({ name: "hello", description: "Greets" }, async function* ({ text }) {
  yield `Hello, ${text}`;
});

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ graceMs: 50 })));
});

function create(cors: CorsOptions | undefined, options: ServerOptions = {}): Server {
  const server = createServer(hello, {
    store: "memory",
    observer: false,
    authenticate: bearer({ tokens: { [TOKEN]: "ada" } }),
    ...(cors ? { cors } : {}),
    ...options,
  });
  servers.push(server);
  return server;
}

const listCorsHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"));

const send = (
  server: Server,
  path: string,
  { method = "GET", body, ...headers }: Record<string, string> = {},
): Promise<Response> =>
  server.fetch(
    new Request(`http://agents.example${path}`, {
      method,
      headers: { "a2a-version": "1.0", ...headers },
      ...(body === undefined ? {} : { body }),
    }),
  );

const PREFLIGHT = {
  method: "OPTIONS",
  origin: SHOP,
  "access-control-request-method": "POST",
  "access-control-request-headers": "a2a-version,authorization,content-type,x-api-key",
};
const MESSAGE = {
  method: "POST",
  origin: SHOP,
  "sec-fetch-site": "cross-site",
  authorization: `Bearer ${TOKEN}`,
  "content-type": "application/json",
  body: JSON.stringify({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Ada" }] } }),
};
const EXPOSED = expect.stringContaining("WWW-Authenticate") as string;

describe("CORS", () => {
  it("is closed by default", async () => {
    const server = create(undefined);
    const preflight = await send(server, "/message:send", PREFLIGHT);
    expect(preflight.ok).toBe(false);
    expect((await send(server, "/message:send", MESSAGE)).status).toBe(403);
    for (const response of [preflight, await send(server, "/.well-known/agent-card.json", { origin: SHOP })])
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  it("answers preflight requests of listed origins without credentials", async () => {
    const server = create({ origins: [SHOP] });
    const preflight = await send(server, "/message:send", PREFLIGHT);
    expect([preflight.status, await preflight.text()]).toEqual([204, ""]);
    expect(listCorsHeaders(preflight)).toEqual({
      "access-control-allow-origin": SHOP,
      "access-control-allow-methods": "GET, HEAD, POST, DELETE",
      "access-control-allow-headers": "a2a-version,authorization,content-type,x-api-key",
      "access-control-max-age": "600",
      vary: "Access-Control-Request-Headers, Access-Control-Request-Private-Network, Origin",
    });
  });

  it("opens the server only for listed origins [SEC-71]", async () => {
    const server = create({ origins: [SHOP] });
    for (const origin of [
      "https://shop.example.evil.example",
      "http://shop.example",
      "null",
      `${SHOP}:444`,
    ]) {
      const preflight = await send(server, "/message:send", { ...PREFLIGHT, origin });
      expect([preflight.ok, listCorsHeaders(preflight)]).toEqual([false, { vary: "Origin" }]);
      const refused = await send(server, "/message:send", { ...MESSAGE, origin });
      expect([refused.status, listCorsHeaders(refused)]).toEqual([403, { vary: "Origin" }]);
    }
    const foreignHeaders = { ...PREFLIGHT, "access-control-request-headers": "a, b\u00e9" };
    expect((await send(server, "/", foreignHeaders)).headers.has("access-control-allow-headers")).toBe(false);
  });

  it("lets pages read results, streams, errors, cards, and lists", async () => {
    const server = create({ origins: [SHOP] });
    const stranger = { origin: SHOP };
    const ada = { ...stranger, authorization: `Bearer ${TOKEN}` };
    const rpc = { ...MESSAGE, body: "no JSON" };
    for (const [path, headers, status] of [
      ["/message:send", MESSAGE, 200],
      ["/message:stream", { ...MESSAGE, body: MESSAGE.body.replace(`"m"`, `"n"`) }, 200],
      ["/", rpc, 200],
      ["/message:send", { ...MESSAGE, authorization: "Bearer wrong-token-0123456789" }, 401],
      ["/tasks/unknown", ada, 404],
      ["/no/such/path/at/all", ada, 404],
      ["/.well-known/agent-card.json", stranger, 200],
      ["/a2a", stranger, 200],
      ["/readyz", stranger, 200],
    ] as const) {
      const response = await send(server, path, headers);
      expect([path, response.status]).toEqual([path, status]);
      expect(listCorsHeaders(response)).toMatchObject({
        "access-control-allow-origin": SHOP,
        "access-control-expose-headers": EXPOSED,
        vary: expect.stringMatching(/(^|, )Origin$/) as string,
      });
      await response.body?.cancel();
    }
  });

  it("has the same headers over a socket", async () => {
    const server = create({ origins: [SHOP] });
    const { url } = await server.listen();
    const preflight = await fetch(`${url}/message:send`, {
      method: "OPTIONS",
      headers: { origin: SHOP, "access-control-request-method": "POST" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, SHOP]);
    expect(preflight.headers.has("content-length")).toBe(false);
    const { method, body, ...headers } = MESSAGE;
    const answer = await fetch(`${url}/message:stream`, {
      method,
      body,
      headers: { ...headers, "a2a-version": "1.0" },
    });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, SHOP]);
    expect(await answer.text()).toContain("Hello, Ada");
  });

  it("marks each reply as dependent on the origin, so that caches keep replies apart", async () => {
    const server = create({ origins: [SHOP] });
    const card = await send(server, "/.well-known/agent-card.json");
    expect(card.headers.get("vary")).toBe("A2A-Version, Origin");
    expect(card.headers.has("access-control-allow-origin")).toBe(false);
    const open = create({ origins: "*" });
    const forAll = await send(open, "/.well-known/agent-card.json", { origin: SHOP });
    expect(forAll.headers.get("vary")).toBe("A2A-Version");
    expect(forAll.headers.get("access-control-allow-origin")).toBe("*");
    expect((await send(open, "/message:send", { ...MESSAGE, origin: "null" })).status).toBe(200);
  });

  it("allows credentials and private networks only if the options say so", async () => {
    const asksForPrivate = { ...PREFLIGHT, "access-control-request-private-network": "true" };
    const closed = await send(create({ origins: [SHOP] }), "/", asksForPrivate);
    expect(closed.headers.has("access-control-allow-private-network")).toBe(false);
    expect(closed.headers.has("access-control-allow-credentials")).toBe(false);
    const open = create({ origins: [SHOP], credentials: true, privateNetwork: true, maxAgeSeconds: 0 });
    const answer = await send(open, "/", asksForPrivate);
    expect(listCorsHeaders(answer)).toMatchObject({
      "access-control-allow-private-network": "true",
      "access-control-allow-credentials": "true",
      "access-control-max-age": "0",
    });
    const reply = await send(open, "/message:send", MESSAGE);
    expect(reply.headers.get("access-control-allow-credentials")).toBe("true");
  });

  it.each([
    [{ origins: "*", credentials: true }, "list the origins"],
    [{ origins: [] }, `"cors.origins" is []`],
    [{ origins: [`${SHOP}/`] }, `"cors.origins" is ["https://shop.example/"]`],
    [{ origins: SHOP }, 'use "*" or a list'],
    [{}, 'use "*" or a list'],
    [{ origins: "*", maxAgeSeconds: -1 }, `"cors.maxAgeSeconds" is -1`],
    [{ origins: "*", headers: [] }, "headers"],
  ])("refuses the options %j", (cors, text) => {
    expect(() => create(cors as CorsOptions)).toThrow(text);
  });
});
