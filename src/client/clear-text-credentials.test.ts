import { describe, expect, it } from "vitest";
import { connect, type ConnectOptions, type A2AClient } from "./index.ts";
import { buildTestAgentCard } from "./request-recording-test-server.fixture.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

interface ObservedRequest {
  readonly url: string;
  readonly authorization: string | null;
}

/** A network in which every address answers, with a card that names one interface or with a task. */
async function connectOverFakeNetwork(
  url: string,
  agent: string,
  options: ConnectOptions = {},
  protocolBinding = "JSONRPC",
): Promise<{ remote: A2AClient; heard: ObservedRequest[] }> {
  const received: ObservedRequest[] = [];
  const supportedInterfaces = [{ url: agent, protocolBinding, protocolVersion: "1.0" }];
  const remote = await connect(url, {
    ...options,
    fetch: async (input, init) => {
      const asked = input as string;
      if (asked.endsWith(".json")) return Response.json(buildTestAgentCard("", { supportedInterfaces }));
      received.push({ url: asked, authorization: new Headers(init?.headers).get("authorization") });
      return Response.json({ jsonrpc: "2.0", id: 1, result: task });
    },
  });
  return { remote, heard: received };
}

const auth = { bearer: "s" };
const headers = { authorization: "Bearer s" };
const clearTextError = {
  reason: "INVALID_AGENT_RESPONSE",
  message: expect.stringContaining("without TLS") as string,
};

describe("credentials for an agent without TLS", () => {
  it.each<[string, ConnectOptions]>([
    ["auth", { auth }],
    ["headers", { headers }],
  ])("are not sent on the card's authority (%s) [M-07] [SEC-32]", async (_, options) => {
    await expect(
      connectOverFakeNetwork("https://agent.test", "http://agent.test/rpc", options),
    ).rejects.toMatchObject(clearTextError);
    const { remote, heard: received } = await connectOverFakeNetwork(
      "https://agent.test",
      "http://agent.test/rpc",
      {
        ...options,
        allowClearText: true,
      },
    );
    expect((await remote.tasks.get("t")).id).toBe("t");
    expect(received).toEqual([{ url: "http://agent.test/rpc", authorization: "Bearer s" }]);
  });

  it("are not sent with single calls, but calls without credentials are allowed [M-07]", async () => {
    const { remote, heard: received } = await connectOverFakeNetwork(
      "https://agent.test",
      "http://agent.test/rpc",
    );
    expect((await remote.tasks.get("t")).id).toBe("t");
    await expect(remote.send("hi", { headers })).rejects.toMatchObject(clearTextError);
    const stream = remote.stream("hi", { headers })[Symbol.asyncIterator]();
    await expect(stream.next()).rejects.toMatchObject(clearTextError);
    expect(received).toEqual([{ url: "http://agent.test/rpc", authorization: null }]);
  });

  it("are sent to the local machine, and to a host that the caller contacts without TLS", async () => {
    for (const [url, agent] of [
      ["https://agent.test", "http://127.0.0.1:4000/"],
      ["https://agent.test", "http://[::1]:4000/"],
      ["https://agent.test", "http://localhost/"],
      ["http://agent.test:4000", "http://agent.test:4000/a2a"],
    ] as const) {
      const { remote, heard: received } = await connectOverFakeNetwork(url, agent, {
        auth,
        trustedOrigins: [new URL(agent).origin],
      });
      await remote.tasks.get("t");
      expect(received).toEqual([{ url: agent, authorization: "Bearer s" }]);
    }
    await expect(
      connectOverFakeNetwork("http://agent.test", "http://other.test/", { auth }),
    ).rejects.toMatchObject(clearTextError);
  });

  it("are protected over gRPC unless the connection uses TLS [M-07]", async () => {
    const over = (agent: string, options: ConnectOptions = {}): Promise<unknown> =>
      connectOverFakeNetwork(
        "https://agent.test",
        agent,
        { auth, trustedOrigins: "any", ...options },
        "GRPC",
      );
    for (const agent of ["grpc://agent.test:80", "http://agent.test"])
      await expect(over(agent)).rejects.toMatchObject(clearTextError);
    for (const agent of ["agent.test:443", "grpcs://agent.test", "localhost:4100", "grpc://127.0.0.1:4100"])
      await expect(over(agent)).resolves.toBeDefined();
    await expect(over("agent.test:4100", { grpc: { tls: false } })).resolves.toBeDefined();
    await expect(over("grpc://agent.test:80", { grpc: { tls: true } })).resolves.toBeDefined();
  });
});
