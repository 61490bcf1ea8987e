import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/index.ts";
import { connect } from "./index.ts";
import {
  type TestRequestResponder,
  buildTestAgentCard,
  startRequestRecordingTestServer,
  createTestJsonRpcResponder,
  sendTestJsonResponse,
  connectToRequestRecordingTestServer,
} from "./request-recording-test-server.fixture.ts";
import { collectStreamEventsForTest } from "./a2a-client.contract.ts";

// A server may send any content. The client must report an A2AError in bounded time and memory.

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
const DEEPLY_NESTED_JSON = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
const BINDINGS = ["JSONRPC", "HTTP+JSON"] as const;

const respondRaw =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): TestRequestResponder =>
  (response) =>
    response.writeHead(200, { "content-type": type, ...headers }).end(body);

describe.each(BINDINGS)("a hostile response over %s", (binding) => {
  it.each<[string, TestRequestResponder]>([
    ["is of another type", respondRaw("text/html", "<html>")],
    ["is an image", respondRaw("image/png", Buffer.from([0x89, 0x50, 0xff, 0x00]))],
    ["is empty", respondRaw("application/json", "")],
    ["is cut JSON", respondRaw("application/json", `{"jsonrpc":"2.0","result":{"id":`)],
    ["is a list", respondRaw("application/json", "[]")],
    ["is null", respondRaw("application/json", "null")],
    ["is nested without end", respondRaw("application/json", DEEPLY_NESTED_JSON)],
    [
      "is deeply nested in a free-form field",
      respondRaw("application/json", `{"result":{"metadata":{"x":${DEEPLY_NESTED_JSON}}}}`),
    ],
    ["is another thing than a task", respondRaw("application/json", `{"jsonrpc":"2.0","result":7,"id":7}`)],
    ["has an error that is none", respondRaw("application/json", `{"jsonrpc":"2.0","error":7}`)],
    ["has a task without a state", respondRaw("application/json", `{"result":{"id":"t"},"id":"t"}`)],
    [
      "is shorter than its declared length",
      (response) => {
        response.writeHead(200, { "content-length": "10" });
        response.write("{}", () => response.socket?.destroy());
      },
    ],
  ])("%s: an A2AError", async (_, answer) => {
    const { remote } = await connectToRequestRecordingTestServer(answer, {
      binding,
      retry: { maxRetries: 0 },
    });
    const failure: unknown = await remote.tasks.get("t").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
  });

  it("is an endless stream instead of a response, which is not awaited", async () => {
    const { remote } = await connectToRequestRecordingTestServer(
      (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
      { binding },
    );
    await expect(remote.tasks.get("t")).rejects.toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
  });

  it("is small when compressed and too large when decompressed [E14] [SEC-33]", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    const { remote } = await connectToRequestRecordingTestServer(
      respondRaw("application/json", bomb, { "content-encoding": "gzip" }),
      {
        binding,
        maxResponseBytes: 1_000_000,
      },
    );
    await expect(remote.tasks.get("t")).rejects.toThrow("larger than 1000000 bytes");
  });

  it("consists of many small values, in a response, an error, or an event of a stream [E14] [SEC-88]", async () => {
    const json = `{"jsonrpc":"2.0","result":{"list":[${"0,".repeat(300)}0]}}`;
    const [one, failed, stream] = await Promise.all([
      connectToRequestRecordingTestServer(respondRaw("application/json", Buffer.from(json)), {
        binding,
        maxJsonValues: 300,
      }),
      connectToRequestRecordingTestServer(
        (response) => void response.writeHead(404, { "content-type": "application/json" }).end(json),
        { binding, maxJsonValues: 300 },
      ),
      connectToRequestRecordingTestServer(respondRaw("text/event-stream", Buffer.from(`data: ${json}\n\n`)), {
        binding,
        maxJsonValues: 300,
        reconnect: { maxRetries: 0 },
      }),
    ]);
    for (const { remote } of [one, failed])
      await expect(remote.tasks.get("t")).rejects.toThrow("more than 300 JSON values");
    await expect(collectStreamEventsForTest(stream.remote.stream("x"))).rejects.toThrow(
      "more than 300 JSON values",
    );
  });

  it("contains an endless line in a stream [E14]", async () => {
    const { remote } = await connectToRequestRecordingTestServer(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const extra = (): void => void (response.writable && response.write("x".repeat(60_000), extra));
        response.write("data: ", extra);
      },
      { binding, maxEventBytes: 1_000_000 },
    );
    await expect(collectStreamEventsForTest(remote.stream("x"))).rejects.toThrow("more than 1000000 bytes");
  });
});

describe("a hostile card", () => {
  it.each<[string, unknown]>([
    ["is nested without end", `{"name":"x","supportedInterfaces":[],"skills":${DEEPLY_NESTED_JSON}}`],
    ["has interfaces that are none", { name: "x", supportedInterfaces: [7, null, {}] }],
    ["has nothing", { name: "x", supportedInterfaces: [] }],
    ["has a URL that is none", buildTestAgentCard("not a url")],
    ["has a URL of another kind", buildTestAgentCard("file:///etc")],
  ])("%s: an A2AError before anything is sent", async (_, card) => {
    const { url, seen } = await startRequestRecordingTestServer((response) =>
      typeof card === "string" ? response.end(card) : sendTestJsonResponse(response, card),
    );
    const work = async (): Promise<unknown> => (await connect(`${url}/card.json`)).send("hi");
    const failure: unknown = await work().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
    expect(seen).toHaveLength(1);
  });

  it("names schemes after object prototype members", async () => {
    const about = JSON.parse(
      `{"securitySchemes":{"__proto__":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},
        "securityRequirements":[{"schemes":{"__proto__":{"list":[]}}},{"schemes":{"constructor":{"list":[]}}}]}`,
    ) as object;
    const { remote, seen } = await connectToRequestRecordingTestServer(
      createTestJsonRpcResponder(task),
      { auth: () => ({ "x-a": "1" }) },
      about,
    );
    await remote.tasks.get("t");
    expect(seen()[0]?.headers["x-a"]).toBe("1");
  });

  it("requests an API key under a name that would inject a header or a cookie", async () => {
    for (const name of ["x\r\ny", "", "a b"]) {
      const about = { securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name } } } };
      const failure: unknown = await connectToRequestRecordingTestServer(
        createTestJsonRpcResponder(task),
        { auth: { apiKey: "s3cret" } },
        about,
      ).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(A2AError);
      expect(String(failure)).not.toContain("s3cret");
    }
  });
});
