import { afterEach, describe, expect, it } from "vitest";
import { generateSigningKey, importSigningKeyPair, type JWK } from "../../wire/keys/index.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type { ConsoleAgentList, ConsoleCardReport, ConsoleCardSignature } from "../console-api/index.ts";
import { checkCardSignatures } from "./check-card-signatures.ts";
import { ConsoleTestServer } from "./console.fixture.ts";
import type { ConsoleOptions } from "./console.ts";

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const action of close.toReversed()) await action();
  close = [];
});

async function serveRemote(options: ServerOptions): Promise<string> {
  const remote: Server = createServer(
    { parrot: messageCommandTestAgent },
    { store: "memory", observer: false, ...options },
  );
  const { url } = await remote.listen();
  close.push(() => remote.close());
  return `${url}/a2a/parrot`;
}

async function readSignature(
  agentUrl: string,
  options: Partial<ConsoleOptions> = {},
): Promise<ConsoleCardSignature> {
  const console = await ConsoleTestServer.start(
    {},
    {},
    { mode: "console", agentUrls: [agentUrl], ...options },
  );
  close.push(() => console.close());
  const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
  return (await console.readJson<ConsoleCardReport>(`GET agents/${agents[0]?.id}/card`)).signature;
}

const createTrust = async (privateKey: JWK, kid: string): Promise<{ cardTrust: { keys: JWK[] } }> => ({
  cardTrust: { keys: [(await importSigningKeyPair({ privateKey, kid })).publicKey] },
});

describe("the console's report on the signature of a remote card", () => {
  it("is verified by a trusted key [A-40, A-44]", async () => {
    const privateKey = await generateSigningKey();
    const url = await serveRemote({ cardSigning: { privateKey, kid: "k1" } });
    expect(await readSignature(url, await createTrust(privateKey, "k1"))).toEqual({
      status: "verified",
      keyIds: ["k1"],
      detail: expect.stringMatching(/^The trusted key k1 \(\w+\) has signed the card\.$/) as unknown,
    });
  });

  it("is self-signed with a key that only the agent publishes", async () => {
    const privateKey = await generateSigningKey();
    const url = await serveRemote({ cardSigning: { privateKey, kid: "k1" } });
    const keysUrl = `${new URL(url).origin}/.well-known/jwks.json`;
    const expected = {
      status: "self-signed",
      keyIds: ["k1"],
      detail: expect.stringContaining(keysUrl) as unknown,
    };
    expect(await readSignature(url)).toEqual(expected);
    // A key with another id is trusted.
    expect(await readSignature(url, await createTrust(await generateSigningKey(), "other"))).toEqual(
      expected,
    );
  });

  it("is invalid if the signature does not match the trusted key with its id", async () => {
    const url = await serveRemote({ cardSigning: { privateKey: await generateSigningKey(), kid: "k1" } });
    expect(await readSignature(url, await createTrust(await generateSigningKey(), "k1"))).toMatchObject({
      status: "invalid",
      keyIds: ["k1"],
      detail: expect.stringContaining("signature verification failed") as unknown,
    });
  });

  it("is unsigned without a signature", async () => {
    expect(await readSignature(await serveRemote({}))).toEqual({ status: "unsigned", keyIds: [] });
  });

  it("is self-signed for an agent of the server that mounts the console", async () => {
    const cardSigning = { privateKey: await generateSigningKey(), kid: "own" };
    const console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent }, { cardSigning });
    close.push(() => console.close());
    const report = await console.readJson<ConsoleCardReport>("GET agents/parrot/card");
    expect(report.signature).toMatchObject({ status: "self-signed", keyIds: ["own"] });
  });
});

describe("a check of card signatures", () => {
  const encode = (header: object): string => Buffer.from(JSON.stringify(header)).toString("base64url");
  const json = { name: "a", supportedInterfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC" }] };

  it("fetches keys only from the origin of the card, and only over HTTPS", async () => {
    const fetched: string[] = [];
    const fetchKeys: typeof fetch = async (input) => {
      fetched.push(String(input instanceof Request ? input.url : input));
      return Response.json({ keys: [] });
    };
    const check = (cardUrl: string, jku: string): Promise<ConsoleCardSignature> => {
      const signatures = [{ protected: encode({ alg: "ES256", kid: "k", jku }), signature: "AA" }];
      return checkCardSignatures({ json, cardUrl, signatures }, { fetch: fetchKeys });
    };
    expect(await check("https://a.example/card", "https://evil.example/keys")).toMatchObject({
      status: "unverified",
      detail: "The console has no key for the signature.",
    });
    await check("https://a.example/card", "https://a.example/keys");
    expect(fetched).toEqual(["https://a.example/.well-known/jwks.json", "https://a.example/keys"]);
    expect(await check("http://a.example/card", "http://a.example/keys")).toMatchObject({
      status: "unverified",
      detail: expect.stringContaining("must be an https URL") as unknown,
    });
    expect(fetched).toHaveLength(2);
  });

  it("reports keys that cannot be fetched, and checks a limited number of signatures", async () => {
    let requests = 0;
    const failingFetch: typeof fetch = async () => {
      requests += 1;
      return new Response("", { status: 503 });
    };
    const signature = { protected: encode({ alg: "ES256", kid: "k" }), signature: "AA" };
    const signatures = Array.from({ length: 100 }, () => signature);
    const result = await checkCardSignatures(
      { json, cardUrl: "https://a.example/card", signatures },
      { fetch: failingFetch },
    );
    expect(result).toMatchObject({ status: "unverified", detail: expect.stringContaining("503") as unknown });
    expect(requests).toBe(8);
  });

  it("does not call the origin of a recorded card, and does not judge cards of A2A 0.3", async () => {
    const signatures = [{ protected: "no JSON", signature: "AA" }];
    expect(await checkCardSignatures({ json, cardUrl: "https://a.example/", signatures }, {})).toEqual({
      status: "unverified",
      keyIds: ["unknown"],
      detail: "The console has no trusted key.",
    });
    const earlier = { name: "a", url: "https://a.example" };
    expect(await checkCardSignatures({ json: earlier, cardUrl: "", signatures }, {})).toMatchObject({
      status: "unverified",
      detail: expect.stringContaining("1.0") as unknown,
    });
  });
});
