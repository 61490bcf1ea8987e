import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  importSigningKeyPair,
  generateSigningKey,
  createStaticKeyResolver,
  VerificationError,
  buildJwks,
  signJws,
  verifyJws,
  type SignatureAlgorithm,
} from "./index.ts";

const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const decodeBase64UrlJson = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
const ALGORITHMS: SignatureAlgorithm[] = ["ES256", "EdDSA", "RS256", "PS256"];

describe("a signature over bytes", () => {
  it.each(ALGORITHMS)("with %s is valid for those bytes and no others", async (alg) => {
    const signer = await importSigningKeyPair({ privateKey: await generateSigningKey(alg), kid: "k1" });
    const keys = createStaticKeyResolver(buildJwks([signer]));
    const made = await signJws(encodeUtf8("card"), signer, { typ: "JOSE" });
    expect(decodeBase64UrlJson(made.protected)).toEqual({ typ: "JOSE", alg, kid: "k1" });
    expect(await verifyJws(encodeUtf8("card"), made, keys)).toEqual({ typ: "JOSE", alg, kid: "k1" });
    await expect(verifyJws(encodeUtf8("Card"), made, keys)).rejects.toThrow(VerificationError);
    await expect(verifyJws(encodeUtf8("card"), { ...made, signature: "AAAA" }, keys)).rejects.toThrow(
      VerificationError,
    );
  });

  it("is rejected when a member is missing or not text", async () => {
    const signer = await importSigningKeyPair({ privateKey: await generateSigningKey() });
    const keys = createStaticKeyResolver(buildJwks([signer]));
    const made = await signJws(encodeUtf8("card"), signer);
    const none = Buffer.from(`{"alg":"none"}`).toString("base64url");
    for (const wrong of [
      { protected: "" },
      { protected: none },
      { protected: 7 },
      { signature: undefined },
    ]) {
      await expect(verifyJws(encodeUtf8("card"), { ...made, ...(wrong as object) }, keys)).rejects.toThrow(
        VerificationError,
      );
    }
  });
});

describe("a signer", () => {
  it("is created from a JWK, which determines the algorithm, with the thumbprint as key id", async () => {
    const key = await generateSigningKey("EdDSA");
    const { kid: _, alg: __, ...bare } = key;
    const signer = await importSigningKeyPair({ privateKey: bare });
    expect(signer).toMatchObject({
      alg: "EdDSA",
      kid: key.kid,
      publicKey: { kty: "OKP", use: "sig", kid: key.kid },
    });
  });

  it("is created from PKCS #8, as openssl writes it", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    await expect(importSigningKeyPair({ privateKey: pem })).rejects.toThrow(`set "alg"`);
    const signer = await importSigningKeyPair({ privateKey: pem, alg: "PS256" });
    const made = await signJws(encodeUtf8("card"), signer);
    expect(
      await verifyJws(encodeUtf8("card"), made, createStaticKeyResolver(buildJwks([signer]))),
    ).toMatchObject({
      alg: "PS256",
    });
    expect(Object.keys(signer.publicKey).toSorted()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  });

  it("requires a private key, and no symmetric key", async () => {
    const { publicKey } = await importSigningKeyPair({ privateKey: await generateSigningKey() });
    await expect(importSigningKeyPair({ privateKey: publicKey })).rejects.toThrow("requires a private key");
    await expect(importSigningKeyPair({ privateKey: { kty: "oct", k: "c2VjcmV0" } })).rejects.toThrow(
      `set "alg"`,
    );
    const secret = { kty: "oct", k: "c2VjcmV0", alg: "HS256" };
    await expect(importSigningKeyPair({ privateKey: secret })).rejects.toThrow(
      "is not a supported signature algorithm",
    );
  });
});
