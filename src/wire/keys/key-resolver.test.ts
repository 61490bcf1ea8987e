import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  generateSigningKey,
  createStaticKeyResolver,
  createIssuerKeyResolver,
  KeysUnavailableError,
  VerificationError,
  createJwksKeyResolver,
  verifyJwt,
  type KeyResolver,
} from "./index.ts";
import { FakeOidcProvider } from "./fake-oidc-provider.fixture.ts";

const DISCOVERY_PATH = "/.well-known/openid-configuration";

describe("public keys", () => {
  let issuer: FakeOidcProvider;
  let time: number;
  const now = (): number => time;
  const check = async (keys: KeyResolver, token?: string): Promise<unknown> =>
    (await verifyJwt(token ?? (await issuer.signToken()), keys, { issuer: issuer.url, audience: "agents" }))
      .sub;
  const fetched = (): number => issuer.requestedPaths.filter((path) => path === "/keys").length;

  beforeEach(async () => {
    issuer = await FakeOidcProvider.start();
    time = Date.now();
  });
  afterEach(() => issuer[Symbol.asyncDispose]());

  it("are fetched once for many tokens", async () => {
    const keys = createJwksKeyResolver(issuer.jwksUrl, { now });
    expect(issuer.requestedPaths).toEqual([]);
    expect(await Promise.all([check(keys), check(keys), check(keys)])).toEqual(["ada", "ada", "ada"]);
    expect(issuer.requestedPaths).toEqual(["/keys"]);
  });

  it("are found with the metadata of their issuer", async () => {
    const keys = createIssuerKeyResolver(issuer.url, { now });
    expect(await check(keys)).toBe("ada");
    expect(issuer.requestedPaths).toEqual([DISCOVERY_PATH, "/keys"]);
  });

  it("are fetched again for a new key, but not for every unknown key id", async () => {
    const keys = createJwksKeyResolver(issuer.jwksUrl, { now });
    await check(keys);
    await issuer.rotateKey({ retire: true });
    await expect(check(keys)).rejects.toThrow(VerificationError);
    expect(fetched()).toBe(1);
    time += 30_000;
    expect(await check(keys)).toBe("ada");
    for (let made = 0; made < 20; made++) {
      const stranger = await FakeOidcProvider.start();
      await expect(check(keys, await stranger.signToken())).rejects.toThrow(VerificationError);
      await stranger[Symbol.asyncDispose]();
    }
    expect(fetched()).toBe(2);
  });

  it("that were revoked are used for ten minutes at most", async () => {
    const keys = createJwksKeyResolver(issuer.jwksUrl, { now });
    const token = await issuer.signToken({ exp: 2 ** 33 });
    await check(keys, token);
    await issuer.rotateKey({ retire: true });
    expect(await check(keys, token)).toBe("ada");
    time += 600_000;
    await expect(check(keys, token)).rejects.toThrow(VerificationError);
  });

  it("that are unavailable are not requested again within five seconds", async () => {
    issuer.responseOverrides.set("/keys", { status: 500, body: "" });
    const keys = createJwksKeyResolver(issuer.jwksUrl, { now });
    for (let at = 0; at < 3; at++) await expect(check(keys)).rejects.toThrow(KeysUnavailableError);
    expect(fetched()).toBe(1);
    issuer.responseOverrides.clear();
    time += 5000;
    expect(await check(keys)).toBe("ada");
  });

  it("are used for an hour while their source is unavailable", async () => {
    const keys = createJwksKeyResolver(issuer.jwksUrl, { now });
    const token = await issuer.signToken({ exp: 2 ** 33 });
    await check(keys, token);
    issuer.responseOverrides.set("/keys", { status: 503, body: "" });
    time += 3_599_999;
    expect(await check(keys, token)).toBe("ada");
    time += 5000;
    await expect(check(keys, token)).rejects.toThrow(KeysUnavailableError);
  });

  it.each([
    ["redirect", "/keys", { status: 302, body: "", headers: { location: "http://127.0.0.1:1/" } }],
    ["are endless", "/keys", { body: `{"keys":[],"x":"${"x".repeat(1024 * 1024)}"}` }],
    ["are not JSON", "/keys", { body: "<html>" }],
    ["are no object", "/keys", { body: "null" }],
    [
      "are of another issuer",
      DISCOVERY_PATH,
      { body: `{"issuer":"https://evil.example","jwks_uri":"https://evil.example"}` },
    ],
    ["have no place", DISCOVERY_PATH, { body: `{"issuer":"SELF"}` }],
    [
      "have a place that anybody can read along",
      DISCOVERY_PATH,
      { body: `{"issuer":"SELF","jwks_uri":"http://a.example"}` },
    ],
  ])("that %s are not used", async (_, path, canned) => {
    const body =
      path === DISCOVERY_PATH && canned.body === "{}" ? JSON.stringify({ issuer: issuer.url }) : canned.body;
    issuer.responseOverrides.set(path, { ...canned, body });
    await expect(check(createIssuerKeyResolver(issuer.url, { now }))).rejects.toThrow(KeysUnavailableError);
  });

  it("can be mixed with unsupported keys, which are ignored like symmetric keys", async () => {
    const { publicKey } = issuer.signer;
    const secret = { kty: "oct", k: "c2VjcmV0", kid: publicKey.kid, alg: "HS256" };
    issuer.responseOverrides.set("/keys", {
      body: JSON.stringify({ keys: [null, 7, { kty: "new" }, secret, publicKey] }),
    });
    expect(await check(createJwksKeyResolver(issuer.jwksUrl, { now }))).toBe("ada");
  });

  it("must be fetched over HTTPS, or from this machine", () => {
    for (const url of ["http://example.com/keys", "file:///keys", "keys", "http://127.0.0.1.evil.example/"]) {
      expect(() => createJwksKeyResolver(url)).toThrow("must be an https URL");
      expect(() => createIssuerKeyResolver(url)).toThrow("must be an https URL");
    }
    expect(() => createJwksKeyResolver("https://example.com/keys")).not.toThrow();
  });

  it("must be public keys when they are static", async () => {
    const secret = await generateSigningKey();
    expect(() => createStaticKeyResolver([secret])).toThrow("is not a public key");
    expect(() => createStaticKeyResolver({ keys: [{ kty: "oct", k: "c2VjcmV0" }] })).toThrow(
      "is not a public key",
    );
  });
});
