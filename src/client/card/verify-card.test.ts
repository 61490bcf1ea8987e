import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { AgentCard as OfficialCard, generateAgentCardSignature, verifyAgentCardSignature } from "@a2a-js/sdk";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { generateSigningKey, type JWK } from "../../keys/index.ts";
import type { AgentCard } from "../../protocol/index.ts";
import { signCard } from "../../server/index.ts";
import { createCardVerifier, verifyCard } from "../index.ts";

const vector = JSON.parse(
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
/** Empty where it may be, and with a scheme that is required without scopes. */
const hollow: AgentCard = {
  ...card,
  description: "",
  securitySchemes: { b: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  securityRequirements: [{ schemes: { b: { list: [] } } }],
};

const encode = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString("base64url");
const publicHalf = ({ d: _secret, ...key }: JWK): JWK => key;

let key: JWK;
let old: JWK;
beforeAll(async () => {
  key = { ...(await generateSigningKey("ES256")), kid: "new" };
  old = { ...(await generateSigningKey("EdDSA")), kid: "old" };
});

describe("the signature of a card", () => {
  it.each(["ed25519", "es256"] as const)("of the vector holds, by %s [A-40, A-41, A-44]", async (name) => {
    const signed = { ...vector.card, signatures: vector.signatures };
    const { kid, form } = await verifyCard(signed, { keys: [publicHalf(vector[name])] });
    expect([kid, form]).toEqual([vector[name].kid, "specification"]);
  });

  it("of the vector is made by us, to the byte [A-41, A-44]", async () => {
    const { signatures: [first] = [] } = await signCard(vector.card, { privateKey: vector.ed25519 });
    expect(first?.signature).toBe(vector.signatures[0]?.signature);
    expect(JSON.parse(Buffer.from(first?.protected ?? "", "base64url").toString())).toEqual({
      alg: "EdDSA",
      kid: "rfc8037-ed25519",
      typ: "JOSE",
    });
  });

  it("holds for the card that was signed, and for no other [A-40]", async () => {
    const signed = await signCard(card, { privateKey: key, jku: "https://a.example/jwks.json" });
    const trust = { keys: [publicHalf(key)] };
    const found = { kid: "new", alg: "ES256", jku: "https://a.example/jwks.json", form: "specification" };
    expect(await verifyCard(signed, trust)).toEqual(found);
    expect(await verifyCard({ ...signed, ofAnotherVersion: 1 }, trust)).toEqual(found);
    for (const changed of [
      { description: "Evil" },
      { supportedInterfaces: [{ ...card.supportedInterfaces[0], url: "https://evil.example" }] },
      { capabilities: { streaming: true, pushNotifications: false } },
    ]) {
      await expect(verifyCard({ ...signed, ...changed }, trust)).rejects.toMatchObject({
        reason: "INVALID_AGENT_RESPONSE",
        message: expect.stringContaining(`The card of "signed" is signed by nobody who is trusted`) as string,
      });
    }
  });

  it("is over empty values too by the form of the specification, but not by that of the SDKs [A-46]", async () => {
    const signed = await signCard(card, { privateKey: key });
    const changed = { ...signed, securityRequirements: [{ schemes: {} }] };
    const trust = { keys: [publicHalf(key)] };
    expect(await verifyCard(changed, trust)).toMatchObject({ form: "sdk" });
    const strictly = verifyCard(changed, { ...trust, form: "specification" });
    await expect(strictly).rejects.toThrow("nobody who is trusted");
  });

  it("is one of several: any that holds suffices [A-45]", async () => {
    const signed = await signCard(card, [{ privateKey: old }, { privateKey: key }]);
    expect(signed.signatures).toHaveLength(2);
    expect(await verifyCard(signed, { keys: [publicHalf(old)] })).toMatchObject({ kid: "old" });
    expect(await verifyCard(signed, { keys: [publicHalf(key)] })).toMatchObject({ kid: "new" });
    const stranger = await generateSigningKey();
    await expect(verifyCard(signed, { keys: [publicHalf(stranger)] })).rejects.toThrow(
      "nobody who is trusted",
    );
  });

  it("is looked for in a bounded number of signatures [A-45]", async () => {
    const signed = await signCard(card, { privateKey: key });
    const junk = Array.from({ length: 16 }, () => ({
      protected: encode({ alg: "ES256", kid: "new" }),
      signature: "AAAA",
    }));
    const crowded = { ...signed, signatures: [...junk, ...(signed.signatures ?? [])] };
    await expect(verifyCard(crowded, { keys: [publicHalf(key)] })).rejects.toThrow("nobody who is trusted");
  });

  it("counts for nothing by a key that is not valid yet, or no more [A-45]", async () => {
    const signed = await signCard(card, { privateKey: key });
    const at = (keys: object, now: number): Promise<unknown> =>
      verifyCard(signed, { keys: [{ ...publicHalf(key), ...keys }], now: () => now * 1000 });
    expect(await at({ nbf: 100, exp: 200 }, 150)).toMatchObject({ kid: "new" });
    await expect(at({ nbf: 100 }, 99)).rejects.toThrow("nobody who is trusted");
    await expect(at({ exp: 200 }, 200)).rejects.toThrow("nobody who is trusted");
    await expect(at({ exp: "soon" }, 150)).rejects.toThrow("nobody who is trusted");
  });

  it("needs an asymmetric algorithm, and to name its key [A-44, A-45]", async () => {
    const secret = { kty: "oct", k: encode("secret"), kid: "new", alg: "HS256" };
    expect(() => createCardVerifier({ keys: [secret] })).toThrow("is not public");
    const trust = { keys: [publicHalf(key)], find: () => publicHalf(key) };
    for (const header of [
      { alg: "none", kid: "new" },
      { alg: "HS256", kid: "new" },
    ]) {
      const signatures = [{ protected: encode(header), signature: "" }];
      await expect(verifyCard({ ...card, signatures }, trust)).rejects.toThrow("nobody who is trusted");
    }
    await expect(verifyCard(card, trust)).rejects.toThrow("it is not signed");
    expect(() => createCardVerifier({})).toThrow("give the verifier trusted keys");
  });

  it("is verified by whom a function trusts, which sees what the signature says of its key [A-45]", async () => {
    const jku = "https://elsewhere.example/jwks.json";
    const signed = await signCard(card, { privateKey: key, jku });
    const asked: unknown[] = [];
    const find = (wanted: object): JWK | undefined => {
      asked.push(wanted);
      return asked.length === 1 ? publicHalf(key) : undefined;
    };
    expect(await verifyCard(signed, { find })).toMatchObject({ kid: "new" });
    expect(asked).toEqual([{ kid: "new", alg: "ES256", jku }]);
    await expect(verifyCard(signed, { find })).rejects.toThrow("its key is not trusted");
    const broken = new Error("no connection to the key store");
    await expect(verifyCard(signed, { find: () => Promise.reject(broken) })).rejects.toBe(broken);
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

  it("verify while they are there, and no longer once they are taken back [A-45]", async () => {
    let keys = [publicHalf(key), publicHalf(old)];
    const { url, asked } = await place(() => keys);
    let time = 0;
    const verify = createCardVerifier({ jwks: url, now: () => time });
    const signed = await signCard(card, { privateKey: key });
    expect(await verify(signed)).toMatchObject({ kid: "new" });
    expect(await verify(signed)).toMatchObject({ kid: "new" });
    expect(asked).toHaveLength(1);
    keys = [publicHalf(old)];
    time += 3_600_000;
    await expect(verify(signed)).rejects.toThrow("nobody who is trusted");
  });

  it("are never fetched because a card says where they are [A-45]", async () => {
    const { url, asked } = await place(() => [publicHalf(key)]);
    const signed = await signCard(card, { privateKey: key, jku: url });
    await expect(verifyCard(signed, { keys: [publicHalf(old)] })).rejects.toThrow("nobody who is trusted");
    expect(asked).toEqual([]);
  });

  it("must come over a connection that nobody else can answer [A-45]", () => {
    expect(() => createCardVerifier({ jwks: "http://keys.example/jwks.json" })).toThrow("https");
  });

  it("that can not be fetched say nothing of the card", async () => {
    const signed = await signCard(card, { privateKey: key });
    const fetch = (): Promise<Response> => Promise.reject(new TypeError("fetch failed"));
    const verify = verifyCard(signed, { jwks: "https://keys.example/jwks.json", fetch });
    await expect(verify).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });
});

describe("the official SDK", () => {
  // It prints every signature that does not hold.
  beforeAll(() => void vi.spyOn(console, "debug").mockImplementation(() => {}));
  afterAll(() => void vi.restoreAllMocks());

  const read = (json: object): OfficialCard => OfficialCard.fromJSON(json);
  const verifies = (json: unknown): Promise<void> =>
    verifyAgentCardSignature(() => Promise.resolve(publicHalf(key) as never))(json as OfficialCard);

  it("verifies a card that we have signed [A-40, A-46]", async () => {
    await expect(verifies(read(await signCard(card, { privateKey: key })))).resolves.toBeUndefined();
  });

  it("verifies one with empty values as it was served, by the second of its signatures [A-46]", async () => {
    const signed = await signCard(hollow, { privateKey: key });
    expect(signed.signatures).toHaveLength(2);
    await expect(verifies(signed)).resolves.toBeUndefined();
    await expect(verifies({ ...signed, name: "evil" })).rejects.toThrow();
    expect(await verifyCard(signed, { keys: [publicHalf(key)] })).toMatchObject({ form: "specification" });
  });

  it("signs cards that we verify, by the form of the specification where that is the same [A-46]", async () => {
    const sign = generateAgentCardSignature(key, { alg: "ES256", kid: "new", typ: "JOSE" });
    const trust = { keys: [publicHalf(key)] };
    const plain = OfficialCard.toJSON(await sign(read(card)));
    expect(await verifyCard(plain, trust)).toMatchObject({ kid: "new", form: "specification" });
    const { securitySchemes: _, ...unsecured } = hollow;
    const emptied = OfficialCard.toJSON(await sign(read(unsecured)));
    expect(await verifyCard(emptied, trust)).toMatchObject({ kid: "new", form: "sdk" });
    await expect(verifyCard(emptied, { ...trust, form: "specification" })).rejects.toThrow(
      "nobody who is trusted",
    );
  });
});
