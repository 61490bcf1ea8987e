import { describe, expect, it } from "vitest";
import { collect, connect, type RetryOptions, type A2AClient } from "../index.ts";
import {
  type TestRequestResponder,
  buildTestAgentCard,
  startRequestRecordingTestServer,
  type RecordedTestRequest,
  sendTestSseEvents,
  sendTestJsonResponse,
} from "../request-recording-test-server.fixture.ts";
import { collectStreamEventsForTest, requireTaskResponseInTest } from "../a2a-client.contract.ts";

// Events of 0.3 servers in their JSON-RPC format. A2A 0.3 has no event ids, and leaves much of resubscription
// undefined.

const TASK_IDS = { taskId: "t", contextId: "c" };
const createArtifactUpdate = (text: string): object => ({
  kind: "artifact-update",
  ...TASK_IDS,
  artifact: { artifactId: "a", parts: [{ kind: "text", text }] },
  append: true,
});
const createStatusUpdate = (state: string, final = false): object => ({
  kind: "status-update",
  ...TASK_IDS,
  status: { state },
  final,
});
const createTask = (state: string, text?: string): object => ({
  kind: "task",
  id: "t",
  contextId: "c",
  status: { state },
  ...(text === undefined ? {} : { artifacts: [{ artifactId: "a", parts: [{ kind: "text", text }] }] }),
});

const respondWithStream =
  (events: readonly object[], ending: "end" | "cut" | "open", firstId = 0): TestRequestResponder =>
  (response, { body }) =>
    sendTestSseEvents(
      response,
      events.map((result, index) => [firstId && firstId + index, { jsonrpc: "2.0", id: body.id, result }]),
      ending,
    );
const respondWithResult =
  (result: unknown): TestRequestResponder =>
  (response, { body }) =>
    sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, result });
const respondWithError =
  (code: number): TestRequestResponder =>
  (response, { body }) =>
    sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, error: { code, message: "no" } });

/** A 0.3 server that answers the requests to each method in order. */
async function connectToScriptedServer(
  answers: Record<string, readonly TestRequestResponder[]>,
  reconnect: RetryOptions = {},
): Promise<{ remote: A2AClient; asked: () => (string | undefined)[]; seen: RecordedTestRequest[] }> {
  const aborted = new Map(Object.entries(answers).map(([method, all]) => [method, [...all]]));
  let url = "";
  const server = await startRequestRecordingTestServer((response, request) => {
    if (request.url.includes("/.well-known/")) {
      const old = { supportedInterfaces: undefined, url: `${url}/rpc`, protocolVersion: "0.3.0" };
      return sendTestJsonResponse(response, buildTestAgentCard(url, old));
    }
    const next = aborted.get(request.body.method ?? "")?.shift();
    if (!next) throw new Error(`unexpected request ${request.body.method}`);
    next(response, request);
  });
  ({ url } = server);
  const remote = await connect(url, {
    extensions: ["urn:x:polite"],
    reconnect: { sleep: () => Promise.resolve(), ...reconnect },
  });
  const seen = (): RecordedTestRequest[] => server.seen.slice(1);
  return { remote, asked: () => seen().map(({ body }) => body.method), seen: server.seen };
}

const collectText = async (
  events: Awaited<ReturnType<typeof collectStreamEventsForTest>>,
): Promise<string> => {
  async function* replay(): AsyncGenerator<(typeof events)[number]> {
    yield* events;
  }
  const { artifacts = [] } = requireTaskResponseInTest(await collect(replay()));
  return artifacts.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))).join("");
};

describe("with a 0.3 agent", () => {
  it("every request names the version and the extensions in 0.3 headers [B-01, J-01]", async () => {
    const { remote, seen } = await connectToScriptedServer({
      "tasks/get": [respondWithResult(createTask("completed"))],
    });
    await remote.tasks.get("t");
    expect(seen[1]?.headers).toMatchObject({ "a2a-version": "0.3", "x-a2a-extensions": "urn:x:polite" });
    expect(seen[1]?.headers).not.toHaveProperty("a2a-extensions");
  });

  it("a stream ends with the final event even if the connection stays open", async () => {
    const { remote, asked } = await connectToScriptedServer({
      "message/stream": [
        respondWithStream([createTask("submitted"), createStatusUpdate("working", true)], "open"),
      ],
    });
    expect(await collectStreamEventsForTest(remote.stream("go"))).toHaveLength(2);
    expect(asked()).toEqual(["message/stream"]);
  });

  it("a stream waits for its server to close it, and ignores events after the final one", async () => {
    const ended = Promise.withResolvers<boolean>();
    const slow: TestRequestResponder = (response, request) => {
      respondWithStream(
        [createTask("submitted"), createStatusUpdate("completed", true), createArtifactUpdate("more")],
        "open",
      )(response, request);
      response.on("close", () => ended.resolve(response.writableFinished));
      setTimeout(() => response.end(), 50);
    };
    // This client uses a real timer.
    const { remote } = await connectToScriptedServer(
      { "message/stream": [slow] },
      { sleep: (ms) => new Promise((done) => setTimeout(done, ms)) },
    );
    expect(await collectStreamEventsForTest(remote.stream("go"))).toHaveLength(2);
    expect(await ended.promise).toBe(true);
  });

  it("a lost stream resumes with the complete task if the server sends it first [E3]", async () => {
    const { remote, asked } = await connectToScriptedServer({
      "message/stream": [respondWithStream([createTask("submitted"), createArtifactUpdate("one ")], "cut")],
      "tasks/resubscribe": [
        respondWithStream(
          [
            createTask("working", "one two "),
            createArtifactUpdate("three"),
            createStatusUpdate("completed", true),
          ],
          "end",
        ),
      ],
      "tasks/get": [respondWithResult(createTask("working", "one "))],
    });
    expect(await collectText(await collectStreamEventsForTest(remote.stream("go")))).toBe("one two three");
    expect(asked()).toEqual(["message/stream", "tasks/get", "tasks/resubscribe"]);
  });

  it("a lost stream resumes with the complete task if the server starts in the middle [E3]", async () => {
    const { remote, asked } = await connectToScriptedServer({
      "message/stream": [respondWithStream([createTask("submitted"), createArtifactUpdate("one ")], "cut")],
      "tasks/resubscribe": [
        respondWithStream([createArtifactUpdate("three"), createStatusUpdate("completed", true)], "open"),
      ],
      // "two" was sent between the connections. The final task contains it.
      "tasks/get": [
        respondWithResult(createTask("working", "one ")),
        respondWithResult(createTask("completed", "one two three")),
      ],
    });
    const events = await collectStreamEventsForTest(remote.stream("go"));
    expect(events.map((event) => Object.keys(event)[0])).toEqual([
      "task",
      "artifactUpdate",
      "task",
      "artifactUpdate",
      "task",
    ]);
    expect(await collectText(events)).toBe("one two three");
    expect(asked()).toEqual(["message/stream", "tasks/get", "tasks/resubscribe", "tasks/get"]);
  });

  it("a stream of a server with event ids resumes at its last event [E4]", async () => {
    const { remote, asked, seen } = await connectToScriptedServer({
      "message/stream": [
        respondWithStream([createTask("submitted"), createArtifactUpdate("one ")], "cut", 1),
      ],
      "tasks/resubscribe": [
        respondWithStream([createArtifactUpdate("two"), createStatusUpdate("completed", true)], "end", 3),
      ],
    });
    expect(await collectText(await collectStreamEventsForTest(remote.stream("go")))).toBe("one two");
    expect(asked()).toEqual(["message/stream", "tasks/resubscribe"]);
    expect(seen.at(-1)?.headers["last-event-id"]).toBe("2");
  });

  it.each([-32602, -32002, -32603])(
    "a task that ended in the meantime is the last event, for error code %i [F-51]",
    async (code) => {
      const { remote } = await connectToScriptedServer({
        "message/stream": [respondWithStream([createTask("submitted"), createArtifactUpdate("one ")], "cut")],
        "tasks/resubscribe": [respondWithError(code)],
        "tasks/get": [
          respondWithResult(createTask("working")),
          respondWithResult(createTask("completed", "one two")),
        ],
      });
      expect(await collectText(await collectStreamEventsForTest(remote.stream("go")))).toBe("one two");
    },
  );

  it("a subscription yields the task at once if the server sends nothing until it changes [F-50]", async () => {
    const { remote } = await connectToScriptedServer({
      "tasks/get": [respondWithResult(createTask("working"))],
      "tasks/resubscribe": [respondWithStream([], "open")],
    });
    const subscription = remote.tasks.subscribe("t")[Symbol.asyncIterator]();
    expect(await subscription.next()).toMatchObject({
      value: { task: { status: { state: "TASK_STATE_WORKING" } } },
    });
    await subscription.return?.();
  });

  it("a server that has lost its event ids receives a request for the task [E3]", async () => {
    const { remote, asked } = await connectToScriptedServer({
      "message/stream": [
        respondWithStream([createTask("submitted"), createArtifactUpdate("one ")], "cut", 1),
      ],
      "tasks/resubscribe": [
        respondWithStream([createArtifactUpdate("three"), createStatusUpdate("completed", true)], "end", 1),
      ],
      "tasks/get": [
        respondWithResult(createTask("working", "one two ")),
        respondWithResult(createTask("completed", "one two three")),
      ],
    });
    expect(await collectText(await collectStreamEventsForTest(remote.stream("go")))).toBe("one two three");
    expect(asked()).toEqual(["message/stream", "tasks/resubscribe", "tasks/get", "tasks/get"]);
  });

  it("a subscription without events is not retried forever", async () => {
    const { remote, asked } = await connectToScriptedServer(
      {
        "tasks/resubscribe": [respondWithStream([], "end"), respondWithStream([], "end")],
        "tasks/get": Array.from({ length: 4 }, () => respondWithResult(createTask("working"))),
      },
      { maxRetries: 1 },
    );
    await expect(collectStreamEventsForTest(remote.tasks.subscribe("t"))).rejects.toMatchObject({
      reason: "UNAVAILABLE",
    });
    const round = ["tasks/get", "tasks/resubscribe", "tasks/get"];
    expect(asked()).toEqual([...round, ...round]);
  });

  it("a follow-up message may start without the task", async () => {
    const { remote } = await connectToScriptedServer({
      "message/stream": [
        respondWithStream(
          [
            createStatusUpdate("working"),
            createArtifactUpdate("done"),
            createStatusUpdate("completed", true),
          ],
          "end",
        ),
      ],
    });
    const done = requireTaskResponseInTest(await collect(remote.stream("blue", { taskId: "t" })));
    expect(done).toMatchObject({
      id: "t",
      contextId: "c",
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "done" }] }],
    });
  });
});
