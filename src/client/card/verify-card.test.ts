import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { AgentCard as OfficialCard, generateAgentCardSignature, verifyAgentCardSignature } from "@a2a-js/sdk";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { generateSigningKey, type JWK } from "../../wire/keys/index.ts";
import type { AgentCard } from "../../protocol/index.ts";
import { signCard } from "../../server/index.ts";
import { createCardVerifier, verifyCard } from "../index.ts";

const testVector = JSON.parse(
  readFileSync(new URL("../../../test/vectors/agent-card.json", import.meta.url), "utf8"),
) as {
  card: AgentCard;
  signatures: { protected: string; signature: string }[];
  ed25519: JWK;
  es256: JWK;
};

const card: AgentCard = {
  name: "signed",
  description: "Größe: 😀",
  version: "1.0.0",
  supportedInterfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "S", description: "d", tags: ["t"] }],
};
/** A card with empty values, and with a required scheme without scopes. */
const cardWithEmptyValues: AgentCard = {
  ...card,
  description: "",
  securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { b: { list: [] } } }],
};

const encodeBase64UrlJson = (json: unknown): string =>
  Buffer.from(JSON.stringify(json)).toString("base64url");
const toPublicKey = ({ d: _secret, ...key }: JWK): JWK => key;

let currentKey: JWK;
let oldKey: JWK;
beforeAll(async () => {
  currentKey = { ...(await generateSigningKey("ES256")), kid: "new" };
  oldKey = { ...(await generateSigningKey("EdDSA")), kid: "old" };
});

describe("the signature of a card", () => {
  it.each(["ed25519", "es256"] as const)(
    "of the test vector is valid with %s [A-40, A-41, A-44]",
    async (name) => {
      const signed = { ...testVector.card, signatures: testVector.signatures };
      const { kid, canonicalForm } = await verifyCard(signed, { keys: [toPublicKey(testVector[name])] });
      expect([kid, canonicalForm]).toEqual([testVector[name].kid, "specification"]);
    },
  );

  it("of the test vector is reproduced byte for byte [A-41, A-44]", async () => {
    const { signatures: [first] = [] } = await signCard(testVector.card, { privateKey: testVector.ed25519 });
    expect(first?.signature).toBe(testVector.signatures[0]?.signature);
    expect(JSON.parse(Buffer.from(first?.protected ?? "", "base64url").toString())).toEqual({
      alg: "EdDSA",
      kid: "rfc8037-ed25519",
      typ: "JOSE",
    });
  });

  it("is valid only for the signed card [A-40] [SEC-39]", async () => {
    const signed = await signCard(card, { privateKey: currentKey, jku: "https://a.example/jwks.json" });
    const trust = { keys: [toPublicKey(currentKey)] };
    const found = {
      kid: "new",
      alg: "ES256",
      jku: "https://a.example/jwks.json",
      canonicalForm: "specification",
    };
    expect(await verifyCard(signed, trust)).toEqual(found);
    expect(await verifyCard({ ...signed, ofAnotherVersion: 1 }, trust)).toEqual(found);
    for (const changed of [
      { description: "Evil" },
      { supportedInterfaces: [{ ...card.supportedInterfaces[0], url: "https://evil.example" }] },
      { capabilities: { streaming: true, pushNotifications: false } },
    ]) {
      await expect(verifyCard({ ...signed, ...changed }, trust)).rejects.toMatchObject({
        reason: "INVALID_AGENT_RESPONSE",
        message: expect.stringContaining(`The card of "signed" has no trusted signature`) as string,
      });
    }
  });

  it("covers empty values in the form of the specification, but not in the form of the SDKs [A-46]", async () => {
    const signed = await signCard(card, { privateKey: currentKey });
    const changed = { ...signed, securityRequirements: [{ schemes: {} }] };
    const trust = { keys: [toPublicKey(currentKey)] };
    expect(await verifyCard(changed, trust)).toMatchObject({ canonicalForm: "sdk" });
    const strictly = verifyCard(changed, { ...trust, canonicalForm: "specification" });
    await expect(strictly).rejects.toThrow("no trusted signature");
  });

  it("is one of several, and one valid signature suffices [A-45]", async () => {
    const signed = await signCard(card, [{ privateKey: oldKey }, { privateKey: currentKey }]);
    expect(signed.signatures).toHaveLength(2);
    expect(await verifyCard(signed, { keys: [toPublicKey(oldKey)] })).toMatchObject({ kid: "old" });
    expect(await verifyCard(signed, { keys: [toPublicKey(currentKey)] })).toMatchObject({ kid: "new" });
    const stranger = await generateSigningKey();
    await expect(verifyCard(signed, { keys: [toPublicKey(stranger)] })).rejects.toThrow(
      "no trusted signature",
    );
  });

  it("is searched in a limited number of signatures [A-45]", async () => {
    const signed = await signCard(card, { privateKey: currentKey });
    const junk = Array.from({ length: 16 }, () => ({
      protected: encodeBase64UrlJson({ alg: "ES256", kid: "new" }),
      signature: "AAAA",
    }));
    const crowded = { ...signed, signatures: [...junk, ...(signed.signatures ?? [])] };
    await expect(verifyCard(crowded, { keys: [toPublicKey(currentKey)] })).rejects.toThrow(
      "no trusted signature",
    );
  });

  it("is invalid with a key that is expired or not yet valid [A-45]", async () => {
    const signed = await signCard(card, { privateKey: currentKey });
    const at = (keys: object, currentTime: number): Promise<unknown> =>
      verifyCard(signed, { keys: [{ ...toPublicKey(currentKey), ...keys }], now: () => currentTime * 1000 });
    expect(await at({ nbf: 100, exp: 200 }, 150)).toMatchObject({ kid: "new" });
    await expect(at({ nbf: 100 }, 99)).rejects.toThrow("no trusted signature");
    await expect(at({ exp: 200 }, 200)).rejects.toThrow("no trusted signature");
    await expect(at({ exp: "soon" }, 150)).rejects.toThrow("no trusted signature");
  });

  it("requires an asymmetric algorithm and a key id [A-44, A-45]", async () => {
    const secret = { kty: "oct", k: encodeBase64UrlJson("secret"), kid: "new", alg: "HS256" };
    expect(() => createCardVerifier({ keys: [secret] })).toThrow("is not a public key");
    const trust = { keys: [toPublicKey(currentKey)], findKey: () => toPublicKey(currentKey) };
    for (const header of [
      { alg: "none", kid: "new" },
      { alg: "HS256", kid: "new" },
    ]) {
      const signatures = [{ protected: encodeBase64UrlJson(header), signature: "" }];
      await expect(verifyCard({ ...card, signatures }, trust)).rejects.toThrow("no trusted signature");
    }
    await expect(verifyCard(card, trust)).rejects.toThrow("it is not signed");
    expect(() => createCardVerifier({})).toThrow("The card verifier trusts no keys");
  });

  it("is verified with the key that a lookup function returns for its header [A-45]", async () => {
    const jku = "https://elsewhere.example/jwks.json";
    const signed = await signCard(card, { privateKey: currentKey, jku });
    const asked: unknown[] = [];
    const find = (expected: object): JWK | undefined => {
      asked.push(expected);
      return asked.length === 1 ? toPublicKey(currentKey) : undefined;
    };
    expect(await verifyCard(signed, { findKey: find })).toMatchObject({ kid: "new" });
    expect(asked).toEqual([{ kid: "new", alg: "ES256", jku }]);
    await expect(verifyCard(signed, { findKey: find })).rejects.toThrow("its key is not trusted");
    const broken = new Error("no connection to the key store");
    await expect(verifyCard(signed, { findKey: () => Promise.reject(broken) })).rejects.toBe(broken);
  });
});

describe("keys at a URL", () => {
  let http: Server | undefined;
  afterEach(() => http?.close());

  const place = async (keys: () => JWK[]): Promise<{ url: string; asked: string[] }> => {
    const asked: string[] = [];
    http = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: keys() }));
    });
    await new Promise<void>((resolve) => http?.listen(0, "127.0.0.1", resolve));
    return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/jwks.json`, asked };
  };

  it("verify signatures until they are removed from the key set [A-45]", async () => {
    let keys = [toPublicKey(currentKey), toPublicKey(oldKey)];
    const { url, asked } = await place(() => keys);
    let time = 0;
    const verify = createCardVerifier({ jwksUrls: url, now: () => time });
    const signed = await signCard(card, { privateKey: currentKey });
    expect(await verify(signed)).toMatchObject({ kid: "new" });
    expect(await verify(signed)).toMatchObject({ kid: "new" });
    expect(asked).toHaveLength(1);
    keys = [toPublicKey(oldKey)];
    time += 3_600_000;
    await expect(verify(signed)).rejects.toThrow("no trusted signature");
  });

  it("are never fetched from a URL in the card [A-45]", async () => {
    const { url, asked } = await place(() => [toPublicKey(currentKey)]);
    const signed = await signCard(card, { privateKey: currentKey, jku: url });
    await expect(verifyCard(signed, { keys: [toPublicKey(oldKey)] })).rejects.toThrow("no trusted signature");
    expect(asked).toEqual([]);
  });

  it("require a secure connection [A-45]", () => {
    expect(() => createCardVerifier({ jwksUrls: "http://keys.example/jwks.json" })).toThrow("https");
  });

  it("that cannot be fetched do not invalidate the card", async () => {
    const signed = await signCard(card, { privateKey: currentKey });
    const fetch = (): Promise<Response> => Promise.reject(new TypeError("fetch failed"));
    const verify = verifyCard(signed, { jwksUrls: "https://keys.example/jwks.json", fetch });
    await expect(verify).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });
});

describe("the official SDK", () => {
  // The SDK logs every invalid signature.
  beforeAll(() => void vi.spyOn(console, "debug").mockImplementation(() => {}));
  afterAll(() => void vi.restoreAllMocks());

  const read = (json: object): OfficialCard => OfficialCard.fromJSON(json);
  const verifies = (json: unknown): Promise<void> =>
    verifyAgentCardSignature(() => Promise.resolve(toPublicKey(currentKey) as never))(json as OfficialCard);

  it("verifies a card that Colloquy has signed [A-40, A-46]", async () => {
    await expect(verifies(read(await signCard(card, { privateKey: currentKey })))).resolves.toBeUndefined();
  });

  it("verifies a served card with empty values by its second signature [A-46]", async () => {
    const signed = await signCard(cardWithEmptyValues, { privateKey: currentKey });
    expect(signed.signatures).toHaveLength(2);
    await expect(verifies(signed)).resolves.toBeUndefined();
    await expect(verifies({ ...signed, name: "evil" })).rejects.toThrow();
    expect(await verifyCard(signed, { keys: [toPublicKey(currentKey)] })).toMatchObject({
      canonicalForm: "specification",
    });
  });

  it("signs cards that Colloquy verifies, in the form of the specification if both forms are equal [A-46]", async () => {
    const sign = generateAgentCardSignature(currentKey, { alg: "ES256", kid: "new", typ: "JOSE" });
    const trust = { keys: [toPublicKey(currentKey)] };
    const plain = OfficialCard.toJSON(await sign(read(card)));
    expect(await verifyCard(plain, trust)).toMatchObject({ kid: "new", canonicalForm: "specification" });
    const { securitySchemes: _, ...unsecured } = cardWithEmptyValues;
    const emptied = OfficialCard.toJSON(await sign(read(unsecured)));
    expect(await verifyCard(emptied, trust)).toMatchObject({ kid: "new", canonicalForm: "sdk" });
    await expect(verifyCard(emptied, { ...trust, canonicalForm: "specification" })).rejects.toThrow(
      "no trusted signature",
    );
  });
});
