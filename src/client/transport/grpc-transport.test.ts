import { setTimeout as delay } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { A2AError, getText } from "../../protocol/index.ts";
import {
  ADA_CERT,
  ADA_TLS_PRIVATE_KEY,
  TEST_CA_CERT,
  TEST_SERVER_CERT,
  TEST_SERVER_TLS_PRIVATE_KEY,
} from "../../server/auth/certificates.fixture.ts";
import { mtls } from "../../server/auth/index.ts";
import { createServer, type GrpcOptions, type ServerOptions } from "../../server/index.ts";
import { createBreakingProxy } from "../breaking-proxy.fixture.ts";
import { parseGrpcAddress } from "./parse-grpc-address.ts";
import { collect, connect, type ConnectOptions, type A2AClient } from "../index.ts";
import { scriptedAgent } from "../scripted-agent.fixture.ts";
import { requireTaskResponseInTest } from "../a2a-client.contract.ts";

interface ConnectionSetup {
  readonly server?: ServerOptions;
  readonly grpc?: GrpcOptions;
  readonly client?: ConnectOptions;
}

/** Starts a server for the duration of the test, and a client that uses gRPC. */
async function connectOverGrpc({ server: options, grpc = {}, client }: ConnectionSetup = {}): Promise<{
  remote: A2AClient;
  grpcPort: number;
}> {
  const server = createServer(scriptedAgent, { store: "memory", ...options });
  const address = await server.listen({ grpc });
  onTestFinished(() => server.close({ graceMs: 50 }));
  const remote = await connect(address.url, { binding: "GRPC", ...client });
  return { remote, grpcPort: address.grpc?.port ?? 0 };
}

describe("a gRPC address", () => {
  it.each([
    ["127.0.0.1:4100", "127.0.0.1:4100", false],
    ["localhost:4100", "localhost:4100", false],
    ["[::1]:4100", "[::1]:4100", false],
    ["agents.example.com:443", "agents.example.com:443", true],
    ["agents.example.com", "agents.example.com:443", true],
    ["https://agents.example.com", "agents.example.com:443", true],
    ["https://localhost:4100", "localhost:4100", true],
    ["grpcs://agents.example.com:7", "agents.example.com:7", true],
    ["grpc://agents.example.com:80", "agents.example.com:80", false],
    ["http://agents.example.com/", "agents.example.com:80", false],
    ["http://localhost:41442", "localhost:41442", false],
  ])("%s is parsed as %s with TLS: %s [A-06]", (input, address, tls) => {
    expect(parseGrpcAddress(input)).toEqual({ address, tls });
  });

  it.each(["", "ftp://x:1", "a b:1", ":4100"])("%j is invalid [A-06]", (input) => {
    expect(() => parseGrpcAddress(input)).toThrow(/is not a gRPC address; use the form/);
  });
});

describe("over gRPC, the client", () => {
  it("uses TLS, and accepts only trusted certificates [E-01, M-07]", async () => {
    const grpc = { tls: { key: TEST_SERVER_TLS_PRIVATE_KEY, cert: TEST_SERVER_CERT } };
    const { remote } = await connectOverGrpc({ grpc, client: { grpc: { tls: true, ca: TEST_CA_CERT } } });
    expect(requireTaskResponseInTest(await remote.send("count")).status.state).toBe("TASK_STATE_COMPLETED");
    const stranger = await connectOverGrpc({ grpc, client: { grpc: { tls: true } } });
    await expect(stranger.remote.send("count")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("presents a certificate if the server requests one [M-01]", async () => {
    const grpc = {
      tls: { key: TEST_SERVER_TLS_PRIVATE_KEY, cert: TEST_SERVER_CERT, clientCa: TEST_CA_CERT },
    };
    const server = { authenticate: mtls() };
    const known = { tls: true, ca: TEST_CA_CERT, cert: ADA_CERT, key: ADA_TLS_PRIVATE_KEY };
    const { remote } = await connectOverGrpc({ server, grpc, client: { grpc: known } });
    expect(requireTaskResponseInTest(await remote.send("count")).status.state).toBe("TASK_STATE_COMPLETED");
    const unknown = await connectOverGrpc({
      server,
      grpc,
      client: { grpc: { tls: true, ca: TEST_CA_CERT } },
    });
    await expect(unknown.remote.send("count")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("authenticates calls, and retries with new credentials after a rejection [E-02, E-05]", async () => {
    const tokens = ["old", "new"];
    const seen: (string | undefined)[] = [];
    const { remote } = await connectOverGrpc({
      server: {
        authenticate({ header }) {
          seen.push(header("authorization"));
          return seen.at(-1) === "Bearer new" ? { tenant: "", principal: "ada" } : undefined;
        },
      },
      client: {
        auth: () => ({ authorization: `Bearer ${tokens.shift() ?? "none"}` }),
        trustedOrigins: "any",
      },
    });
    expect(requireTaskResponseInTest(await remote.send("count")).status.state).toBe("TASK_STATE_COMPLETED");
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
    await expect(collect(remote.stream("count"))).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  });

  it("does not repeat a credential in the error for a credential that metadata cannot contain [M-08]", async () => {
    const auth = { bearer: () => "secret-of-ada\n" };
    const { remote } = await connectOverGrpc({ client: { auth, trustedOrigins: "any" } });
    const error: unknown = await remote.send("count").catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('"authorization"');
    expect(String(error)).not.toContain("secret-of-ada");
  });

  it("requests extensions, and reports active ones [E-02, J-01, J-02]", async () => {
    const server = createServer(
      {
        ...scriptedAgent,
        describe: () => ({
          name: "x",
          description: "x",
          capabilities: { extensions: [{ uri: "urn:a", required: true }] },
        }),
      },
      { store: "memory" },
    );
    const { url } = await server.listen({ grpc: true });
    const remote = await connect(url, { binding: "GRPC", extensions: ["urn:a", "urn:b"] });
    const active: (readonly string[])[] = [];
    const onActivated = (uris: readonly string[]): void => void active.push(uris);
    await remote.send("count", { onExtensionsActivated: onActivated });
    await collect(remote.stream("count", { onExtensionsActivated: onActivated }));
    const isRequestedByCaller = (uri: string): boolean => ["urn:a", "urn:b"].includes(uri);
    expect(active.map((uris) => uris.filter(isRequestedByCaller))).toEqual([["urn:a"], ["urn:a"]]);
    await server.close();
  });

  it("rejects a call with the reason of its signal", async () => {
    const { remote } = await connectOverGrpc();
    const reason = new Error("enough");
    const ends = new AbortController();
    const events = remote.stream("wait", { signal: ends.signal })[Symbol.asyncIterator]();
    await events.next();
    ends.abort(reason);
    await expect(Promise.all([events.next(), events.next()])).rejects.toBe(reason);
    await expect(remote.send("count", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const delayed = new AbortController();
    const sent = remote.send("wait", { signal: delayed.signal });
    delayed.abort(reason);
    await expect(sent).rejects.toBe(reason);
  });

  it("reports an unreachable server and an oversized message, without a retry", async () => {
    const { remote } = await connectOverGrpc({ server: { limits: { maxBodyBytes: 1_000 } } });
    await expect(remote.send("x".repeat(2_000))).rejects.toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
    const card = JSON.stringify({
      ...remote.card,
      supportedInterfaces: [{ url: "127.0.0.1:1", protocolBinding: "GRPC", protocolVersion: "1.0" }],
    });
    const unreachable = await connect("http://agents.test", {
      fetch: () => Promise.resolve(new Response(card)),
    });
    const failure = await unreachable.send("count").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
    expect(failure).toMatchObject({ reason: "UNAVAILABLE" });
    expect(String(failure)).toMatch(
      /No response from 127\.0\.0\.1:1 over gRPC .* check that the agent is running/,
    );
  });

  it("loses no event over an unreliable network, and its message runs once [E2, E3, F-11]", async () => {
    const direct = await connectOverGrpc();
    const network = await createBreakingProxy(`http://127.0.0.1:${direct.grpcPort}`);
    const address = `127.0.0.1:${direct.grpcPort}`;
    let cuts = 0;
    const remote = await connect(direct.remote.cardUrl, {
      binding: "GRPC",
      // The card names the address of the proxy.
      fetch: async (...asked) => {
        const card = await (await fetch(...asked)).text();
        return new Response(card.replaceAll(address, new URL(network.url).host));
      },
      reconnect: {
        maxRetries: 50,
        sleep: async () => {
          cuts += 1;
          // A channel that failed to connect waits a moment before the next attempt.
          await delay(20);
        },
      },
    });
    const expected = Array.from({ length: 100 }, (_, index) => `${index + 1} `).join("");
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 8 }), async (bytes) => {
        network.breakAfter(bytes);
        sent += 1;
        const task = requireTaskResponseInTest(
          await collect(remote.stream("numbers 100", { contextId: "all" })),
        );
        network.breakAfter([]);
        expect(task.status.state).toBe("TASK_STATE_COMPLETED");
        expect(getText(task.artifacts?.[0]?.parts ?? [])).toBe(expected);
        expect((await direct.remote.tasks.list({ contextId: "all" })).totalSize).toBe(sent);
      }),
      // Each run counts the tasks of the earlier runs, so that a shorter input would fail for another reason.
      { numRuns: 15, endOnFailure: true },
    );
    expect(cuts).toBeGreaterThan(5);
    network.close();
  });
});
