import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { importSigningKeyPair, generateSigningKey, type JWK } from "../wire/keys/index.ts";
import { createServer, type Server } from "../server/index.ts";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  type CliTestProcessResult,
} from "./cli-test-process.fixture.ts";

let server: Server;
let url: string;
let cwd: string;
let key: JWK;

const runCardCommand = (...words: string[]): Promise<CliTestProcessResult> =>
  runCliInTestProcess(["card", ...words]);

beforeAll(async () => {
  key = await generateSigningKey();
  const { publicKey } = await importSigningKeyPair({ privateKey: key });
  const { publicKey: other } = await importSigningKeyPair({ privateKey: await generateSigningKey() });
  const { privateKey } = generateKeyPairSync("ed25519");
  cwd = await createTempTestDirectoryWithFiles({
    "private.json": JSON.stringify(key),
    "public.json": JSON.stringify(publicKey),
    "others.json": JSON.stringify({ keys: [other] }),
    "private.pem": privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    "junk.json": "junk",
  });
  const signed = agent({ name: "signed", description: "Has a card" }, async function* () {});
  server = createServer(signed, { store: "memory", cardSigning: { privateKey: key } });
  ({ url } = await server.listen());
});
afterAll(() => server.close());

describe("card get", () => {
  it("shows the card of an agent without a supported interface", async () => {
    const extensions = [{ uri: "urn:example:cite", required: true }];
    const strict = agent(
      { name: "strict", description: "Wants more", capabilities: { extensions } },
      async function* () {},
    );
    const host = createServer(strict, { store: "memory" });
    onTestFinished(() => host.close());
    const { url } = await host.listen();
    expect(await runCardCommand("get", url)).toMatchObject({
      code: 0,
      out: expect.stringContaining("strict") as string,
    });
    const sent = await runCliInTestProcess(["send", url, "hello"]);
    expect(sent).toMatchObject({
      code: 1,
      err: expect.stringContaining("pass --extension with its URI") as string,
    });
  });

  it("names the file that is not a card", async () => {
    const { code, err } = await runCardCommand("get", `${cwd}/junk.json`);
    expect(code).toBe(1);
    expect(err).toContain(`${cwd}/junk.json cannot be used: not an agent card.`);
    expect(err).not.toContain("http");
  });
});

describe("card get", () => {
  it("shows whether a trusted key signed the card, and no signature is no failure [CARD_GET_004]", async () => {
    const getSignature = async (...words: string[]): Promise<string | undefined> => {
      const { code, out } = await runCardCommand("get", ...words);
      expect(code).toBe(0);
      return /^Signature: (.*)$/m.exec(out)?.[1];
    };
    const trust = ["--key", `${cwd}/public.json`];
    expect(await getSignature(url, ...trust)).toBe(`verified, signed by ${key.kid} (ES256)`);
    expect(await getSignature(url, "--jwks", `${url}/.well-known/jwks.json`)).toMatch(/^verified/);
    expect(await getSignature(url)).toMatch(/^unverifiable without a trusted key/);
    expect(await getSignature(url, "--key", `${cwd}/others.json`)).toMatch(
      /^unverifiable: .*no trusted signature/,
    );
    const { out, err } = await runCardCommand("get", url, "-o", "json", ...trust);
    expect(err).toBe(`signature: verified, signed by ${key.kid} (ES256)\n`);
    const card = JSON.parse(out) as { description: string; signatures?: unknown };
    const files = await createTempTestDirectoryWithFiles({
      "changed.json": JSON.stringify({ ...card, description: "Has another card" }),
      "unsigned.json": JSON.stringify({ ...card, signatures: undefined }),
    });
    expect(await getSignature(`${files}/changed.json`, ...trust)).toMatch(/^unverifiable: /);
    expect(await getSignature(`${files}/unsigned.json`, ...trust)).toBe("absent");
    expect(await runCardCommand("get", url, "--key", `${cwd}/junk.json`)).toMatchObject({ code: 2 });
  });
});

describe("card verify", () => {
  it("reports the valid signature, with a local key and with a key at a URL [A-40]", async () => {
    for (const trust of [
      ["--key", `${cwd}/others.json`, "--key", `${cwd}/public.json`, "--strict"],
      ["--jwks", `${url}/.well-known/jwks.json`],
    ]) {
      const { code, out } = await runCardCommand("verify", url, ...trust);
      expect({ code, out }).toEqual({ code: 0, out: `Signed by: ${key.kid} (ES256)\nForm: specification\n` });
    }
    const { out } = await runCardCommand("verify", url, "--key", `${cwd}/public.json`, "-o", "json");
    expect(JSON.parse(out)).toEqual({ kid: key.kid, alg: "ES256", form: "specification" });
  });

  it("fails without a trusted signature, and without a trusted key [A-40]", async () => {
    const stranger = await runCardCommand("verify", url, "--key", `${cwd}/others.json`);
    expect([stranger.code, stranger.err]).toEqual([1, expect.stringContaining("has no trusted signature")]);
    expect(await runCardCommand("verify", url)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--key or --jwks") as string,
    });
    expect(await runCardCommand("verify", url, "--key", `${cwd}/private.json`)).toMatchObject({
      code: 2,
      err: expect.stringContaining("is not a public key") as string,
    });
    expect(await runCardCommand("verify", url, "--key", `${cwd}/junk.json`)).toMatchObject({ code: 2 });
    expect(await runCardCommand("verify", url, "--jwks", "http://keys.example/jwks.json")).toMatchObject({
      code: 2,
    });
  });
});

describe("card sign", () => {
  it("adds a valid signature to a card file [A-44, A-45]", async () => {
    const { out: card } = await runCardCommand("get", url, "-o", "json");
    const files = await createTempTestDirectoryWithFiles({ "card.json": card });
    const words = [
      "--key",
      `${cwd}/private.pem`,
      "--alg",
      "EdDSA",
      "--kid",
      "pem",
      "--jku",
      "https://a.example/jwks",
    ];
    const { code, out } = await runCardCommand("sign", `${files}/card.json`, ...words);
    expect(code).toBe(0);
    const { signatures } = JSON.parse(out) as { signatures: { protected: string }[] };
    expect(signatures).toHaveLength(2);
    expect(JSON.parse(Buffer.from(signatures[1]?.protected ?? "", "base64url").toString())).toEqual({
      alg: "EdDSA",
      typ: "JOSE",
      jku: "https://a.example/jwks",
      kid: "pem",
    });
    const again = await createTempTestDirectoryWithFiles({ "card.json": out });
    expect((await runCardCommand("verify", `${again}/card.json`, "--key", `${cwd}/public.json`)).code).toBe(
      0,
    );
    expect(await runCardCommand("sign", `${files}/card.json`, "--key", `${cwd}/private.pem`)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`set "alg"`) as string,
    });
    expect(await runCardCommand("sign", `${files}/card.json`, "--key", `${cwd}/junk.json`)).toMatchObject({
      code: 2,
    });
  });
});

describe("card validate", () => {
  it("accepts our own cards [A-02]", async () => {
    expect(await runCardCommand("validate", url)).toMatchObject({ code: 0, out: "Valid: yes\n" });
  });

  it("lists every violation with its position [A-02, A-11]", async () => {
    const card = JSON.parse((await runCardCommand("get", url, "-o", "json")).out) as { skills: object[] };
    const [skill] = card.skills;
    const wrong = { ...card, description: "", iconUrl: "icon.png", skills: [skill, skill] };
    const files = await createTempTestDirectoryWithFiles({ "card.json": JSON.stringify(wrong) });
    const { code, err } = await runCardCommand("validate", `${files}/card.json`);
    expect(code).toBe(1);
    expect(err).toContain("\n  description must not be empty");
    expect(err).toContain('\n  iconUrl must be an http or https URL, not "icon.png"');
    expect(err).toContain('\n  skills[1].id "signed" is used more than once');
  });
});
