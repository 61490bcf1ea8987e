/** The deviations of real peers in `wire/leniency.ts`, with the default leniency and with none. */
import { afterEach, describe, expect, it } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { connect } from "../client/index.ts";
import { file, fromBase64, type Part, toBase64 } from "../protocol/index.ts";
import type { PeerLeniency } from "../wire/index.ts";
import { JsonGrpcTestClient } from "./bindings/json-grpc-test-client.fixture.ts";
import { createServer, type GrpcOptions, type Server } from "./index.ts";

const BYTES = new Uint8Array([0x80, 0x81, 0xff]);
const LENIENCY_LEVELS: readonly PeerLeniency[] = ["all", "none"];

let server: Server | undefined;
let received: Part[] = [];

afterEach(async () => {
  await server?.close();
  received = [];
});

const fileEcho = agent({ name: "file echo", description: "Returns a file" }, async function* ({ message }) {
  received.push(...message.parts);
  yield file(BYTES, { mediaType: "image/png" });
});

async function listen(
  peerLeniency: PeerLeniency,
  grpc: boolean | GrpcOptions = false,
): Promise<{ url: string; grpcPort: number }> {
  server = createServer({ echo: fileEcho }, { store: "memory", inputModePolicy: "ignore", peerLeniency });
  const address = await server.listen({ grpc });
  return { url: address.url, grpcPort: address.grpc?.port ?? 0 };
}

function postJson(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return fetch(url, { ...init, body: JSON.stringify(body) });
}

describe.each(LENIENCY_LEVELS)("a server with the leniency %s", (leniency) => {
  const isLenient = leniency === "all";

  it("serves the card with a slash after its path, or not", async () => {
    const { url } = await listen(leniency);
    for (const base of [url, `${url}/a2a/echo`]) {
      const response = await fetch(`${base}/.well-known/agent-card.json/`);
      expect(response.status).toBe(isLenient ? 200 : 404);
    }
  });

  it("lists tasks over gRPC with the page size 0 of the Go SDK, or refuses the page size [F-20]", async () => {
    const { grpcPort } = await listen(leniency, true);
    const client = new JsonGrpcTestClient(grpcPort);
    const { answer, ended } = await client.callUnary("ListTasks", { pageSize: 0 }, { "a2a-version": "1.0" });
    client.close();
    if (isLenient) expect(answer).toMatchObject({ pageSize: 50 });
    else expect(ended?.code).toBe("INVALID_ARGUMENT");
  });

  it("refuses the page size 0 over JSON-RPC, where no peer sends it [F-20]", async () => {
    const { url } = await listen(leniency);
    const request = { jsonrpc: "2.0", id: 1, method: "ListTasks", params: { pageSize: 0 } };
    const response = await postJson(url, request, { "a2a-version": "1.0" });
    expect(await response.json()).toMatchObject({ error: { code: -32602 } });
  });

  it("reads and writes the files of 0.3 as Python's SDK does, or as the proto defines [V-23]", async () => {
    const { url } = await listen(leniency);
    const base64Text = toBase64(new TextEncoder().encode(toBase64(BYTES)));
    const content = [{ file: { fileWithBytes: base64Text, mimeType: "image/png" } }];
    const request = { messageId: "m", role: "ROLE_USER", content };
    const body = { request, configuration: { blocking: true } };
    const response = await postJson(`${url}/v1/message:send`, body, { "user-agent": "python-httpx/0.28.1" });
    const expected = isLenient ? BYTES : new TextEncoder().encode(toBase64(BYTES));
    expect(received.map((part) => ("raw" in part ? fromBase64(part.raw) : part))).toEqual([expected]);
    const returnedFile = { fileWithBytes: isLenient ? base64Text : toBase64(BYTES) };
    expect(await response.json()).toMatchObject({
      task: { artifacts: [{ parts: [{ file: returnedFile }] }] },
    });
  });
});

describe("a server with an unlisted gRPC listener", () => {
  it("serves gRPC, but its card has no gRPC interface, because ADK for Python rejects such cards", async () => {
    const { url, grpcPort } = await listen("all", { listedInCard: false });
    const remote = await connect(url);
    expect(remote.card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).not.toContain(
      "GRPC",
    );
    const client = new JsonGrpcTestClient(grpcPort);
    const { answer } = await client.callUnary("ListTasks", {}, { "a2a-version": "1.0" });
    client.close();
    expect(answer).toMatchObject({ pageSize: 50 });
  });
});
