import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  importSigningKeyPair,
  generateSigningKey,
  buildJwks,
  signJwt,
  type JwtClaims,
} from "../../wire/keys/index.ts";
import { FakeOidcProvider } from "../../wire/keys/fake-oidc-provider.fixture.ts";
import { AuthTestServer, buildBearerAuthTestHeaders } from "./auth-test-server.fixture.ts";
import { bearer, jwt, oauth2, openIdConnect } from "./index.ts";

const encodeBase64UrlJson = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

describe("tokens of an OpenID provider", () => {
  let issuer: FakeOidcProvider;
  let time: number;
  const now = (): number => time;
  const seconds = (): number => Math.floor(Date.now() / 1000);

  beforeEach(async () => {
    issuer = await FakeOidcProvider.start();
    time = Date.now();
  });
  afterEach(() => issuer[Symbol.asyncDispose]());

  it("authenticate their subject, with keys from discovery, a URL, or the options [M-01]", async () => {
    const common = { issuer: issuer.url, audience: "agents" };
    const keys = buildJwks([issuer.signer]);
    const flows = { clientCredentials: { tokenUrl: `${issuer.url}/token`, scopes: {} } };
    for (const scheme of [
      jwt(common),
      jwt({ ...common, jwksUrl: issuer.jwksUrl }),
      jwt({ ...common, keys }),
      oauth2({ ...common, flows }),
      openIdConnect(common),
    ]) {
      await using server = await AuthTestServer.start(scheme);
      const headers = buildBearerAuthTestHeaders(
        await issuer.signToken({ scope: "a b", email: "ada@example.com" }),
      );
      expect(await server.fetchCallerSeenByAgent(headers)).toMatchObject({
        tenant: "",
        principal: `${issuer.url}|ada`,
        scopes: ["a", "b"],
        claims: { sub: "ada", email: "ada@example.com" },
      });
    }
  });

  it("are verified with keys that are valid at the time of the option `now`", async () => {
    const now = Date.parse("2020-01-01T00:00:00Z");
    const keys = buildJwks([issuer.signer]).keys.map((key) => ({ ...key, exp: now / 1000 + 60 }));
    await using server = await AuthTestServer.start(
      jwt({ issuer: issuer.url, audience: "agents", keys, now: () => now }),
    );
    const headers = buildBearerAuthTestHeaders(await issuer.signToken({ exp: now / 1000 + 60 }));
    expect(await server.fetchCallerSeenByAgent(headers)).toMatchObject({ principal: `${issuer.url}|ada` });
  });

  it("are rejected with the same message when they are invalid [M-01] [SEC-05]", async () => {
    await using server = await AuthTestServer.start(jwt({ issuer: issuer.url, audience: "agents" }));
    const fetchStatusAndBody = async (token: string): Promise<unknown[]> => {
      const response = await server.listTasks(buildBearerAuthTestHeaders(token));
      return [response.status, response.headers.get("www-authenticate"), await response.text()];
    };
    const words = await (await server.listTasks()).text();
    const refused = [401, `Bearer realm="a2a", error="invalid_token"`, words];
    const eve = await importSigningKeyPair({
      privateKey: await generateSigningKey(),
      kid: issuer.signer.kid,
    });
    const claims = { iss: issuer.url, aud: "agents", sub: "eve", exp: seconds() + 60 };
    const head = `${encodeBase64UrlJson({ alg: "HS256", kid: issuer.signer.kid })}.${encodeBase64UrlJson(claims)}`;
    const hmac = createHmac("sha256", JSON.stringify(issuer.signer.publicKey))
      .update(head)
      .digest("base64url");
    const wrong: (string | Record<string, unknown>)[] = [
      { exp: seconds() - 60 },
      { exp: undefined },
      { nbf: seconds() + 60 },
      { aud: "others" },
      { aud: undefined },
      { iss: `${issuer.url}/` },
      { iss: undefined },
      { sub: undefined },
      { sub: "" },
      `${encodeBase64UrlJson({ alg: "none" })}.${encodeBase64UrlJson(claims)}.`,
      `${head}.${hmac}`,
      await signJwt(claims, eve),
      "no.jwt",
      "...",
      "e30.e30.e30",
    ];
    for (const each of wrong) {
      expect(
        await fetchStatusAndBody(typeof each === "string" ? each : await issuer.signToken(each as JwtClaims)),
      ).toEqual(refused);
    }
    expect((await fetchStatusAndBody(await issuer.signToken()))[0]).toBe(200);
  });

  it("support key rotation, and unknown key ids cause no extra requests [SEC-06]", async () => {
    await using server = await AuthTestServer.start(jwt({ issuer: issuer.url, audience: "agents", now }));
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders(await issuer.signToken()))).toBe(200);
    await issuer.rotateKey({ retire: true });
    time += 31_000;
    const requestCountBefore = issuer.requestedPaths.length;
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders(await issuer.signToken()))).toBe(200);
    await using stranger = await FakeOidcProvider.start();
    for (let at = 0; at < 10; at++) {
      expect(
        await server.fetchListTasksStatus(
          buildBearerAuthTestHeaders(await stranger.signToken({ iss: issuer.url })),
        ),
      ).toBe(401);
    }
    expect(issuer.requestedPaths.length - requestCountBefore).toBe(2);
  });

  it("return 503 while the provider is unavailable, and only the log contains its URL", async () => {
    issuer.responseOverrides.set("/keys", { status: 500, body: "" });
    await using server = await AuthTestServer.start(jwt({ jwksUrl: issuer.jwksUrl, audience: "agents" }));
    const response = await server.listTasks(buildBearerAuthTestHeaders(await issuer.signToken()));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.text()).not.toContain(issuer.url);
    expect(server.errors).toMatchObject([
      { cause: { message: expect.stringContaining(issuer.jwksUrl) as string } },
    ]);
  });

  it("require the configured scopes, as text or as a list [M-02]", async () => {
    await using server = await AuthTestServer.start(
      jwt({ issuer: issuer.url, audience: "agents", requiredScopes: ["use", "more"] }),
    );
    const status = async (claims: JwtClaims): Promise<number> =>
      server.fetchListTasksStatus(buildBearerAuthTestHeaders(await issuer.signToken(claims)));
    expect(await status({ scope: "more x use" })).toBe(200);
    expect(await status({ scp: ["use", "more", 7] })).toBe(200);
    for (const claims of [
      {},
      { scope: "use" },
      { scope: "user more" },
      { scope: 7 },
      { scope: "", scp: "use more" },
    ]) {
      expect(await status(claims)).toBe(403);
    }
    const { headers } = await server.listTasks(buildBearerAuthTestHeaders(await issuer.signToken()));
    expect(headers.get("www-authenticate")).toBe(
      `Bearer realm="a2a", error="insufficient_scope", scope="use more"`,
    );
  });

  it("can determine the tenant, and are then rejected without one [K-02]", async () => {
    const tenant = ({ org }: JwtClaims): string | undefined => (typeof org === "string" ? org : undefined);
    await using server = await AuthTestServer.start(
      jwt({ issuer: issuer.url, audience: "agents", mapTenant: tenant }),
    );
    const headers = buildBearerAuthTestHeaders(await issuer.signToken({ org: "acme" }));
    expect(await server.fetchCallerSeenByAgent(headers)).toMatchObject({ tenant: "acme" });
    expect(await server.fetchCallerSeenByAgent(headers, "acme")).toMatchObject({ tenant: "acme" });
    expect((await server.sendJsonRpc("ListTasks", { tenant: "globex" }, headers)).status).toBe(403);
    expect(await server.fetchListTasksStatus(buildBearerAuthTestHeaders(await issuer.signToken()))).toBe(401);
  });

  it("of two issuers are different callers, even with the same subject [M-04]", async () => {
    await using other = await FakeOidcProvider.start();
    const scheme = (from: FakeOidcProvider, name: string): ReturnType<typeof jwt> =>
      jwt({ issuer: from.url, audience: "agents", schemeName: name });
    await using server = await AuthTestServer.start([scheme(issuer, "one"), scheme(other, "other")]);
    const [one, two] = [
      buildBearerAuthTestHeaders(await issuer.signToken()),
      buildBearerAuthTestHeaders(await other.signToken()),
    ];
    await server.fetchCallerSeenByAgent(one);
    const count = async (headers: Record<string, string>): Promise<number> =>
      ((await (await server.listTasks(headers)).json()) as { totalSize: number }).totalSize;
    expect([await count(one), await count(two)]).toEqual([1, 0]);
  });

  it("can be combined with tokens of other schemes", async () => {
    const token = "static-token-of-a-machine";
    const ways = [
      jwt({ issuer: issuer.url, audience: "agents", schemeName: "jwt" }),
      bearer({ tokens: { [token]: "machine" } }),
    ];
    await using server = await AuthTestServer.start(ways);
    expect(await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(token))).toMatchObject({
      principal: "machine",
    });
    expect(
      await server.fetchCallerSeenByAgent(buildBearerAuthTestHeaders(await issuer.signToken())),
    ).toMatchObject({
      principal: `${issuer.url}|ada`,
    });
    expect(
      await server.fetchListTasksStatus(buildBearerAuthTestHeaders(await issuer.signToken({ aud: "x" }))),
    ).toBe(401);
  });

  it("require an audience and a secure source of keys", () => {
    expect(() => jwt({ issuer: issuer.url } as never)).toThrow(`"audience"`);
    expect(() => jwt({ issuer: issuer.url, audience: [] })).toThrow(`"audience"`);
    expect(() => jwt({ audience: "agents" })).toThrow(`"issuer", "jwksUrl", or "keys"`);
    expect(() => jwt({ audience: "agents", issuer: "http://id.example.com" })).toThrow("https");
    expect(() => jwt({ audience: "agents", keys: [{ kty: "oct", k: "c2VjcmV0" }] })).toThrow(
      "is not a public key",
    );
  });
});
