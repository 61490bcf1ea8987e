import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  importSigningKeyPair,
  generateSigningKey,
  createStaticKeyResolver,
  VerificationError,
  buildJwks,
  signJwt,
  verifyJwt,
  type JwtClaims,
} from "./index.ts";
import { SIGNATURE_ALGORITHMS } from "./signature-algorithms.ts";
import type { JwtValidationOptions } from "./jwt.ts";
import { FakeOidcProvider } from "./fake-oidc-provider.fixture.ts";

const encodeBase64UrlJson = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a JWT", () => {
  let issuer: FakeOidcProvider;
  let rules: JwtValidationOptions;
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const keys = (): ReturnType<typeof createStaticKeyResolver> =>
    createStaticKeyResolver(buildJwks([issuer.signer]));

  beforeAll(async () => {
    issuer = await FakeOidcProvider.start();
    rules = { issuer: issuer.url, audience: "agents" };
  });
  afterAll(() => issuer[Symbol.asyncDispose]());

  it.each(SIGNATURE_ALGORITHMS)("signed with %s is verified with the public key", async (alg) => {
    const signer = await importSigningKeyPair({ privateKey: await generateSigningKey(alg) });
    const token = await signJwt({ sub: "ada", exp: seconds() + 60 }, signer);
    const claims = await verifyJwt(token, createStaticKeyResolver(buildJwks([signer])), {});
    expect(claims).toMatchObject({ sub: "ada" });
    expect(JSON.stringify(buildJwks([signer]))).not.toMatch(/"(d|p|q|dp|dq|qi|k)":/);
  });

  it("contains its claims", async () => {
    const token = await issuer.signToken({ scope: "read" });
    expect(await verifyJwt(token, keys(), rules)).toMatchObject({ sub: "ada", scope: "read" });
  });

  it.each([
    ["is over", { exp: seconds() - 10 }],
    ["has not begun", { nbf: seconds() + 100 }],
    ["is for somebody else", { aud: "others" }],
    ["is of somebody else", { iss: "https://evil.example" }],
    ["has no audience", { aud: undefined }],
    ["never ends", { exp: undefined }],
  ])("is rejected that %s", async (_, claims) => {
    const token = await issuer.signToken(claims as JwtClaims);
    await expect(verifyJwt(token, keys(), rules)).rejects.toThrow(VerificationError);
  });

  it("can be late by the clock tolerance", async () => {
    const token = await issuer.signToken({ exp: seconds() - 3 });
    await expect(verifyJwt(token, keys(), rules)).resolves.toMatchObject({ sub: "ada" });
    const later = { ...rules, now: () => Date.now() + 3000 };
    await expect(verifyJwt(token, keys(), later)).rejects.toThrow(VerificationError);
  });

  it("is rejected when its type is wrong", async () => {
    const withType = { ...rules, typ: "at+jwt" };
    await expect(verifyJwt(await issuer.signToken({}, "at+jwt"), keys(), withType)).resolves.toBeDefined();
    await expect(verifyJwt(await issuer.signToken(), keys(), withType)).rejects.toThrow(VerificationError);
  });

  it("is rejected when it is modified, signed with another key, or malformed", async () => {
    const token = await issuer.signToken();
    const [head = "", , signature = ""] = token.split(".");
    const other = await importSigningKeyPair({
      privateKey: await generateSigningKey(),
      kid: issuer.signer.kid,
    });
    const forged = [
      `${head}.${encodeBase64UrlJson({ iss: issuer.url, aud: "agents", sub: "eve", exp: 2 ** 33 })}.${signature}`,
      await signJwt({ iss: issuer.url, aud: "agents", exp: seconds() + 60 }, other),
      `${token}.x`,
      token.slice(0, -5),
      "",
      "a.b.c",
      "💥",
    ];
    for (const each of forged)
      await expect(verifyJwt(each, keys(), rules)).rejects.toThrow(VerificationError);
  });

  it("is rejected without a signature, and with a public key as HMAC secret", async () => {
    const claims = encodeBase64UrlJson({ iss: issuer.url, aud: "agents", sub: "eve", exp: seconds() + 60 });
    const none = `${encodeBase64UrlJson({ alg: "none" })}.${claims}.`;
    const head = `${encodeBase64UrlJson({ alg: "HS256", kid: issuer.signer.kid })}.${claims}`;
    const secret = JSON.stringify(issuer.signer.publicKey);
    const confused = `${head}.${createHmac("sha256", secret).update(head).digest("base64url")}`;
    for (const each of [none, confused])
      await expect(verifyJwt(each, keys(), rules)).rejects.toThrow(VerificationError);
  });

  it("is rejected when it contains its own key", async () => {
    const eve = await importSigningKeyPair({ privateKey: await generateSigningKey() });
    const { SignJWT } = await import("jose");
    const token = await new SignJWT({ iss: issuer.url, aud: "agents", exp: seconds() + 60 })
      .setProtectedHeader({ alg: "ES256", jwk: eve.publicKey, jku: "https://evil.example" })
      .sign(eve.privateKey);
    await expect(verifyJwt(token, keys(), rules)).rejects.toThrow(VerificationError);
  });

  it("without a key id can match any of several keys", async () => {
    const { SignJWT } = await import("jose");
    const signers = await Promise.all(
      [1, 2, 3].map(async () => importSigningKeyPair({ privateKey: await generateSigningKey() })),
    );
    const [, , third] = signers;
    const token = (exp: number): Promise<string> =>
      new SignJWT({ sub: "ada", exp }).setProtectedHeader({ alg: "ES256" }).sign(third!.privateKey);
    expect(
      await verifyJwt(await token(seconds() + 60), createStaticKeyResolver(buildJwks(signers)), {}),
    ).toMatchObject({
      sub: "ada",
    });
    const others = createStaticKeyResolver(buildJwks(signers.slice(0, 2)));
    await expect(verifyJwt(await token(seconds() + 60), others, {})).rejects.toThrow(VerificationError);
    await expect(verifyJwt(await token(1), createStaticKeyResolver(buildJwks(signers)), {})).rejects.toThrow(
      VerificationError,
    );
  });

  it("cannot be verified with an unsupported algorithm", async () => {
    const token = await issuer.signToken();
    for (const algorithms of [["none"], ["HS256"], []] as never[]) {
      await expect(verifyJwt(token, keys(), { ...rules, algorithms })).rejects.toThrow(
        "is not a supported signature algorithm",
      );
    }
    await expect(verifyJwt(token, keys(), { ...rules, algorithms: ["RS256"] })).rejects.toThrow(
      VerificationError,
    );
  });
});
