import { afterEach, describe, expect, it } from "vitest";
import { buildJwks, generateSigningKey, importSigningKeyPair, signJwt } from "../../wire/keys/index.ts";
import { AuthTestServer, buildBearerAuthTestHeaders } from "./auth-test-server.fixture.ts";
import { bearer, contextTokens, mintContextToken, type MintContextTokenOptions } from "./index.ts";

const SECRET = "a-secret-of-more-than-32-characters-0001";
const NEXT_SECRET = "a-secret-of-more-than-32-characters-0002";
const GRANT = { secret: SECRET, audience: "agents", principal: "ada", contexts: ["red"] };
const START = Date.parse("2026-01-01T00:00:00Z");

let now = START;
const clock = (): number => now;
const rejections: string[] = [];
const observer = {
  onCredentialsRejected: ({ reason }: { reason: string }): void => void rejections.push(reason),
};
afterEach(() => {
  now = START;
  rejections.length = 0;
});

const mint = async (more: Partial<MintContextTokenOptions> = {}): Promise<Record<string, string>> =>
  buildBearerAuthTestHeaders((await mintContextToken({ ...GRANT, now: clock, ...more })).token);

describe("context tokens", () => {
  it("identify the principal, the contexts, and the agents", async () => {
    await using server = await AuthTestServer.start(contextTokens({ secret: SECRET, audience: "agents" }));
    const before = Date.now();
    const { token, expiresAt } = await mintContextToken({
      ...GRANT,
      tenant: "acme",
      contexts: ["red", "green"],
      contextNamespace: "browser-tab-1",
      agents: ["mirror"],
      scopes: ["chat"],
    });
    expect(expiresAt).toBeGreaterThanOrEqual(before + 299_000);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 300_000);
    expect(await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(token))).toMatchObject({
      tenant: "acme",
      principal: "ada",
      scopes: ["chat"],
      contextScope: {
        contextIds: ["red", "green"],
        namespace: "browser-tab-1",
        agentIds: ["mirror"],
      },
    });
    expect((await server.fetchCard()).securitySchemes).toEqual({
      contextToken: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
    });
  });

  it("share the server with other bearer tokens, which cause no reports", async () => {
    const others = bearer({ tokens: { "token-of-bob-0123456789": "bob" } });
    const scheme = contextTokens({ secret: SECRET, audience: "agents", now: clock });
    await using server = await AuthTestServer.start([scheme, others], { observer });
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders("token-of-bob-0123456789"))).toBe(
      200,
    );
    expect(await server.fetchListTasksStatus(await mint())).toBe(200);
    expect(rejections).toEqual([]);
  });

  it("are rejected after their end, with the clock tolerance", async () => {
    const scheme = contextTokens({ secret: SECRET, audience: "agents", now: clock });
    await using server = await AuthTestServer.start(scheme, { observer });
    const headers = await mint({ expiresInSeconds: 60 });
    now = START + 64_000;
    expect(await server.fetchListTasksStatus(headers)).toBe(200);
    now = START + 66_000;
    const response = await server.listTasks(headers);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain(`error="invalid_token"`);
    expect(rejections).toEqual([
      "exp of the context token: the token expired at 2026-01-01T00:01:00.000Z; mint a new token, and compare the clocks of the two servers",
    ]);
  });

  it.each([
    ["of another audience", { audience: "others" }, `set "audience" of mintContextToken to "agents"`],
    ["of another key", { secret: NEXT_SECRET }, "use the same key in mintContextToken and contextTokens"],
    ["of the future", { now: () => START + 60_000 }, "compare the clocks of the two servers"],
  ])("%s are rejected with a remedy in the log", async (_, more, remedy) => {
    const scheme = contextTokens({ secret: SECRET, audience: "agents", now: clock });
    await using server = await AuthTestServer.start(scheme, { observer });
    expect(await server.fetchListTasksStatus(await mint(more))).toBe(401);
    expect(rejections).toHaveLength(1);
    expect(rejections[0]).toContain(remedy);
  });

  it("verify with each secret during key rotation", async () => {
    const scheme = contextTokens({ secret: [NEXT_SECRET, SECRET], audience: "agents", now: clock });
    await using server = await AuthTestServer.start(scheme);
    for (const secret of [SECRET, NEXT_SECRET, [NEXT_SECRET, SECRET]])
      expect(await server.fetchListTasksStatus(await mint({ secret }))).toBe(200);
  });

  it("have public keys if the app and the server share no secret, with one fixed algorithm", async () => {
    const [key, other, rsa] = await Promise.all([
      generateSigningKey(),
      generateSigningKey(),
      generateSigningKey("RS256"),
    ]);
    const pairs = await Promise.all([key, rsa].map((privateKey) => importSigningKeyPair({ privateKey })));
    const keys = buildJwks(pairs);
    await using server = await AuthTestServer.start(contextTokens({ keys, audience: "agents" }));
    const send = async (privateKey: typeof key): Promise<number> => {
      const { secret: _, ...grant } = GRANT;
      const { token } = await mintContextToken({ ...grant, privateKey });
      return await server.fetchListTasksStatus(buildBearerAuthTestHeaders(token));
    };
    expect(await send(key)).toBe(200);
    expect(await send(other)).toBe(401);
    // RS256 is not the algorithm of the option, although the key is known.
    expect(await send(rsa)).toBe(401);
    // A public key is no secret.
    const confused = await mintContextToken({ ...GRANT, secret: JSON.stringify(keys.keys[0]) });
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders(confused.token))).toBe(401);
  });

  it("must be short-lived, of their type, and complete", async () => {
    const privateKey = await generateSigningKey();
    const pair = await importSigningKeyPair({ privateKey });
    const scheme = contextTokens({ keys: buildJwks([pair]), audience: "agents" });
    await using server = await AuthTestServer.start(scheme, { observer });
    const iat = Math.floor(Date.now() / 1000);
    const claims = { aud: "agents", sub: "ada", iat, exp: iat + 60, contexts: ["red"] };
    const status = async (changes: object, typ = "colloquy-context+jwt"): Promise<number> => {
      const token = await signJwt({ ...claims, ...changes }, pair, typ);
      return await server.fetchListTasksStatus(buildBearerAuthTestHeaders(token));
    };
    expect(await status({})).toBe(200);
    expect(await status({}, "JWT")).toBe(401);
    for (const changes of [
      { exp: undefined },
      { iat: undefined },
      { iat: iat - 7200 },
      { sub: "" },
      { contexts: undefined },
      { contexts: [7] },
      { agents: "mirror" },
      { context_namespace: "" },
      { context_namespace: 7 },
      { tenant: 7 },
      { scope: ["chat"] },
    ])
      expect([changes, await status(changes)]).toEqual([changes, 401]);
  });

  it("require the scopes of the server", async () => {
    const options = { secret: SECRET, audience: "agents", now: clock, requiredScopes: ["chat"] };
    await using server = await AuthTestServer.start(contextTokens(options));
    expect(await server.fetchListTasksStatus(await mint())).toBe(403);
    expect(await server.fetchListTasksStatus(await mint({ scopes: ["chat"] }))).toBe(200);
  });

  it.each([
    ["secret", { secret: "short" }, "A secret requires at least 32 bytes"],
    ["secret", { secret: [] }, `"secret" is an empty list`],
    ["two keys", { privateKey: {} }, `set either "secret" or "privateKey"`],
    ["no key", { secret: undefined }, `set either "secret" or "privateKey"`],
    ["audience", { audience: "" }, `"audience" is missing`],
    ["principal", { principal: "" }, `"principal" is missing`],
    ["contexts", { contexts: [] }, `set "contexts" or "contextNamespace"`],
    ["contexts", { contexts: [""] }, `"contexts" has an id that is empty`],
    ["contexts", { contexts: ["a\nb"] }, `"contexts" has an id that has control characters`],
    ["contexts", { contexts: Array.from({ length: 51 }, String) }, "the limit is 50"],
    ["namespace", { contextNamespace: "tab.1234" }, "use 8 to 128 characters"],
    ["namespace", { contextNamespace: "" }, "use 8 to 128 characters"],
    ["lifetime", { expiresInSeconds: 3601 }, "use a whole number from 1 to 3600"],
    ["lifetime", { expiresInSeconds: 0.5 }, "use a whole number from 1 to 3600"],
    ["scopes", { scopes: ["a b"] }, "is not valid"],
    ["contexts", { contexts: "c1" }, `"contexts" is not an array; write contexts: ["…"].`],
    ["agents", { agents: "support" }, `"agents" is not an array`],
    ["scopes", { scopes: "chat" }, `"scopes" is not an array`],
    ["option", { expires: 5 }, "expires"],
  ])("are not minted with an invalid %s", async (_, changes, text) => {
    await expect(mintContextToken({ ...GRANT, ...changes } as MintContextTokenOptions)).rejects.toThrow(text);
  });

  it("need a key and an audience on the server", () => {
    expect(() => contextTokens({ audience: "agents" })).toThrow(`set either "secret" or "keys"`);
    expect(() => contextTokens({ secret: SECRET, keys: [], audience: "agents" })).toThrow("set either");
    expect(() => contextTokens({ secret: SECRET, audience: "" })).toThrow(`"audience" is missing`);
  });
});
