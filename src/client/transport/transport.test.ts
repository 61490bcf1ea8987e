import { describe, expect, it } from "vitest";
import type { A2AError } from "../../protocol/index.ts";
import { connect } from "../index.ts";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  createTestJsonRpcResponder,
  type RecordedTestRequest,
  sendTestSseEvents,
  sendTestJsonResponse,
  connectToRequestRecordingTestServer,
} from "../request-recording-test-server.fixture.ts";
import { collectStreamEventsForTest } from "../a2a-client.contract.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

describe("every request", () => {
  it("names the version, contains the headers, and can be aborted [B-01]", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(createTestJsonRpcResponder(task), {
      headers: { authorization: "Bearer x" },
    });
    await remote.tasks.get("t", { headers: { "x-trace": "1" } });
    await expect(collectStreamEventsForTest(remote.stream("x"))).rejects.toThrow("exactly one of");
    expect(
      seen().map(({ headers }) => [headers["a2a-version"], headers.authorization, headers["x-trace"]]),
    ).toEqual([
      ["1.0", "Bearer x", "1"],
      ["1.0", "Bearer x", undefined],
    ]);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(remote.tasks.get("t", { signal })).rejects.toThrow("enough");
  });

  it("is aborted before its response even if `fetch` ignores the signal", async () => {
    let sent = (): void => {};
    const begun = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const unresponsiveFetch: typeof fetch = (input, init) => fetch(input, { ...init, signal: null });
    const { remote } = await connectToRequestRecordingTestServer(() => sent(), { fetch: unresponsiveFetch });
    const stop = new AbortController();
    const answer = remote.send("hi", { signal: stop.signal });
    await begun;
    stop.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  it("is aborted during its response even if `fetch` ignores the signal", async () => {
    let sent = (): void => {};
    const begun = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const unresponsiveFetch: typeof fetch = (input, init) => fetch(input, { ...init, signal: null });
    const { remote } = await connectToRequestRecordingTestServer(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
        sent();
      },
      { fetch: unresponsiveFetch },
      { capabilities: { streaming: true } },
    );
    const stop = new AbortController();
    const read = collectStreamEventsForTest(remote.stream("hi", { signal: stop.signal }));
    await begun;
    stop.abort(new Error("enough"));
    await expect(read).rejects.toThrow("enough");
  });

  it.each([
    ["JSONRPC", "acme/eu", "/rpc", "acme/eu"],
    ["HTTP+JSON", "acme/eu", "/rest/acme%2Feu/tasks/t%2F1?historyLength=2", undefined],
    ["JSONRPC", undefined, "/rpc", undefined],
    ["HTTP+JSON", undefined, "/rest/tasks/t%2F1?historyLength=2", undefined],
    ["HTTP+JSON", "", "/rest/tasks/t%2F1?historyLength=2", undefined],
  ] as const)("over %s sends the tenant %s unchanged [K-01]", async (binding, tenant, path, inParams) => {
    const interfaces = { JSONRPC: "/rpc", "HTTP+JSON": "/rest" };
    const { url } = await startRequestRecordingTestServer((response, request) => {
      if (request.url === "/card.json") {
        const supportedInterfaces = [
          { url: interfaces[binding], protocolBinding: binding, protocolVersion: "1.0", tenant },
        ];
        sendTestJsonResponse(response, buildTestAgentCard("", { supportedInterfaces }));
      } else if (binding === "JSONRPC")
        sendTestJsonResponse(response, { jsonrpc: "2.0", id: 1, result: { ...task, metadata: request } });
      else sendTestJsonResponse(response, { ...task, metadata: request });
    });
    const remote = await connect(`${url}/card.json`);
    const { metadata } = await remote.tasks.get("t/1", { historyLength: 2 });
    expect(metadata).toMatchObject({ url: path });
    expect((metadata as unknown as RecordedTestRequest).body.params?.["tenant"]).toBe(inParams);
  });

  it.each([
    ["..", "acme"],
    [".", "acme"],
    ["", "acme"],
    ["t", ".."],
  ])("over HTTP+JSON has no id %j of tenant %j that changes the path [K-01]", async (id, tenant) => {
    const supportedInterfaces = [
      { url: "/rest", protocolBinding: "HTTP+JSON", protocolVersion: "1.0", tenant },
    ];
    const { remote, seen } = await connectToRequestRecordingTestServer(
      (response) => sendTestJsonResponse(response, task),
      {},
      { supportedInterfaces },
    );
    await expect(remote.tasks.get(id)).rejects.toMatchObject({ reason: "INVALID_PARAMS" });
    expect(seen()).toEqual([]);
  });
});

describe("the input of a message", () => {
  it("is text, parts, or a message, and receives a unique id", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(createTestJsonRpcResponder({ task }));
    await remote.send("hi", { messageId: "m", taskId: "t", contextId: "c", metadata: { a: 1 } });
    await remote.send([{ text: "a" }, { data: null }], { configuration: { returnImmediately: true } });
    await remote.send({ parts: [{ text: "x" }], messageId: "own", metadata: { b: 2 } });
    const params = seen().map(({ body }) => body.params);
    expect(params).toMatchObject([
      {
        message: { messageId: "m", role: "ROLE_USER", taskId: "t", contextId: "c", parts: [{ text: "hi" }] },
        metadata: { a: 1 },
      },
      { message: { parts: [{ text: "a" }, { data: null }] }, configuration: { returnImmediately: true } },
      { message: { messageId: "own", role: "ROLE_USER", parts: [{ text: "x" }], metadata: { b: 2 } } },
    ]);
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    expect(params[1]).toHaveProperty(["message", "messageId"], uuid);
  });
});

describe("a response", () => {
  it("may have status 201 and any JSON type [D-07]", async () => {
    const { remote } = await connectToRequestRecordingTestServer(
      (response) =>
        response.writeHead(201, { "content-type": "application/a2a+json" }).end(JSON.stringify({ task })),
      { binding: "HTTP+JSON" },
    );
    expect(await remote.send("x")).toEqual({ task });
  });

  it.each(["JSONRPC", "HTTP+JSON"] as const)(
    "over %s that is not an A2A response is rejected",
    async (binding) => {
      const { remote } = await connectToRequestRecordingTestServer((response) => response.end("<html>"), {
        binding,
      });
      await expect(remote.send("x")).rejects.toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
    },
  );

  it.each(["JSONRPC", "HTTP+JSON"] as const)(
    "over %s may be a proxy error with Retry-After",
    async (binding) => {
      const { remote } = await connectToRequestRecordingTestServer(
        (response) => response.writeHead(503, { "retry-after": "7" }).end("busy"),
        { binding },
      );
      await expect(remote.send("x")).rejects.toMatchObject({ reason: "UNAVAILABLE", retryAfter: 7 });
    },
  );

  it("may contain a date or an invalid value in Retry-After", async () => {
    const soon = new Date(Date.now() + 60_000).toUTCString();
    for (const [input, isSoon] of [
      [soon, true],
      ["Wed, 21 Oct 2015 07:28:00 GMT", false],
      ["soon", false],
      ["-1", false],
    ] as const) {
      const { remote } = await connectToRequestRecordingTestServer((response) =>
        response.writeHead(503, { "retry-after": input }).end(),
      );
      const failure: unknown = await remote.send("x").catch((error: unknown) => error);
      expect(((failure as A2AError).retryAfter ?? 0) > 50).toBe(isSoon);
    }
  });

  it("uses the HTTP status if the error code is ambiguous", async () => {
    const { remote } = await connectToRequestRecordingTestServer((response) =>
      sendTestJsonResponse(
        response,
        { jsonrpc: "2.0", id: 1, error: { code: -32000, message: "who?" } },
        401,
      ),
    );
    await expect(remote.send("x")).rejects.toMatchObject({ reason: "UNAUTHENTICATED", message: "who?" });
  });

  it("that is an error keeps the peer's numeric code", async () => {
    for (const code of [-32050, 418]) {
      const { remote } = await connectToRequestRecordingTestServer((response) => {
        response.setHeader("retry-after", "7");
        sendTestJsonResponse(response, { jsonrpc: "2.0", id: 1, error: { code, message: "no" } });
      });
      await expect(remote.send("x")).rejects.toMatchObject({ reason: "INTERNAL", code, retryAfter: 7 });
    }
    const { remote } = await connectToRequestRecordingTestServer(
      (response) => sendTestJsonResponse(response, {}, 418),
      { binding: "HTTP+JSON" },
    );
    await expect(remote.send("x")).rejects.toMatchObject({ reason: "INVALID_PARAMS", code: 418 });
  });

  it("is rejected if it is too large [E14]", async () => {
    const { remote } = await connectToRequestRecordingTestServer(
      createTestJsonRpcResponder({ ...task, metadata: { x: "y".repeat(10_000) } }),
      {
        maxResponseBytes: 5_000,
      },
    );
    await expect(remote.tasks.get("t")).rejects.toThrow("larger than 5000 bytes");
  });
});

describe("a stream", () => {
  it("is rejected if an event is too large [E14]", async () => {
    const { remote } = await connectToRequestRecordingTestServer(
      (response) =>
        sendTestSseEvents(
          response,
          [[1, { result: { task: { ...task, metadata: { x: "y".repeat(200_000) } } } }]],
          "end",
        ),
      { maxEventBytes: 1_000 },
    );
    await expect(collectStreamEventsForTest(remote.stream("x"))).rejects.toThrow("more than 1000 bytes");
  });

  it("may fail in the middle over JSON-RPC [C-12]", async () => {
    const working = { task: { ...task, status: { state: "TASK_STATE_WORKING" } } };
    const error = { code: -32603, message: "lost" };
    const { remote } = await connectToRequestRecordingTestServer((response) =>
      sendTestSseEvents(
        response,
        [
          [1, { result: working }],
          [0, { error }],
        ],
        "end",
      ),
    );
    await expect(collectStreamEventsForTest(remote.stream("x"))).rejects.toMatchObject({
      reason: "INTERNAL",
      message: "lost",
    });
  });

  it("may fail in the middle over REST in two forms [D-10]", async () => {
    const failures = [
      `data: {"error":{"code":404,"status":"NOT_FOUND","message":"lost"}}\n\n`,
      `event: error\ndata: {"code":404,"message":"lost"}\n\n`,
    ];
    for (const failure of failures) {
      const { remote } = await connectToRequestRecordingTestServer(
        (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(failure),
        { binding: "HTTP+JSON" },
      );
      await expect(collectStreamEventsForTest(remote.stream("x"))).rejects.toMatchObject({
        reason: "NOT_FOUND",
        message: "lost",
      });
    }
  });

  it("contains one response from an agent without streaming [A-08]", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(
      createTestJsonRpcResponder({ task }),
      {},
      { capabilities: {} },
    );
    expect(await collectStreamEventsForTest(remote.stream("x"))).toEqual([{ task }]);
    expect(seen().at(-1)?.body.method).toBe("SendMessage");
  });

  it("of a task is opened with POST, or with GET if POST is not allowed", async () => {
    for (const status of [404, 405]) {
      const { remote, seen } = await connectToRequestRecordingTestServer(
        (response, { method }) =>
          method === "GET"
            ? sendTestSseEvents(response, [[1, { task }]], "end")
            : sendTestJsonResponse(response, {}, status),
        { binding: "HTTP+JSON" },
      );
      expect(await collectStreamEventsForTest(remote.tasks.subscribe("t", { after: 5 }))).toEqual([{ task }]);
      expect(seen().map(({ method, url, headers }) => [method, url, headers["last-event-id"]])).toEqual([
        ["POST", "/rest/tasks/t:subscribe", "5"],
        ["GET", "/rest/tasks/t:subscribe", "5"],
      ]);
    }
  });
});
