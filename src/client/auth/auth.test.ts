import { describe, expect, it } from "vitest";
import type { SecurityScheme } from "../../protocol/index.ts";
import { type ClientAuth, type Authorize, connect, type Remote } from "../index.ts";
import { type Answer, cardFor, listen, type Seen, sendJson } from "../listen.contract.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

interface Guarded {
  readonly url: string;
  /** What the agent saw, without requests for its card. */
  readonly asked: () => Seen[];
}

/** An agent whose card asks for one scheme, and that lets in whom `isWelcome` does. */
async function guarded(
  schemes: Record<string, SecurityScheme>,
  isWelcome: (request: Seen) => boolean,
  about: object = {},
): Promise<Guarded> {
  let url = "";
  const server = await listen((response, request) => {
    if (request.url.includes("/.well-known/")) {
      const securityRequirements = [
        { schemes: Object.fromEntries(Object.keys(schemes).map((name) => [name, { list: ["use"] }])) },
      ];
      sendJson(response, cardFor(url, { securitySchemes: schemes, securityRequirements, ...about }));
    } else if (isWelcome(request)) sendJson(response, { jsonrpc: "2.0", id: 1, result: task });
    else sendJson(response, { jsonrpc: "2.0", id: 1, error: { code: -32000, message: "who" } }, 401);
  });
  ({ url } = server);
  return { url, asked: () => server.seen.filter((request) => !request.url.includes("/.well-known/")) };
}

const key = (location: "header" | "query" | "cookie"): Record<string, SecurityScheme> => ({
  key: { apiKeySecurityScheme: { location, name: "k" } },
});
const BEARER: Record<string, SecurityScheme> = { token: { httpAuthSecurityScheme: { scheme: "bearer" } } };

describe("credentials", () => {
  it("go where the card wants them, and never to where the card lies [A-10, M-10]", async () => {
    for (const [location, isThere] of [
      ["header", ({ headers }) => headers["k"] === "s p"],
      ["query", ({ url }) => url === "/rpc?k=s+p"],
      ["cookie", ({ headers }) => headers.cookie === "k=s p"],
    ] as const satisfies (readonly [string, (request: Seen) => boolean])[]) {
      const { url, asked } = await guarded(key(location), isThere);
      const remote = await connect(url, { auth: { apiKey: "s p" } });
      expect((await remote.task.get("t")).id).toBe("t");
      expect(asked()).toHaveLength(1);
    }
  });

  it("are shown for the card, too, when that is refused without, as far as it need not say how [A-10, M-01]", async () => {
    let url = "";
    const server = await listen((response, { headers }) => {
      const isWelcome =
        ["Bearer s", "Basic YTpi"].includes(headers.authorization ?? "") || headers["x-api-key"] === "k";
      if (isWelcome) sendJson(response, cardFor(url, { securitySchemes: {} }));
      else sendJson(response, {}, 401);
    });
    ({ url } = server);
    const ways: (ClientAuth | Authorize)[] = [
      { bearer: "s" },
      { bearer: () => "s" },
      { basic: { username: "a", password: "b" } },
      { apiKey: "k" },
      ({ schemes }) => (Object.keys(schemes).length === 0 ? { authorization: "Bearer s" } : undefined),
    ];
    for (const auth of ways) {
      server.seen.length = 0;
      const remote = await connect(url, { auth });
      expect(remote.card.name).toBe("Raw");
      // Without any at first: most cards are for everybody.
      expect(
        server.seen
          .map(({ headers }) => Object.keys(headers))
          .map((names) => names.includes("authorization") || names.includes("x-api-key")),
      ).toEqual([false, true]);
      await remote.refreshCard();
      expect(server.seen).toHaveLength(3);
    }
    server.seen.length = 0;
    await expect(connect(url, { auth: { client: { id: "a", secret: "b" } } })).rejects.toMatchObject({
      reason: "UNAUTHENTICATED",
      message: expect.stringContaining("{ headers }") as string,
    });
    expect(server.seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    await expect(connect(url, { auth: { bearer: "wrong" } })).rejects.toThrow("HTTP 401");
  });

  it("do not go to the host of the card when the agent is elsewhere [M-10]", async () => {
    const agent = await guarded(BEARER, ({ headers }) => headers.authorization === "Bearer s");
    const host = await listen((response) =>
      sendJson(response, cardFor(agent.url, { securitySchemes: BEARER })),
    );
    const remote = await connect(host.url, { auth: { bearer: "s" } });
    await remote.task.get("t");
    await remote.refreshCard();
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    expect(agent.asked().map(({ headers }) => headers.authorization)).toEqual(["Bearer s"]);
  });

  it("do not follow a redirect, and an API key is in no message [M-10]", async () => {
    const thief = await listen((response) => sendJson(response, {}));
    let url = "";
    const server = await listen((response, request) => {
      if (request.url.includes("/.well-known/")) {
        sendJson(response, cardFor(url, { securitySchemes: key("query") }));
      } else response.writeHead(307, { location: thief.url }).end();
    });
    ({ url } = server);
    const remote = await connect(url, { auth: { apiKey: "s3cret" } });
    const failure: unknown = await remote.task.get("t").catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
    expect(String(failure)).not.toContain("s3cret");
    expect(thief.seen).toEqual([]);
  });

  it("that do not fit are refused before anything is sent", async () => {
    const { url, asked } = await guarded(BEARER, () => true);
    await expect(connect(url, { auth: { apiKey: "k" } })).rejects.toMatchObject({
      reason: "UNAUTHENTICATED",
      message: expect.stringContaining(`"token" (a bearer token; give { auth: { bearer } })`) as string,
    });
    expect(asked()).toEqual([]);
  });

  it("stand over a header of the same name, however it is written, and under that of a single call", async () => {
    const { url, asked } = await guarded(BEARER, () => true);
    const remote = await connect(url, { headers: { Authorization: "Basic x" }, auth: { bearer: "s" } });
    await remote.task.get("t");
    await remote.task.get("t", { headers: { AUTHORIZATION: "Bearer other" } });
    expect(asked().map(({ headers }) => headers.authorization)).toEqual(["Bearer s", "Bearer other"]);
  });

  it("that are missing are named when the agent refuses", async () => {
    const { url } = await guarded(BEARER, () => false);
    const remote = await connect(url);
    const refusal = {
      reason: "UNAUTHENTICATED",
      message: `who. The card asks for "token" (a bearer token; give { auth: { bearer } }).`,
    };
    await expect(remote.task.get("t")).rejects.toMatchObject(refusal);
    await expect(remote.task.subscribe("t")[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal);
  });

  it("may come from a function, which is asked anew, and once more when they are refused", async () => {
    const { url, asked } = await guarded(BEARER, ({ headers }) => headers.authorization === "Bearer 3");
    let count = 0;
    const remote = await connect(url, { auth: { bearer: () => `${(count += 1)}` } });
    await expect(remote.task.get("t")).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
    expect((await remote.task.get("t")).id).toBe("t");
    expect(asked().map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2", "Bearer 3"]);
  });

  it("may be headers that a function gives for a requirement, told when they were refused", async () => {
    const { url } = await guarded(BEARER, ({ headers }) => headers["x-mine"] === "again");
    const wanted: Parameters<Authorize>[0][] = [];
    const auth: Authorize = (asked) => {
      wanted.push(asked);
      return { "x-mine": asked.again ? "again" : "first" };
    };
    const remote = await connect(url, { auth });
    expect((await remote.task.get("t")).id).toBe("t");
    const schemes = { token: { scheme: BEARER["token"], scopes: ["use"] } };
    expect(wanted).toEqual([
      { schemes, again: false },
      { schemes, again: true },
    ]);
    const mute = await connect(url, { auth: () => undefined });
    await expect(mute.task.get("t")).rejects.toThrow("The auth function has nothing");
  });
});

interface TokenServer {
  readonly url: string;
  /** The forms that it got, with the header that came along. */
  readonly asked: { authorization: string | undefined; [field: string]: string | undefined }[];
  readonly valid: Set<string>;
}

/** An authorization server: `/token`, and metadata in both places. Its tokens count up from t1. */
async function tokenServer(about: object = {}, answer?: Answer): Promise<TokenServer> {
  const asked: TokenServer["asked"] = [];
  const valid = new Set<string>();
  let url = "";
  const server = await listen((response, request) => {
    const { text, headers } = request;
    if (request.url.includes("/.well-known/")) {
      return sendJson(response, { issuer: `${url}/tenant`, token_endpoint: `${url}/token`, ...about });
    }
    asked.push({ authorization: headers.authorization, ...Object.fromEntries(new URLSearchParams(text)) });
    if (answer) return answer(response, request);
    const token = `t${asked.length}`;
    valid.add(token);
    sendJson(response, { access_token: token, token_type: "Bearer", expires_in: 3600 });
  });
  ({ url } = server);
  return { url, asked, valid };
}

const machine = (tokenUrl: string): Record<string, SecurityScheme> => ({
  machine: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: {} } } } },
});
const metadata = (oauth2MetadataUrl: string): Record<string, SecurityScheme> => ({
  machine: {
    oauth2SecurityScheme: {
      flows: { deviceCode: { deviceAuthorizationUrl: "", tokenUrl: "", scopes: {} } },
      oauth2MetadataUrl,
    },
  },
});
const oidc = (openIdConnectUrl: string): Record<string, SecurityScheme> => ({
  person: { openIdConnectSecurityScheme: { openIdConnectUrl } },
});
const CLIENT = { id: "me:1", secret: "s/3 cret" };
/** RFC 6749 §2.3.1: both halves are form-encoded before they are joined. */
const BASIC = `Basic ${Buffer.from("me%3A1:s%2F3+cret").toString("base64")}`;

/** An agent that takes the tokens of a server. */
async function withTokens(
  server: TokenServer,
  schemes: Record<string, SecurityScheme>,
  client: Partial<NonNullable<ClientAuth["client"]>> = {},
): Promise<Guarded & { remote: Remote }> {
  const agent = await guarded(schemes, ({ headers }) =>
    server.valid.has(headers.authorization?.replace("Bearer ", "") ?? ""),
  );
  const auth = { client: { ...CLIENT, issuer: server.url, ...client } };
  return { ...agent, remote: await connect(agent.url, { auth }) };
}

describe("a client's credentials", () => {
  it("give one token for all requests until it is refused, and then one more [M-10]", async () => {
    const server = await tokenServer();
    const { remote, asked } = await withTokens(server, machine(`${server.url}/token`));
    await Promise.all(Array.from({ length: 5 }, () => remote.task.get("t")));
    expect(server.asked).toEqual([{ authorization: BASIC, grant_type: "client_credentials", scope: "use" }]);
    server.valid.clear();
    await Promise.all(Array.from({ length: 5 }, () => remote.task.get("t")));
    expect(server.asked).toHaveLength(2);
    expect(asked().every(({ headers }) => headers.authorization?.startsWith("Bearer t"))).toBe(true);
  });

  it("are not tried for ever: a second refusal is the answer", async () => {
    const server = await tokenServer();
    const { remote, asked } = await withTokens(server, machine(`${server.url}/token`));
    server.valid.add = () => server.valid;
    await expect(remote.task.get("t")).rejects.toMatchObject({ reason: "UNAUTHENTICATED", message: "who" });
    expect([asked().length, server.asked.length]).toEqual([2, 2]);
  });

  it("find the token endpoint by discovery, and how it wants the secret", async () => {
    const post = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    for (const schemeAt of [
      (url: string) => oidc(`${url}/tenant/.well-known/openid-configuration`),
      (url: string) => oidc(`${url}/tenant/`),
      (url: string) => metadata(`${url}/.well-known/oauth-authorization-server/tenant`),
    ]) {
      const server = await tokenServer(post);
      const { remote } = await withTokens(server, schemeAt(server.url), { parameters: { audience: "a" } });
      await remote.task.get("t");
      expect(server.asked).toEqual([
        {
          grant_type: "client_credentials",
          scope: "use",
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          audience: "a",
        },
      ]);
    }
  });

  it("go to no server that the card names on another host, unless told so [M-10]", async () => {
    const server = await tokenServer();
    for (const schemes of [machine(`${server.url}/token`), oidc(server.url), metadata(server.url)]) {
      const { remote } = await withTokens(server, schemes, { issuer: "https://login.example/" });
      await expect(remote.task.get("t")).rejects.toMatchObject({
        reason: "UNAUTHENTICATED",
        message: expect.stringContaining(`{ issuer: "${server.url}" }`) as string,
      });
    }
    expect(server.asked).toEqual([]);
  });

  it("go unencrypted to no other machine [M-07, M-10]", async () => {
    const server = await tokenServer({ token_endpoint: "http://login.example/token" });
    const { remote } = await withTokens(server, oidc(`${server.url}/tenant`));
    await expect(remote.task.get("t")).rejects.toThrow("no https URL");
    const plain = await withTokens(server, machine("http://login.example/t"), {
      issuer: "http://login.example",
    });
    await expect(plain.remote.task.get("t")).rejects.toThrow("no https URL");
  });

  it("go to no endpoint out of metadata that speak for another issuer", async () => {
    const server = await tokenServer({ issuer: "https://other.example" });
    const { remote } = await withTokens(server, oidc(`${server.url}/tenant`));
    await expect(remote.task.get("t")).rejects.toThrow("another issuer");
    expect(server.asked).toEqual([]);
  });

  it("that are refused say by whom and why, and never the secret", async () => {
    const server = await tokenServer({}, (response) =>
      sendJson(response, { error: "invalid_client", error_description: "unknown" }, 401),
    );
    const { remote, asked } = await withTokens(server, machine(`${server.url}/token`));
    const failure: unknown = await remote.task.get("t").catch((error: unknown) => error);
    expect(failure).toMatchObject({
      reason: "UNAUTHENTICATED",
      message: `${server.url}/token gave client "me:1" no token: invalid_client: unknown; check { auth: { client } }.`,
    });
    expect(JSON.stringify(failure) + String(failure)).not.toContain(CLIENT.secret);
    expect(asked()).toEqual([]);
  });

  it("get no token from a server that answers nonsense", async () => {
    for (const answer of [
      (response) => response.end("<html>"),
      (response) => sendJson(response, { access_token: "x", token_type: "mac" }),
      (response) => sendJson(response, { token_type: "Bearer" }),
      (response) => response.writeHead(302, { location: "https://elsewhere.example" }).end(),
    ] satisfies Answer[]) {
      const server = await tokenServer({}, answer);
      const { remote, asked } = await withTokens(server, machine(`${server.url}/token`));
      await expect(remote.task.get("t")).rejects.toMatchObject({ name: "A2AError" });
      expect(asked()).toEqual([]);
    }
  });
});
