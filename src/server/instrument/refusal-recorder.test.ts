import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { decodeTrafficLines, type TrafficLine } from "../../observe/trace/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { bearer } from "../auth/index.ts";
import { RawGrpcClient } from "../bindings/raw-grpc-client.fixture.ts";
import { createServer, type ServerOptions } from "../index.ts";
import { RefusalRecorder } from "./traffic-recorder.ts";

const echo: Agent = {
  describe: () => ({ name: "echo", description: "Repeats" }),
  async *execute() {
    yield { status: { state: "TASK_STATE_COMPLETED" } };
  },
};

/** Calls `send` with the URL of a server, and returns the recorded requests and responses. */
async function recordRequests(
  send: (url: string, grpcPort: number) => Promise<unknown>,
  options: ServerOptions = {},
): Promise<TrafficLine[]> {
  const sink = createMemoryTrafficSink();
  const record = createTrafficWriter(sink, { vantage: "server", name: "test" });
  const server = createServer(echo, { store: "memory", observer: false, record, ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url, grpc } = await server.listen({ grpc: true });
  await send(url, grpc?.port ?? 0);
  await record.flush();
  return decodeTrafficLines(sink.text()).filter(({ kind }) => kind === "request" || kind === "response");
}

const post =
  (body: string, path = "", headers: Record<string, string> = {}) =>
  (url: string) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
      body,
    });

const authenticate = bearer({ tokens: { "token-of-a-caller-0123456789": "caller" } });

describe("the record of a server", () => {
  it.each<[string, (url: string) => Promise<unknown>, object, number, string, ServerOptions]>([
    ["JSON that cannot be parsed", post("{"), { binding: "JSONRPC" }, 200, "PARSE_ERROR", {}],
    [
      "an unknown method",
      post('{"jsonrpc":"2.0","id":1,"method":"Nonsense"}'),
      { binding: "JSONRPC" },
      200,
      "METHOD_NOT_FOUND",
      {},
    ],
    [
      "missing credentials",
      post("{}", "/message:send"),
      { binding: "HTTP+JSON" },
      401,
      "UNAUTHENTICATED",
      { authenticate },
    ],
    [
      "a body that is too large",
      post(JSON.stringify({ text: "x".repeat(2_000) })),
      { binding: "JSONRPC" },
      413,
      "PAYLOAD_TOO_LARGE",
      { limits: { maxBodyBytes: 1_000 } },
    ],
    ["a route that does not exist", post("{}", "/nonsense"), { binding: "HTTP+JSON" }, 404, "NOT_FOUND", {}],
    [
      "a web page of another origin",
      post("{}", "", { origin: "https://evil.example" }),
      { binding: "HTTP", to: "server" },
      403,
      "PERMISSION_DENIED",
      {},
    ],
  ])("contains a request that is refused for %s", async (_, send, request, status, reason, options) => {
    const lines = await recordRequests(send, options);
    expect(lines).toMatchObject([
      { kind: "request", operation: "POST", to: "echo", ...request },
      { kind: "response", status, error: expect.stringMatching(new RegExp(`^${reason}: `)) as string },
    ]);
    expect(lines[0]).not.toHaveProperty("body");
  });

  it("contains a refused gRPC call", async () => {
    const lines = await recordRequests(
      async (_, port) => {
        const client = new RawGrpcClient(port);
        await client.call("GetTask", { id: "t" });
        client.socket.destroy();
      },
      { authenticate },
    );
    expect(lines).toMatchObject([
      { kind: "request", binding: "GRPC", operation: "GetTask" },
      { kind: "response", status: "UNAUTHENTICATED" },
    ]);
  });

  it("contains a request with a known operation once", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "none" } };
    const lines = await recordRequests(post(JSON.stringify(body)));
    expect(lines.map(({ kind }) => kind)).toEqual(["request", "response"]);
    expect(lines[0]).toMatchObject({ operation: "GetTask" });
  });
});

it("callers without credentials cannot fill a record with refused requests", async () => {
  const sink = createMemoryTrafficSink();
  const writer = createTrafficWriter(sink, { vantage: "server", name: "test" });
  let now = 0;
  const recorder = new RefusalRecorder(
    writer,
    (id) => id,
    () => now,
  );
  const refuse = (): void =>
    recorder.record({
      request: { path: "/", header: () => undefined },
      operation: "POST",
      binding: "JSONRPC",
      status: 401,
      error: new A2AError("UNAUTHENTICATED", "Send a token."),
      startMs: now,
    });
  for (let at = 0; at < 120; at++) refuse();
  now = 1_000;
  refuse();
  await writer.close();
  const responses = decodeTrafficLines(sink.text()).filter(({ kind }) => kind === "response");
  expect(responses).toHaveLength(21);
  expect(responses.at(-1)).toMatchObject({
    error: "UNAUTHENTICATED: Send a token. (100 earlier refusals are not recorded)",
  });
});
