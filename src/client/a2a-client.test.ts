import { describe, expect, it } from "vitest";
import { generateSigningKey } from "../wire/keys/index.ts";
import type { AgentCard } from "../protocol/index.ts";
import { signCard } from "../server/index.ts";
import { connect, createCardVerifier, type RetryOptions } from "./index.ts";
import {
  type TestRequestResponder,
  buildTestAgentCard,
  startRequestRecordingTestServer,
  createTestJsonRpcResponder,
  type RecordedTestRequest,
  sendTestSseEvents,
  sendTestJsonResponse,
  connectToRequestRecordingTestServer,
} from "./request-recording-test-server.fixture.ts";
import { collectStreamEventsForTest } from "./a2a-client.contract.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

/** Retry options that do not wait, and the delays that they would have used. */
function createRecordedRetryOptions(about: RetryOptions = {}): { how: RetryOptions; waits: number[] } {
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return { how: { random: () => 0.5, sleep, ...about }, waits };
}

/** Answers requests in order, and repeats the last answer. */
function respondInTurn(...answers: readonly TestRequestResponder[]): TestRequestResponder {
  let turn = 0;
  return (response, request) => {
    answers[Math.min(turn, answers.length - 1)]?.(response, request);
    turn += 1;
  };
}

const respondBusy =
  (status: number, headers: Record<string, string> = {}): TestRequestResponder =>
  (response) =>
    response.writeHead(status, headers).end("busy");
const resetConnection: TestRequestResponder = (response) => response.socket?.resetAndDestroy();

describe("a read that fails temporarily", () => {
  it("is retried after the delay that the agent requests", async () => {
    const { how: options, waits } = createRecordedRetryOptions();
    const answers = respondInTurn(
      respondBusy(503),
      respondBusy(429, { "retry-after": "2" }),
      resetConnection,
      createTestJsonRpcResponder(task),
    );
    const { remote, seen } = await connectToRequestRecordingTestServer(answers, { retry: options });
    expect((await remote.tasks.get("t")).id).toBe("t");
    expect(waits).toEqual([100, 2_000, 400]);
    expect(seen()).toHaveLength(4);
  });

  it("is not retried after the maximum number of attempts, or if the agent requests a long delay", async () => {
    const { how: options, waits } = createRecordedRetryOptions();
    const tired = await connectToRequestRecordingTestServer(respondBusy(503), { retry: options });
    await expect(tired.remote.tasks.list()).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    expect([tired.seen().length, waits.length]).toEqual([4, 3]);
    const closed = await connectToRequestRecordingTestServer(respondBusy(429, { "retry-after": "3600" }), {
      retry: options,
    });
    await expect(closed.remote.tasks.get("t")).rejects.toMatchObject({
      reason: "RESOURCE_EXHAUSTED",
      retryAfter: 3600,
    });
    expect(closed.seen()).toHaveLength(1);
  });

  it("may be a card request, but an unreachable host is reported at once", async () => {
    const { how: options, waits } = createRecordedRetryOptions();
    let url = "";
    const server = await startRequestRecordingTestServer(
      respondInTurn(respondBusy(503), (response) => sendTestJsonResponse(response, buildTestAgentCard(url))),
    );
    ({ url } = server);
    expect((await connect(url, { retry: options })).card.name).toBe("Raw");
    expect(waits).toHaveLength(1);
    await expect(connect("http://127.0.0.1:1", { retry: options })).rejects.toMatchObject({
      reason: "UNAVAILABLE",
    });
    expect(waits).toHaveLength(1);
  });

  it("is never a message or a cancellation, which are sent only once", async () => {
    const { how: options, waits } = createRecordedRetryOptions();
    const { remote, seen } = await connectToRequestRecordingTestServer(respondBusy(503), { retry: options });
    await expect(remote.send("x")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await expect(remote.tasks.cancel("t")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    expect([seen().length, waits]).toEqual([2, []]);
  });
});

describe("a task of an agent without streaming", () => {
  it("is polled [A-08]", async () => {
    const { how, waits } = createRecordedRetryOptions();
    const as = (state: string): TestRequestResponder =>
      createTestJsonRpcResponder({ ...task, status: { state } });
    const answers = respondInTurn(
      as("TASK_STATE_WORKING"),
      respondBusy(503),
      as("TASK_STATE_WORKING"),
      as("TASK_STATE_INPUT_REQUIRED"),
      as("TASK_STATE_COMPLETED"),
    );
    const options = { reconnect: how, retry: createRecordedRetryOptions().how };
    const { remote, seen } = await connectToRequestRecordingTestServer(answers, options, {
      capabilities: {},
    });
    const events = await collectStreamEventsForTest(remote.tasks.subscribe("t"));
    expect(events.map((event) => "task" in event && event.task.status.state)).toEqual([
      "TASK_STATE_WORKING",
      "TASK_STATE_INPUT_REQUIRED",
      "TASK_STATE_COMPLETED",
    ]);
    expect(waits).toEqual([100, 100, 100, 200, 100]);
    expect(new Set(seen().map(({ body }) => body.method))).toEqual(new Set(["GetTask"]));
  });

  it("is reported as not found if it does not exist [F-51]", async () => {
    const lost: TestRequestResponder = (response) =>
      sendTestJsonResponse(response, { id: 1, error: { code: -32001, message: "no" } });
    const { remote } = await connectToRequestRecordingTestServer(lost, {}, { capabilities: {} });
    await expect(collectStreamEventsForTest(remote.tasks.subscribe("t"))).rejects.toMatchObject({
      reason: "TASK_NOT_FOUND",
    });
  });
});

describe("extensions", () => {
  const POLITE = "urn:x:polite";
  const LOUD = "urn:x:loud";

  it.each(["JSONRPC", "HTTP+JSON"] as const)(
    "are requested with every request over %s, and active ones are reported [J-01, J-02]",
    async (binding) => {
      const answer: TestRequestResponder = (response, request) => {
        response.setHeader("a2a-extensions", ` ${POLITE} ,`);
        if (request.headers.accept?.startsWith("text/event-stream")) {
          sendTestSseEvents(response, [[1, binding === "JSONRPC" ? { result: { task } } : { task }]], "end");
        } else sendTestJsonResponse(response, binding === "JSONRPC" ? { result: task } : task);
      };
      const { remote, seen } = await connectToRequestRecordingTestServer(answer, {
        binding,
        extensions: [POLITE, LOUD],
      });
      const reported: (readonly string[])[] = [];
      const onActivated = (uris: readonly string[]): void => void reported.push(uris);
      await remote.tasks.get("t", { onExtensionsActivated: onActivated });
      await collectStreamEventsForTest(remote.stream("x", { onExtensionsActivated: onActivated }));
      expect(reported).toEqual([[POLITE], [POLITE]]);
      expect(seen().map(({ headers }) => headers["a2a-extensions"])).toEqual(
        Array(2).fill(`${POLITE}, ${LOUD}`),
      );
    },
  );

  it("that the agent requires and the caller does not support cause an immediate error [H-04]", async () => {
    const capabilities = { extensions: [{ uri: POLITE, required: true }, { uri: LOUD }] };
    await expect(
      connectToRequestRecordingTestServer(createTestJsonRpcResponder(task), {}, { capabilities }),
    ).rejects.toMatchObject({
      reason: "EXTENSION_SUPPORT_REQUIRED",
      message: expect.stringContaining(`{ extensions: ["${POLITE}"] }`) as string,
    });
    const { remote } = await connectToRequestRecordingTestServer(
      createTestJsonRpcResponder(task),
      { extensions: [POLITE] },
      { capabilities },
    );
    expect((await remote.tasks.get("t")).id).toBe("t");
  });
});

describe("push notification configurations", () => {
  const config = { id: "p", taskId: "t/1", url: "https://me.example/hook", token: "x" };
  const about = { capabilities: { pushNotifications: true } };

  it("are created, read, listed, and deleted over JSON-RPC [I-01, I-03]", async () => {
    const answers = respondInTurn(
      createTestJsonRpcResponder(config),
      createTestJsonRpcResponder(config),
      createTestJsonRpcResponder({ configs: [config], nextPageToken: "n" }),
      createTestJsonRpcResponder({}),
      createTestJsonRpcResponder(null),
      createTestJsonRpcResponder(undefined),
    );
    const { remote, seen } = await connectToRequestRecordingTestServer(answers, {}, about);
    const { pushConfigs } = remote.tasks;
    expect(await pushConfigs.create("t/1", { url: config.url, token: "x" })).toEqual(config);
    expect(await pushConfigs.get("t/1", "p")).toEqual(config);
    expect(await pushConfigs.list("t/1", { pageSize: 1 })).toEqual({ configs: [config], nextPageToken: "n" });
    for (let time = 0; time < 3; time++) await pushConfigs.delete("t/1", "p");
    expect(seen().map(({ body }) => [body.method, body.params])).toEqual([
      ["CreateTaskPushNotificationConfig", { taskId: "t/1", url: config.url, token: "x" }],
      ["GetTaskPushNotificationConfig", { taskId: "t/1", id: "p" }],
      ["ListTaskPushNotificationConfigs", { taskId: "t/1", pageSize: 1 }],
      ...Array.from({ length: 3 }, () => ["DeleteTaskPushNotificationConfig", { taskId: "t/1", id: "p" }]),
    ]);
  });

  it("are created, read, listed, and deleted over REST, even if a deletion returns no body [I-01, I-03]", async () => {
    const answers = respondInTurn(
      (response) => sendTestJsonResponse(response, config, 201),
      (response) => sendTestJsonResponse(response, config),
      (response) => sendTestJsonResponse(response, {}),
      (response) => response.writeHead(204).end(),
      (response) => response.end(),
      (response) => sendTestJsonResponse(response, {}),
    );
    const { remote, seen } = await connectToRequestRecordingTestServer(
      answers,
      { binding: "HTTP+JSON" },
      about,
    );
    const { pushConfigs } = remote.tasks;
    expect(await pushConfigs.create("t/1", { url: config.url, token: "x" })).toEqual(config);
    expect(await pushConfigs.get("t/1", "p")).toEqual(config);
    expect(await pushConfigs.list("t/1", { pageSize: 1, pageToken: "n" })).toEqual({ configs: [] });
    for (let time = 0; time < 3; time++) await pushConfigs.delete("t/1", "p");
    expect(seen().map(({ method, url, text }) => [method, url, text])).toEqual([
      ["POST", "/rest/tasks/t%2F1/pushNotificationConfigs", JSON.stringify({ url: config.url, token: "x" })],
      ["GET", "/rest/tasks/t%2F1/pushNotificationConfigs/p", ""],
      ["GET", "/rest/tasks/t%2F1/pushNotificationConfigs?pageSize=1&pageToken=n", ""],
      ...Array.from({ length: 3 }, () => ["DELETE", "/rest/tasks/t%2F1/pushNotificationConfigs/p", ""]),
    ]);
  });

  it("are not requested from an agent without push notifications [H-01]", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(createTestJsonRpcResponder(config));
    await expect(remote.tasks.pushConfigs.create("t", config)).rejects.toMatchObject({
      reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    });
    await expect(remote.tasks.pushConfigs.list("t")).rejects.toThrow(
      `"Raw" does not declare pushNotifications`,
    );
    expect(seen()).toEqual([]);
  });
});

describe("the agent card", () => {
  /** A host whose card has an ETag and a freshness lifetime. `version` may change. */
  async function host(
    control: string,
  ): Promise<{ url: string; seen: RecordedTestRequest[]; version: string }> {
    const serverState = { version: "1", url: "", seen: [] as RecordedTestRequest[] };
    const server = await startRequestRecordingTestServer((response, request) => {
      if (!request.url.includes("/.well-known/")) {
        const card = buildTestAgentCard(serverState.url, {
          name: "Extended",
          version: serverState.version,
          capabilities: { extendedAgentCard: true },
        });
        return sendTestJsonResponse(response, { result: card });
      }
      const etag = `"${serverState.version}"`;
      response.setHeader("etag", etag).setHeader("cache-control", control);
      if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
      else
        sendTestJsonResponse(
          response,
          buildTestAgentCard(serverState.url, {
            version: serverState.version,
            capabilities: { extendedAgentCard: true },
          }),
        );
    });
    return Object.assign(serverState, server);
  }

  it("is requested only when it is stale, and transferred only when it has changed [A-24]", async () => {
    const lasting = await host("public, max-age=3600");
    const fresh = await connect(lasting.url);
    expect((await fresh.refreshCard()).version).toBe("1");
    expect(lasting.seen).toHaveLength(1);

    for (const control of ["no-cache, max-age=3600", "max-age=0", "public"]) {
      const changing = await host(control);
      const remote = await connect(changing.url);
      await remote.refreshCard();
      changing.version = "2";
      expect((await remote.refreshCard()).version).toBe("2");
      expect(remote.card.version).toBe("2");
      expect(changing.seen.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, `"1"`, `"1"`]);
    }
  });

  it("is the extended card after it was requested, until the version changes [A-33]", async () => {
    const changing = await host("max-age=0");
    const remote = await connect(changing.url);
    expect(remote.card.name).toBe("Raw");
    expect((await remote.getExtendedCard()).name).toBe("Extended");
    expect([remote.card.name, (await remote.refreshCard()).name]).toEqual(["Extended", "Extended"]);
    changing.version = "2";
    expect((await remote.refreshCard()).name).toBe("Raw");
  });

  it("is used only with a valid signature, public or extended [A-40, A-45]", async () => {
    const key = { ...(await generateSigningKey("ES256")), kid: "k" };
    const { d: _secret, ...publicKey } = key;
    const verify = createCardVerifier({ keys: [publicKey] });
    const signed = async (name: string): Promise<object> =>
      signCard(
        buildTestAgentCard(serverState.url, {
          name,
          capabilities: { extendedAgentCard: true, streaming: false },
        }) as AgentCard,
        {
          privateKey: key,
        },
      );
    const serverState = { url: "", card: {}, extended: {} };
    const { url } = await startRequestRecordingTestServer((response, request) =>
      sendTestJsonResponse(
        response,
        request.url.includes("/.well-known/") ? serverState.card : { result: serverState.extended },
      ),
    );
    serverState.url = url;
    serverState.card = await signed("Public");
    const remote = await connect(url, { verifyCard: verify });
    serverState.extended = { ...(await signed("Extended")), description: "Forged" };
    await expect(remote.getExtendedCard()).rejects.toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
    expect(remote.card.name).toBe("Public");
    serverState.extended = await signed("Extended");
    expect((await remote.getExtendedCard()).name).toBe("Extended");
    serverState.card = { ...serverState.card, version: "2" };
    await expect(remote.refreshCard()).rejects.toThrow("has no trusted signature");
    await expect(connect(url, { verifyCard: verify })).rejects.toThrow("has no trusted signature");
  });

  it("is used only as far as its signature covers it, without unsigned 0.3 interfaces [A-40]", async () => {
    const key = { ...(await generateSigningKey("ES256")), kid: "k" };
    const { d: _secret, ...publicKey } = key;
    const verify = createCardVerifier({ keys: [publicKey] });
    const { url } = await startRequestRecordingTestServer((response) =>
      sendTestJsonResponse(response, serverState.card),
    );
    const signed = await signCard(buildTestAgentCard(url, {}) as AgentCard, { privateKey: key });
    const older = { protocolVersion: "0.3.0", url: "https://evil.example/", preferredTransport: "JSONRPC" };
    const serverState = { card: { ...signed, ...older } as object };
    expect((await connect(url, { version: "0.3" })).agentInterface.url).toBe("https://evil.example/");
    expect((await connect(url, { verifyCard: verify })).card.supportedInterfaces).toEqual(
      signed.supportedInterfaces,
    );
    await expect(connect(url, { verifyCard: verify, version: "0.3" })).rejects.toMatchObject({
      reason: "VERSION_NOT_SUPPORTED",
    });
    // A 1.0 signature does not cover the interfaces of a 0.3 card.
    const nowhere = await signCard(
      { ...signed, supportedInterfaces: [], signatures: [] },
      { privateKey: key },
    );
    const { supportedInterfaces: _none, ...bare } = nowhere;
    serverState.card = { ...bare, ...older };
    await expect(connect(url, { verifyCard: verify })).rejects.toThrow("its signature covers no interface");
  });

  it("has no extended version if it declares none [H-03]", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(createTestJsonRpcResponder({}));
    await expect(remote.getExtendedCard()).rejects.toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
    expect(seen()).toEqual([]);
  });
});
