import { once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  A2AError,
  IDEMPOTENT_SEND_EXTENSION_URI,
  type StreamResponse,
  type TaskState,
} from "../../protocol/index.ts";
import { collect, connect, type RetryOptions, type A2AClient } from "../index.ts";
import {
  type TestRequestResponder,
  buildTestAgentCard,
  startRequestRecordingTestServer,
  type RecordedTestRequest,
  sendTestSseEvents,
  sendTestJsonResponse,
} from "../request-recording-test-server.fixture.ts";
import { collectStreamEventsForTest } from "../a2a-client.contract.ts";
import { createDeliveryWatch, type DeliveryWatch } from "../delivery-watch.fixture.ts";

const TASK_IDS = { taskId: "t", contextId: "c" };
const createTask = (state: TaskState): StreamResponse => ({
  task: { id: "t", contextId: "c", status: { state } },
});
const createStatusUpdate = (state: TaskState): StreamResponse => ({
  statusUpdate: { ...TASK_IDS, status: { state } },
});
const createArtifactUpdate = (text: string): StreamResponse => ({
  artifactUpdate: { ...TASK_IDS, artifact: { artifactId: "a", parts: [{ text }] }, append: true },
});

/** The log of a task. Its events are numbered from 1. */
const TASK_EVENTS: readonly StreamResponse[] = [
  createTask("TASK_STATE_SUBMITTED"),
  createStatusUpdate("TASK_STATE_WORKING"),
  createArtifactUpdate("one "),
  createArtifactUpdate("two "),
  createArtifactUpdate("three"),
  createStatusUpdate("TASK_STATE_COMPLETED"),
];
const sliceNumberedEvents = (start: number, end: number): [number, StreamResponse][] =>
  TASK_EVENTS.slice(start, end).map((event, index) => [start + index + 1, event]);

/** Responds to a request of a client whose reads the watch reports. */
type ScriptedResponder = (
  response: Parameters<TestRequestResponder>[0],
  request: RecordedTestRequest,
  watch: DeliveryWatch,
) => void;

interface ScriptedConnection {
  readonly client: A2AClient;
  /** The requests that the server received, without card requests. */
  readonly listCalls: () => {
    method: string | undefined;
    after: string | undefined;
    params: RecordedTestRequest["body"]["params"];
  }[];
  /** The delays between attempts. */
  readonly waits: number[];
}

const IDEMPOTENT_AGENT = {
  capabilities: { streaming: true, extensions: [{ uri: IDEMPOTENT_SEND_EXTENSION_URI }] },
};

/** A JSON-RPC server that answers requests in order and repeats the last answer. Delays take no time. */
async function connectToScriptedServer(
  answers: readonly ScriptedResponder[],
  reconnect: RetryOptions = {},
  about: object = IDEMPOTENT_AGENT,
): Promise<ScriptedConnection> {
  const watch = createDeliveryWatch();
  let url = "";
  let turn = 0;
  const { seen, url: at } = await startRequestRecordingTestServer((response, request) => {
    if (request.url.includes("/.well-known/")) sendTestJsonResponse(response, buildTestAgentCard(url, about));
    else {
      answers[Math.min(turn, answers.length - 1)]?.(response, request, watch);
      turn += 1;
    }
  });
  url = at;
  const waits: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  const remote = await connect(url, {
    fetch: watch.fetch,
    reconnect: { random: () => 0.5, sleep, ...reconnect },
  });
  const asked = (): ReturnType<ScriptedConnection["listCalls"]> =>
    seen.slice(1).map(({ body, headers }) => {
      return {
        method: body.method,
        after: headers["last-event-id"] as string | undefined,
        params: body.params,
      };
    });
  return { client: remote, listCalls: asked, waits };
}

const respondWithStream =
  (
    events: readonly (readonly [number, StreamResponse])[],
    ending: "end" | "cut" | "open",
  ): ScriptedResponder =>
  (response, { body }, watch) =>
    sendTestSseEvents(
      response,
      events.map(([id, result]) => [id, { jsonrpc: "2.0", id: body.id, result }]),
      ending,
      watch,
    );
const respondWithError =
  (code: number, message: string, retryDelay?: string): TestRequestResponder =>
  (response) =>
    sendTestJsonResponse(response, {
      jsonrpc: "2.0",
      id: 1,
      error: {
        code,
        message,
        data: retryDelay ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }] : [],
      },
    });
const resetConnection: TestRequestResponder = (response) => response.socket?.resetAndDestroy();

describe("a stream that loses its connection", () => {
  it.each(["cut", "end"] as const)(
    "resumes after the last event without loss or repetition (%s) [E3, E4]",
    async (options) => {
      const { client, listCalls } = await connectToScriptedServer([
        respondWithStream(sliceNumberedEvents(0, 3), options),
        respondWithStream(sliceNumberedEvents(3, 4), options),
        respondWithStream([], options),
        respondWithStream(sliceNumberedEvents(4, 6), "end"),
      ]);
      expect(await collectStreamEventsForTest(client.stream("go"))).toEqual(TASK_EVENTS);
      expect(listCalls().map(({ method, after }) => [method, after])).toEqual([
        ["SendStreamingMessage", undefined],
        ["SubscribeToTask", "3"],
        ["SubscribeToTask", "4"],
        ["SubscribeToTask", "4"],
      ]);
      expect(listCalls().at(-1)?.params).toEqual({ id: "t" });
    },
  );

  it("yields the complete task of a server without event ids [F-50]", async () => {
    const completeTask: StreamResponse = {
      task: {
        id: "t",
        contextId: "c",
        status: { state: "TASK_STATE_WORKING" },
        artifacts: [{ artifactId: "a", parts: [{ text: "one two " }] }],
      },
    };
    const { client, listCalls } = await connectToScriptedServer([
      respondWithStream(
        [
          [0, createTask("TASK_STATE_SUBMITTED")],
          [0, createArtifactUpdate("one ")],
        ],
        "cut",
      ),
      respondWithStream(
        [
          [0, completeTask],
          [0, createArtifactUpdate("three")],
          [0, createStatusUpdate("TASK_STATE_COMPLETED")],
        ],
        "end",
      ),
    ]);
    expect(await collect(client.stream("go"))).toMatchObject({
      task: {
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ parts: [{ text: "one two three" }] }],
      },
    });
    expect(listCalls().map(({ after }) => after)).toEqual([undefined, undefined]);
  });

  it("ends with the complete task if it has ended in the meantime [F-51]", async () => {
    const { task } = createTask("TASK_STATE_COMPLETED") as { task: object };
    const { client, listCalls } = await connectToScriptedServer([
      respondWithStream(sliceNumberedEvents(0, 2), "cut"),
      respondWithError(-32004, "the task is over"),
      (response) => sendTestJsonResponse(response, { jsonrpc: "2.0", id: 1, result: task }),
    ]);
    expect((await collectStreamEventsForTest(client.stream("go"))).at(-1)).toEqual({ task });
    expect(listCalls().map(({ method }) => method)).toEqual([
      "SendStreamingMessage",
      "SubscribeToTask",
      "GetTask",
    ]);
  });

  it.each(["TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"] as const)(
    "ends with the complete task if the server no longer finds the stopped agent: %s [F-51]",
    async (state) => {
      const { task } = createTask(state) as { task: object };
      const { client, listCalls } = await connectToScriptedServer([
        respondWithStream(sliceNumberedEvents(0, 2), "cut"),
        respondWithError(-32001, "task not found: no active execution"),
        (response) => sendTestJsonResponse(response, { jsonrpc: "2.0", id: 1, result: task }),
      ]);
      expect((await collectStreamEventsForTest(client.stream("go"))).at(-1)).toEqual({ task });
      expect(listCalls().map(({ method }) => method)).toEqual([
        "SendStreamingMessage",
        "SubscribeToTask",
        "GetTask",
      ]);
    },
  );

  it("sends the same message again if it broke before its first event", async () => {
    const { client, listCalls } = await connectToScriptedServer([
      resetConnection,
      respondWithStream([], "cut"),
      respondWithStream(sliceNumberedEvents(0, 6), "end"),
    ]);
    expect(await collectStreamEventsForTest(client.stream("go"))).toEqual(TASK_EVENTS);
    const [first, ...extra] = listCalls().map(({ method, params }) => ({ method, params }));
    expect(extra).toEqual([first, first]);
  });

  it("does not repeat a message before its first event if the agent could process the message twice", async () => {
    const { client, listCalls } = await connectToScriptedServer(
      [respondWithStream([], "cut"), respondWithStream(sliceNumberedEvents(0, 6), "end")],
      {},
      {},
    );
    await expect(collectStreamEventsForTest(client.stream("pay", { messageId: "m" }))).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      metadata: { messageId: "m" },
    });
    expect(listCalls()).toHaveLength(1);
  });

  it("is complete if no events remained [G-02, G-04]", async () => {
    const endings: StreamResponse[] = [
      createStatusUpdate("TASK_STATE_FAILED"),
      createStatusUpdate("TASK_STATE_INPUT_REQUIRED"),
      createTask("TASK_STATE_REJECTED"),
    ];
    for (const last of endings) {
      const { client, waits } = await connectToScriptedServer([
        respondWithStream(
          [
            [1, createTask("TASK_STATE_SUBMITTED")],
            [2, last],
          ],
          "cut",
        ),
      ]);
      expect(await collectStreamEventsForTest(client.stream("go"))).toHaveLength(2);
      expect(waits).toEqual([]);
    }
    const message: StreamResponse = {
      message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] },
    };
    const { client: remote } = await connectToScriptedServer([respondWithStream([[0, message]], "cut")]);
    expect(await collectStreamEventsForTest(remote.stream("go"))).toEqual([message]);
  });

  it("continues after a question if it is a subscription [F-52]", async () => {
    const { client, listCalls } = await connectToScriptedServer([
      respondWithStream([[4, createTask("TASK_STATE_INPUT_REQUIRED")]], "cut"),
      respondWithStream(
        [
          [5, createStatusUpdate("TASK_STATE_WORKING")],
          [6, createStatusUpdate("TASK_STATE_COMPLETED")],
        ],
        "end",
      ),
    ]);
    expect(await collectStreamEventsForTest(client.tasks.subscribe("t", { after: 3 }))).toHaveLength(3);
    expect(listCalls().map(({ after }) => after)).toEqual(["3", "4"]);
  });

  it("does not confuse the answered question with the next one [F-15]", async () => {
    const asking = { state: "TASK_STATE_INPUT_REQUIRED", timestamp: "2026-01-01T00:00:00.000Z" } as const;
    const before: StreamResponse = { task: { id: "t", contextId: "c", status: asking } };
    const again = createStatusUpdate("TASK_STATE_INPUT_REQUIRED");
    for (const options of ["cut", "end"] as const) {
      for (const last of [createStatusUpdate("TASK_STATE_COMPLETED"), again]) {
        // The subscription stays open after the new question, which nevertheless ends the turn.
        const { client } = await connectToScriptedServer([
          respondWithStream([[4, before]], options),
          respondWithStream([[5, createArtifactUpdate("thanks")]], options),
          respondWithStream([[6, last]], "open"),
        ]);
        expect(await collectStreamEventsForTest(client.stream("blue", { taskId: "t" }))).toEqual([
          before,
          createArtifactUpdate("thanks"),
          last,
        ]);
      }
    }
    // The client has to trust a server without event ids that closes the stream normally.
    const { client: remote } = await connectToScriptedServer([respondWithStream([[0, before]], "end")]);
    expect(await collectStreamEventsForTest(remote.stream("blue", { taskId: "t" }))).toEqual([before]);
  });

  it("may have ended with the next question if it broke before its first event [F-15]", async () => {
    const next: StreamResponse = {
      task: {
        id: "t",
        contextId: "c",
        status: {
          state: "TASK_STATE_INPUT_REQUIRED",
          message: { messageId: "q2", role: "ROLE_AGENT", parts: [{ text: "and the size?" }] },
        },
      },
    };
    const { client, listCalls } = await connectToScriptedServer([
      resetConnection,
      respondWithStream([[9, next]], "end"),
    ]);
    expect(await collectStreamEventsForTest(client.stream("blue", { taskId: "t" }))).toEqual([next]);
    expect(listCalls()).toHaveLength(2);
  });

  it("is not resumed if the agent returns an error", async () => {
    const { client, waits } = await connectToScriptedServer([
      respondWithStream(sliceNumberedEvents(0, 2), "cut"),
      respondWithError(-32001, "gone"),
    ]);
    await expect(collectStreamEventsForTest(client.stream("go"))).rejects.toMatchObject({
      reason: "TASK_NOT_FOUND",
      message: "gone",
    });
    expect(waits).toHaveLength(1);
  });
});

describe("the retries of a stream", () => {
  it("wait longer each time, with jitter, and start over after progress", async () => {
    const { client, waits } = await connectToScriptedServer(
      [
        resetConnection,
        resetConnection,
        resetConnection,
        resetConnection,
        respondWithStream(sliceNumberedEvents(0, 1), "cut"),
        resetConnection,
        respondWithStream(sliceNumberedEvents(1, 6), "end"),
      ],
      { initialDelayMs: 100, maxDelayMs: 500 },
    );
    expect(await collectStreamEventsForTest(client.stream("go"))).toEqual(TASK_EVENTS);
    expect(waits).toEqual([50, 100, 200, 250, 50, 100]);
  });

  it("wait as long as the server requests [E14]", async () => {
    const { client, waits } = await connectToScriptedServer(
      [respondWithError(-32000, "busy", "3s"), respondWithStream(sliceNumberedEvents(0, 6), "end")].map(
        (answer, index): ScriptedResponder =>
          index === 0 ? (response) => response.writeHead(429, { "retry-after": "3" }).end() : answer,
      ),
    );
    expect(await collectStreamEventsForTest(client.stream("go"))).toEqual(TASK_EVENTS);
    expect(waits).toEqual([3_000]);
  });

  it("end after the maximum, and the error contains the position", async () => {
    const { client, waits } = await connectToScriptedServer(
      [respondWithStream(sliceNumberedEvents(0, 3), "cut"), resetConnection],
      { maxRetries: 3 },
    );
    const events: StreamResponse[] = [];
    const reading = (async () => {
      for await (const event of client.stream("go")) events.push(event);
    })();
    await expect(reading).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      metadata: { taskId: "t", lastEventId: "3" },
      message: expect.stringContaining(
        "The stream of task t lost its connection, and 3 attempts to resume it failed",
      ) as string,
    });
    expect(events).toEqual(TASK_EVENTS.slice(0, 3));
    expect(waits).toHaveLength(3);
  });

  it("continue with the complete task if the server has lost events that the client has received [E3]", async () => {
    const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", domain: "a2a-protocol.org" };
    const data = [{ ...info, reason: "UNAVAILABLE", metadata: { logWentBack: "true", taskId: "t" } }];
    const { client, listCalls } = await connectToScriptedServer([
      (response, { body }) => {
        const error = { jsonrpc: "2.0", id: body.id, error: { code: -32603, message: "went back", data } };
        const events = sliceNumberedEvents(0, 3).map(
          ([id, result]) => [id, { jsonrpc: "2.0", id: body.id, result }] as [number, unknown],
        );
        sendTestSseEvents(response, [...events, [0, error]], "end");
      },
      respondWithStream([[2, createTask("TASK_STATE_COMPLETED")]], "end"),
    ]);
    const events = await collectStreamEventsForTest(client.stream("go"));
    expect(events).toEqual([...TASK_EVENTS.slice(0, 3), createTask("TASK_STATE_COMPLETED")]);
    expect(listCalls().map(({ method, after }) => [method, after])).toEqual([
      ["SendStreamingMessage", undefined],
      ["SubscribeToTask", undefined],
    ]);
  });

  it("that end before the first event name the message id to reuse", async () => {
    const { client } = await connectToScriptedServer([resetConnection], { maxRetries: 1 });
    const messageId = "11111111-2222-4333-8444-555555555555";
    await expect(collectStreamEventsForTest(client.stream("go", { messageId }))).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      metadata: { messageId },
      message: expect.stringContaining(`Send it again with the messageId ${messageId}.`) as string,
    });
  });

  it("end if the server disconnects after every snapshot", async () => {
    const { client, waits } = await connectToScriptedServer(
      [respondWithStream([[0, createTask("TASK_STATE_WORKING")]], "cut")],
      { maxRetries: 4 },
    );
    await expect(collectStreamEventsForTest(client.stream("go"))).rejects.toBeInstanceOf(A2AError);
    expect(waits).toHaveLength(4);
  });

  it("end if the server goes back to earlier events each time", async () => {
    const repeatEarlierEvents = respondWithStream(
      [3, 2, 1].map((id) => [id, createArtifactUpdate(String(id))] as const),
      "cut",
    );
    const { client, waits } = await connectToScriptedServer(
      [respondWithStream(sliceNumberedEvents(0, 3), "cut"), repeatEarlierEvents],
      { maxRetries: 4 },
    );
    const events: StreamResponse[] = [];
    const reading = (async () => {
      for await (const event of client.stream("go")) if (events.push(event) > 100) return;
    })();
    await expect(reading).rejects.toBeInstanceOf(A2AError);
    expect(waits).toHaveLength(4);
  });

  it("end if the server declares each of its errors to be an expired deadline of the client", async () => {
    const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", domain: "a2a-protocol.org" };
    const data = [{ ...info, reason: "UNAVAILABLE", metadata: { timeoutMs: "1" } }];
    const error = { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "busy", data } };
    const { client, waits } = await connectToScriptedServer(
      [
        (response, { body }) => {
          const snapshot = { jsonrpc: "2.0", id: body.id, result: createTask("TASK_STATE_WORKING") };
          const events: [number, unknown][] = [
            [0, snapshot],
            [0, error],
          ];
          sendTestSseEvents(response, events, "end");
        },
      ],
      { maxRetries: 4 },
    );
    let count = 0;
    const reading = (async () => {
      for await (const _ of client.stream("go")) if (++count > 50) return;
    })();
    await expect(reading).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    expect(waits).toHaveLength(4);
  });

  it("are disabled with zero retries", async () => {
    const { client, waits } = await connectToScriptedServer([resetConnection], { maxRetries: 0 });
    await expect(collectStreamEventsForTest(client.stream("go"))).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      metadata: { messageId: expect.any(String) as string },
    });
    expect(waits).toEqual([]);
  });

  it("end at once if the signal aborts during a delay", async () => {
    const controller = new AbortController();
    let url = "";
    const server = await startRequestRecordingTestServer((response, request) => {
      if (request.url.includes("/.well-known/")) sendTestJsonResponse(response, buildTestAgentCard(url));
      else {
        resetConnection(response, request);
        // The client is about to wait for an hour.
        setImmediate(() => controller.abort(new Error("enough")));
      }
    });
    ({ url } = server);
    const remote = await connect(url, {
      reconnect: { initialDelayMs: 3_600_000, maxDelayMs: 3_600_000, random: () => 1 },
    });
    await expect(
      collectStreamEventsForTest(remote.stream("go", { signal: controller.signal })),
    ).rejects.toThrow("enough");
  });
});

it("a reader that leaves closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  const { client } = await connectToScriptedServer([
    (response, request, watch) => {
      respondWithStream(sliceNumberedEvents(0, 2), "open")(response, request, watch);
      void once(response, "close").then(() => closed.resolve());
    },
  ]);
  for await (const event of client.stream("go")) {
    expect(event).toEqual(TASK_EVENTS[0]);
    break;
  }
  await closed.promise;
});
