import { describe, expect, it } from "vitest";
import type { SecurityScheme } from "../../protocol/index.ts";
import { type ClientAuthOptions, type AuthorizeFunction, connect, type A2AClient } from "../index.ts";
import {
  type TestRequestResponder,
  buildTestAgentCard,
  startRequestRecordingTestServer,
  type RecordedTestRequest,
  sendTestJsonResponse,
} from "../request-recording-test-server.fixture.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

interface ProtectedAgent {
  readonly url: string;
  /** The requests that the agent received, without card requests. */
  readonly listRequests: () => RecordedTestRequest[];
}

/** An agent whose card requires one scheme, and that accepts requests for which `isWelcome` returns true. */
async function serveProtectedAgent(
  schemes: Record<string, SecurityScheme>,
  isWelcome: (request: RecordedTestRequest) => boolean,
  about: object = {},
): Promise<ProtectedAgent> {
  let url = "";
  const server = await startRequestRecordingTestServer((response, request) => {
    if (request.url.includes("/.well-known/")) {
      const securityRequirements = [
        { schemes: Object.fromEntries(Object.keys(schemes).map((name) => [name, { list: ["use"] }])) },
      ];
      sendTestJsonResponse(
        response,
        buildTestAgentCard(url, { securitySchemes: schemes, securityRequirements, ...about }),
      );
    } else if (isWelcome(request)) sendTestJsonResponse(response, { jsonrpc: "2.0", id: 1, result: task });
    else
      sendTestJsonResponse(response, { jsonrpc: "2.0", id: 1, error: { code: -32000, message: "who" } }, 401);
  });
  ({ url } = server);
  return { url, listRequests: () => server.seen.filter((request) => !request.url.includes("/.well-known/")) };
}

const createApiKeyScheme = (location: "header" | "query" | "cookie"): Record<string, SecurityScheme> => ({
  key: { apiKeySecurityScheme: { location, name: "k" } },
});
const BEARER: Record<string, SecurityScheme> = { token: { httpAuthSecurityScheme: { scheme: "bearer" } } };

describe("credentials", () => {
  it("are sent where the card declares, and never to the card's host [A-10, M-10]", async () => {
    for (const [location, isThere] of [
      ["header", ({ headers }) => headers["k"] === "s p"],
      ["query", ({ url }) => url === "/rpc?k=s+p"],
      ["cookie", ({ headers }) => headers.cookie === "k=s p"],
    ] as const satisfies (readonly [string, (request: RecordedTestRequest) => boolean])[]) {
      const { url, listRequests } = await serveProtectedAgent(createApiKeyScheme(location), isThere);
      const remote = await connect(url, { auth: { apiKey: "s p" } });
      expect((await remote.tasks.get("t")).id).toBe("t");
      expect(listRequests()).toHaveLength(1);
    }
  });

  it("are sent for the card, too, if it requires them [A-10, M-01]", async () => {
    let url = "";
    const server = await startRequestRecordingTestServer((response, { headers }) => {
      const isWelcome =
        ["Bearer s", "Basic YTpi"].includes(headers.authorization ?? "") || headers["x-api-key"] === "k";
      if (isWelcome) sendTestJsonResponse(response, buildTestAgentCard(url, { securitySchemes: {} }));
      else sendTestJsonResponse(response, {}, 401);
    });
    ({ url } = server);
    const alternatives: (ClientAuthOptions | AuthorizeFunction)[] = [
      { bearer: "s" },
      { bearer: () => "s" },
      { basic: { username: "a", password: "b" } },
      { apiKey: "k" },
      ({ schemes }) => (Object.keys(schemes).length === 0 ? { authorization: "Bearer s" } : undefined),
    ];
    for (const auth of alternatives) {
      server.seen.length = 0;
      const remote = await connect(url, { auth });
      expect(remote.card.name).toBe("Raw");
      // The first request has no credentials, because most cards are public.
      expect(
        server.seen
          .map(({ headers }) => Object.keys(headers))
          .map((names) => names.includes("authorization") || names.includes("x-api-key")),
      ).toEqual([false, true]);
      await remote.refreshCard();
      expect(server.seen).toHaveLength(3);
    }
    server.seen.length = 0;
    await expect(connect(url, { auth: { oauthClient: { id: "a", secret: "b" } } })).rejects.toMatchObject({
      reason: "UNAUTHENTICATED",
      message: expect.stringContaining("{ headers }") as string,
    });
    expect(server.seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    await expect(connect(url, { auth: { bearer: "wrong" } })).rejects.toThrow("HTTP 401");
  });

  it("are not sent to the card's host if the agent has a different host [M-10]", async () => {
    const agent = await serveProtectedAgent(BEARER, ({ headers }) => headers.authorization === "Bearer s");
    const host = await startRequestRecordingTestServer((response) =>
      sendTestJsonResponse(response, buildTestAgentCard(agent.url, { securitySchemes: BEARER })),
    );
    const remote = await connect(host.url, { auth: { bearer: "s" }, trustedOrigins: [agent.url] });
    await remote.tasks.get("t");
    await remote.refreshCard();
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    expect(agent.listRequests().map(({ headers }) => headers.authorization)).toEqual(["Bearer s"]);
  });

  it("do not follow a redirect, and error messages contain no API key [M-10]", async () => {
    const thief = await startRequestRecordingTestServer((response) => sendTestJsonResponse(response, {}));
    let url = "";
    const server = await startRequestRecordingTestServer((response, request) => {
      if (request.url.includes("/.well-known/")) {
        sendTestJsonResponse(
          response,
          buildTestAgentCard(url, { securitySchemes: createApiKeyScheme("query") }),
        );
      } else response.writeHead(307, { location: thief.url }).end();
    });
    ({ url } = server);
    const remote = await connect(url, { auth: { apiKey: "s3cret" } });
    const failure: unknown = await remote.tasks.get("t").catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
    expect(String(failure)).not.toContain("s3cret");
    expect(thief.seen).toEqual([]);
  });

  it("that do not match are rejected before any request", async () => {
    const { url, listRequests } = await serveProtectedAgent(BEARER, () => true);
    await expect(connect(url, { auth: { apiKey: "k" } })).rejects.toMatchObject({
      reason: "UNAUTHENTICATED",
      message: expect.stringContaining(`"token" (a bearer token; set { auth: { bearer } })`) as string,
    });
    expect(listRequests()).toEqual([]);
  });

  it("override a header of the same name in any case, and are overridden by headers of a call", async () => {
    const { url, listRequests } = await serveProtectedAgent(BEARER, () => true);
    const remote = await connect(url, { headers: { Authorization: "Basic x" }, auth: { bearer: "s" } });
    await remote.tasks.get("t");
    await remote.tasks.get("t", { headers: { AUTHORIZATION: "Bearer other" } });
    expect(listRequests().map(({ headers }) => headers.authorization)).toEqual(["Bearer s", "Bearer other"]);
  });

  it("that are missing are named when the agent rejects a request", async () => {
    const { url } = await serveProtectedAgent(BEARER, () => false);
    const remote = await connect(url);
    const refusal = {
      reason: "UNAUTHENTICATED",
      message: `who. The card requires "token" (a bearer token; set { auth: { bearer } }).`,
    };
    await expect(remote.tasks.get("t")).rejects.toMatchObject(refusal);
    await expect(remote.tasks.subscribe("t")[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal);
  });

  it("may come from a function, which is called for each request and again after a rejection", async () => {
    const { url, listRequests } = await serveProtectedAgent(
      BEARER,
      ({ headers }) => headers.authorization === "Bearer 3",
    );
    let count = 0;
    const remote = await connect(url, { auth: { bearer: () => `${(count += 1)}` } });
    await expect(remote.tasks.get("t")).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
    expect((await remote.tasks.get("t")).id).toBe("t");
    expect(listRequests().map(({ headers }) => headers.authorization)).toEqual([
      "Bearer 1",
      "Bearer 2",
      "Bearer 3",
    ]);
  });

  it("may be headers from a function, which is notified of rejections", async () => {
    const { url } = await serveProtectedAgent(BEARER, ({ headers }) => headers["x-mine"] === "again");
    const expected: Parameters<AuthorizeFunction>[0][] = [];
    const auth: AuthorizeFunction = (asked) => {
      expected.push(asked);
      return { "x-mine": asked.isRetry ? "again" : "first" };
    };
    const remote = await connect(url, { auth });
    expect((await remote.tasks.get("t")).id).toBe("t");
    const schemes = { token: { scheme: BEARER["token"], scopes: ["use"] } };
    expect(expected).toEqual([
      { schemes, isRetry: false },
      { schemes, isRetry: true },
    ]);
    const mute = await connect(url, { auth: () => undefined });
    await expect(mute.tasks.get("t")).rejects.toThrow("The auth function returned no headers");
  });
});

interface TokenServer {
  readonly url: string;
  /** The received token requests, with their `Authorization` header. */
  readonly requests: { authorization: string | undefined; [field: string]: string | undefined }[];
  readonly validTokens: Set<string>;
}

/** An authorization server with `/token` and metadata at both paths. Its tokens count up from t1. */
async function startTokenServer(about: object = {}, answer?: TestRequestResponder): Promise<TokenServer> {
  const asked: TokenServer["requests"] = [];
  const valid = new Set<string>();
  let url = "";
  const server = await startRequestRecordingTestServer((response, request) => {
    const { text, headers } = request;
    if (request.url.includes("/.well-known/")) {
      return sendTestJsonResponse(response, {
        issuer: `${url}/tenant`,
        token_endpoint: `${url}/token`,
        ...about,
      });
    }
    asked.push({ authorization: headers.authorization, ...Object.fromEntries(new URLSearchParams(text)) });
    if (answer) return answer(response, request);
    const token = `t${asked.length}`;
    valid.add(token);
    sendTestJsonResponse(response, { access_token: token, token_type: "Bearer", expires_in: 3600 });
  });
  ({ url } = server);
  return { url, requests: asked, validTokens: valid };
}

const createClientCredentialsScheme = (tokenUrl: string): Record<string, SecurityScheme> => ({
  machine: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: {} } } } },
});
const createMetadataUrlScheme = (oauth2MetadataUrl: string): Record<string, SecurityScheme> => ({
  machine: {
    oauth2SecurityScheme: {
      flows: { deviceCode: { deviceAuthorizationUrl: "", tokenUrl: "", scopes: {} } },
      oauth2MetadataUrl,
    },
  },
});
const createOpenIdScheme = (openIdConnectUrl: string): Record<string, SecurityScheme> => ({
  person: { openIdConnectSecurityScheme: { openIdConnectUrl } },
});
const OAUTH_CLIENT = { id: "me:1", secret: "s/3 cret" };
/** RFC 6749 §2.3.1: both halves are form-encoded before they are joined. */
const CLIENT_BASIC_HEADER = `Basic ${Buffer.from("me%3A1:s%2F3+cret").toString("base64")}`;

/** An agent that accepts the tokens of a server. */
async function connectWithTokens(
  server: TokenServer,
  schemes: Record<string, SecurityScheme>,
  client: Partial<NonNullable<ClientAuthOptions["oauthClient"]>> = {},
): Promise<ProtectedAgent & { remote: A2AClient }> {
  const agent = await serveProtectedAgent(schemes, ({ headers }) =>
    server.validTokens.has(headers.authorization?.replace("Bearer ", "") ?? ""),
  );
  const auth = { oauthClient: { ...OAUTH_CLIENT, issuer: server.url, ...client } };
  return { ...agent, remote: await connect(agent.url, { auth }) };
}

describe("client credentials", () => {
  it("provide one token for all requests until it is rejected, and then a new one [M-10]", async () => {
    const server = await startTokenServer();
    const { remote, listRequests } = await connectWithTokens(
      server,
      createClientCredentialsScheme(`${server.url}/token`),
    );
    await Promise.all(Array.from({ length: 5 }, () => remote.tasks.get("t")));
    expect(server.requests).toEqual([
      { authorization: CLIENT_BASIC_HEADER, grant_type: "client_credentials", scope: "use" },
    ]);
    server.validTokens.clear();
    await Promise.all(Array.from({ length: 5 }, () => remote.tasks.get("t")));
    expect(server.requests).toHaveLength(2);
    expect(listRequests().every(({ headers }) => headers.authorization?.startsWith("Bearer t"))).toBe(true);
  });

  it("are not retried after a second rejection", async () => {
    const server = await startTokenServer();
    const { remote, listRequests } = await connectWithTokens(
      server,
      createClientCredentialsScheme(`${server.url}/token`),
    );
    server.validTokens.add = () => server.validTokens;
    await expect(remote.tasks.get("t")).rejects.toMatchObject({ reason: "UNAUTHENTICATED", message: "who" });
    expect([listRequests().length, server.requests.length]).toEqual([2, 2]);
  });

  it("discover the token endpoint and its authentication method", async () => {
    const post = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    for (const schemeAt of [
      (url: string) => createOpenIdScheme(`${url}/tenant/.well-known/openid-configuration`),
      (url: string) => createOpenIdScheme(`${url}/tenant/`),
      (url: string) => createMetadataUrlScheme(`${url}/.well-known/oauth-authorization-server/tenant`),
    ]) {
      const server = await startTokenServer(post);
      const { remote } = await connectWithTokens(server, schemeAt(server.url), {
        tokenParameters: { audience: "a" },
      });
      await remote.tasks.get("t");
      expect(server.requests).toEqual([
        {
          grant_type: "client_credentials",
          scope: "use",
          client_id: OAUTH_CLIENT.id,
          client_secret: OAUTH_CLIENT.secret,
          audience: "a",
        },
      ]);
    }
  });

  it("are not sent to another host that the card names, unless the caller allows it [M-10]", async () => {
    const server = await startTokenServer();
    for (const schemes of [
      createClientCredentialsScheme(`${server.url}/token`),
      createOpenIdScheme(server.url),
      createMetadataUrlScheme(server.url),
    ]) {
      const { remote } = await connectWithTokens(server, schemes, { issuer: "https://login.example/" });
      await expect(remote.tasks.get("t")).rejects.toMatchObject({
        reason: "UNAUTHENTICATED",
        message: expect.stringContaining(`{ issuer: "${server.url}" }`) as string,
      });
    }
    expect(server.requests).toEqual([]);
  });

  it("are not sent unencrypted to another machine [M-07, M-10]", async () => {
    const server = await startTokenServer({ token_endpoint: "http://login.example/token" });
    const { remote } = await connectWithTokens(server, createOpenIdScheme(`${server.url}/tenant`));
    await expect(remote.tasks.get("t")).rejects.toThrow("does not use HTTPS");
    const plain = await connectWithTokens(server, createClientCredentialsScheme("http://login.example/t"), {
      issuer: "http://login.example",
    });
    await expect(plain.remote.tasks.get("t")).rejects.toThrow("does not use HTTPS");
  });

  it("are not sent to an endpoint from the metadata of a different issuer", async () => {
    const server = await startTokenServer({ issuer: "https://other.example" });
    const { remote } = await connectWithTokens(server, createOpenIdScheme(`${server.url}/tenant`));
    await expect(remote.tasks.get("t")).rejects.toThrow("different issuer");
    expect(server.requests).toEqual([]);
  });

  it("that are rejected report the server and the reason, but not the secret", async () => {
    const server = await startTokenServer({}, (response) =>
      sendTestJsonResponse(response, { error: "invalid_client", error_description: "unknown" }, 401),
    );
    const { remote, listRequests } = await connectWithTokens(
      server,
      createClientCredentialsScheme(`${server.url}/token`),
    );
    const failure: unknown = await remote.tasks.get("t").catch((error: unknown) => error);
    expect(failure).toMatchObject({
      reason: "UNAUTHENTICATED",
      message: `${server.url}/token issued no token to client "me:1": invalid_client: unknown. Check { auth: { oauthClient } }.`,
    });
    expect(JSON.stringify(failure) + String(failure)).not.toContain(OAUTH_CLIENT.secret);
    expect(listRequests()).toEqual([]);
  });

  it("reject an invalid token response", async () => {
    for (const answer of [
      (response) => response.end("<html>"),
      (response) => sendTestJsonResponse(response, { access_token: "x", token_type: "mac" }),
      (response) => sendTestJsonResponse(response, { token_type: "Bearer" }),
      (response) => response.writeHead(302, { location: "https://elsewhere.example" }).end(),
    ] satisfies TestRequestResponder[]) {
      const server = await startTokenServer({}, answer);
      const { remote, listRequests } = await connectWithTokens(
        server,
        createClientCredentialsScheme(`${server.url}/token`),
      );
      await expect(remote.tasks.get("t")).rejects.toMatchObject({ name: "A2AError" });
      expect(listRequests()).toEqual([]);
    }
  });
});
