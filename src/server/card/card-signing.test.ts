import { afterEach, describe, expect, it } from "vitest";
import { connect, createCardVerifier, verifyCard } from "../../client/index.ts";
import { importSigningKeyPair, generateSigningKey } from "../../wire/keys/index.ts";
import type { AgentCard } from "../../protocol/index.ts";
import { createServer, type Server } from "../index.ts";
import { messageCommandTestAgent } from "../server.fixture.ts";

let server: Server;
afterEach(() => server.close());

const V1_HEADERS = { "a2a-version": "1.0" };

const fetchCard = async (
  origin: string,
  headers: Record<string, string> = V1_HEADERS,
): Promise<{ card: AgentCard; etag: string | null }> => {
  const response = await server.fetch(new Request(`${origin}/.well-known/agent-card.json`, { headers }));
  return { card: (await response.json()) as AgentCard, etag: response.headers.get("etag") };
};

describe("a server that signs its cards", () => {
  it("is trusted by 0.3 clients too, which start from a 1.0 card [A-40, B-09]", async () => {
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: { privateKey: await generateSigningKey() },
    });
    const { url } = await server.listen();
    const verify = createCardVerifier({ jwksUrls: `${url}/.well-known/jwks.json` });
    const remote = await connect(url, { verifyCard: verify, version: "0.3" });
    expect(remote.agentInterface.protocolVersion).toBe("0.3");
    expect(await remote.send("echo hi")).toMatchObject({
      task: { status: { state: "TASK_STATE_COMPLETED" } },
    });
  });

  it("publishes a key once that also signs push notifications [A-44, I-12]", async () => {
    const privateKey = await generateSigningKey();
    const { d: _secret, ...key } = privateKey;
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: { privateKey },
      push: { signing: { privateKey } },
    });
    const response = await server.fetch(new Request("http://one.test/.well-known/jwks.json"));
    expect(await response.json()).toEqual({ keys: [key] });
  });

  it("signs each card with the content that it serves [A-40, A-44]", async () => {
    const privateKey = await generateSigningKey();
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: { privateKey, kid: "k1" },
    });
    const { publicKey } = await importSigningKeyPair({ privateKey, kid: "k1" });
    const one = await fetchCard("http://127.0.0.1:1");
    const other = await fetchCard("https://localhost:2");
    expect(one.card.supportedInterfaces[0]?.url).toBe("http://127.0.0.1:1/a2a/parrot");
    for (const { card } of [one, other]) {
      expect(card.signatures).toHaveLength(1);
      expect(await verifyCard(card, { keys: [publicKey] })).toMatchObject({
        kid: "k1",
        canonicalForm: "specification",
      });
    }
    const moved = { ...other.card, signatures: one.card.signatures };
    await expect(verifyCard(moved, { keys: [publicKey] })).rejects.toThrow("no trusted signature");
    // The card is signed only once. Two ES256 signatures of the same card would differ.
    expect(await fetchCard("http://127.0.0.1:1")).toEqual(one);
  });

  it("adds a signature by each of its keys [A-45]", async () => {
    const keys = [await generateSigningKey("EdDSA"), await generateSigningKey("ES256")];
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: keys.map((privateKey) => ({ privateKey })),
    });
    const { card } = await fetchCard("http://127.0.0.1:1");
    for (const privateKey of keys) {
      const { publicKey, kid } = await importSigningKeyPair({ privateKey });
      expect(await verifyCard(card, { keys: [publicKey] })).toMatchObject({ kid });
    }
  });

  it("signs only 1.0 cards, because other formats have no canonical form [A-40, A-41]", async () => {
    const signing = { privateKey: await generateSigningKey() };
    server = createServer(messageCommandTestAgent, { store: "memory", cardSigning: signing });
    for (const headers of [{ "a2a-version": "0.3" }, {}]) {
      expect((await fetchCard("http://127.0.0.1:1", headers)).card).not.toHaveProperty("signatures");
    }
    const pure = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: signing,
      cardFormat: "v1",
    });
    const response = await pure.fetch(new Request("http://127.0.0.1:1/.well-known/agent-card.json"));
    expect(await response.json()).toHaveProperty("signatures");
    await pure.close();
  });

  it("publishes the public keys of its cards [A-45]", async () => {
    const privateKey = await generateSigningKey();
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: { privateKey },
      push: { signing: { privateKey: await generateSigningKey() } },
    });
    const { url } = await server.listen();
    const card: unknown = await (
      await fetch(`${url}/.well-known/agent-card.json`, { headers: V1_HEADERS })
    ).json();
    const jwks = `${url}/.well-known/jwks.json`;
    expect(await verifyCard(card, { jwksUrls: jwks })).toMatchObject({ kid: privateKey.kid });
    const { keys } = (await (await fetch(jwks)).json()) as { keys: object[] };
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key).not.toHaveProperty("d");
  });

  it("does not sign an address from the Host header, and requires publicUrl beyond loopback [A-40, A-44]", async () => {
    const signing = { privateKey: await generateSigningKey() };
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: signing,
      allowUnauthenticated: true,
    });
    for (const origin of ["https://evil.example", "http://127.0.0.1.evil.example", "http://localhost.evil"]) {
      const response = await server.fetch(
        new Request(`${origin}/.well-known/agent-card.json`, { headers: V1_HEADERS }),
      );
      expect(response.status).toBe(403);
      expect(await response.text()).toContain(`to the public URL of the server`);
    }
    expect((await fetchCard("http://[::1]:3")).card).toHaveProperty("signatures");
    await expect(server.listen({ host: "0.0.0.0" })).rejects.toThrow(`without "publicUrl"`);
    const publicUrl = "https://agents.example/here/";
    const published = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: signing,
      publicUrl,
    });
    const request = new Request("https://evil.example/.well-known/agent-card.json", { headers: V1_HEADERS });
    const card = (await (await published.fetch(request)).json()) as AgentCard;
    expect(card.supportedInterfaces[0]?.url).toBe("https://agents.example/here/a2a/parrot");
    expect(card.signatures).toHaveLength(1);
    await published.close();
  });

  it("does not listen with a key that cannot sign", async () => {
    const { publicKey } = await importSigningKeyPair({ privateKey: await generateSigningKey() });
    server = createServer(messageCommandTestAgent, {
      store: "memory",
      cardSigning: { privateKey: publicKey },
    });
    await expect(server.listen()).rejects.toThrow("requires a private key");
  });
});
