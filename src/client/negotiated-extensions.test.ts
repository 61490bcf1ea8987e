import { once } from "node:events";
import { expect, it } from "vitest";
import { agent, inputRequired } from "../agents/adapters/index.ts";
import type { Agent } from "../engine/index.ts";
import { A2AError, fold, type StreamResponse, type Task } from "../protocol/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { requireTaskResponseInTest } from "./a2a-client.contract.ts";
import { type A2AClient, collect, connect, type ConnectOptions } from "./index.ts";
import {
  buildTestAgentCard,
  createTestJsonRpcResponder,
  startRequestRecordingTestServer,
} from "./request-recording-test-server.fixture.ts";

const CURSOR = "urn:colloquy:extensions:stream-cursor:v1";
const IDEMPOTENT = "urn:colloquy:extensions:idempotent-send:v1";
const MESSAGES = "urn:colloquy:extensions:message-events:v1";

const patientAgent = agent(
  { name: "patient", description: "Waits, or asks." },
  async function* ({ text, signal }) {
    if (text === "ask") yield inputRequired("Which colour?");
    else if (text === "wait") {
      yield "waiting";
      await once(signal, "abort");
    } else yield `got ${text}`;
  },
  { interruptible: true, artifacts: "pieces" },
);

async function serve(
  served: Agent,
  options: ConnectOptions = {},
): Promise<{ server: Server; url: string; client: A2AClient }> {
  const server = createServer(served, { store: "memory" });
  const { url } = await server.listen({ grpc: true });
  return { server, url, client: await connect(url, options) };
}

it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "an observer receives the messages of other clients, and folds them into the whole task, over %s",
  async (binding) => {
    const { server, client, url } = await serve(patientAgent, { binding });
    const observer = await connect(url, { binding, extensions: [MESSAGES] });
    const asked = requireTaskResponseInTest(await client.send("ask"));
    await client.send("blue", { taskId: asked.id, messageId: "answer" });
    const events: StreamResponse[] = [];
    for await (const event of observer.tasks.subscribe(asked.id, { after: 0 })) events.push(event);
    const added = events.find((event) => "message" in event);
    expect(added).toMatchObject({ message: { messageId: "answer", role: "ROLE_USER", taskId: asked.id } });
    const folded = events.reduce<Task | undefined>((task, event) => fold(task, event) as Task, undefined);
    expect(folded).toEqual(await client.tasks.get(asked.id));
    expect(await collect(toAsyncIterable(events))).toEqual({ task: folded });
    await server.close();
  },
);

it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "a message with the signal `interrupt` stops the agent and continues the task, over %s",
  async (binding) => {
    const { server, client } = await serve(patientAgent, { binding });
    const first = client.stream("wait")[Symbol.asyncIterator]();
    const opening = (await first.next()).value as { task: Task };
    for (let event = opening as StreamResponse; !("artifactUpdate" in event);)
      event = (await first.next()).value as StreamResponse;
    const { id: taskId } = opening.task;
    const task = requireTaskResponseInTest(await client.send("blue", { taskId, steering: "interrupt" }));
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(JSON.stringify(task.artifacts)).toContain("got blue");
    let last: StreamResponse | undefined;
    for (let next = await first.next(); !next.done; next = await first.next()) last = next.value;
    expect(last).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
    await expect(client.send("left", { taskId, steering: "steer" })).rejects.toMatchObject({
      reason: "UNSUPPORTED_OPERATION",
      message: expect.stringContaining("does not declare that it is steerable") as string,
    });
    await server.close();
  },
);

it("a message is sent again with the same id only if the card declares it", async () => {
  const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
  const sendTo = async (extensions: object[]): Promise<{ requested: unknown; messageIds: unknown[] }> => {
    let url = "";
    let attempts = 0;
    const { seen, url: at } = await startRequestRecordingTestServer((response, request) => {
      if (request.url.includes("/.well-known/")) {
        const card = buildTestAgentCard(url, { capabilities: { extensions } });
        response.setHeader("content-type", "application/json").end(JSON.stringify(card));
      } else if (++attempts === 1) response.destroy();
      else createTestJsonRpcResponder({ task })(response, request);
    });
    url = at;
    const client = await connect(url, { retry: { sleep: () => Promise.resolve() } });
    await client.send("x").catch((error: unknown) => {
      expect((error as A2AError).reason).toBe("UNAVAILABLE");
    });
    const sent = seen.slice(1);
    return {
      requested: sent[0]?.headers["a2a-extensions"],
      messageIds: sent.map(
        ({ body }) => (body.params as { message: { messageId: string } }).message.messageId,
      ),
    };
  };
  const declared = await sendTo([
    { uri: CURSOR },
    { uri: IDEMPOTENT },
    { uri: MESSAGES },
    { uri: "urn:x:own" },
  ]);
  expect(declared.requested).toBe(`${CURSOR}, ${IDEMPOTENT}`);
  expect(declared.messageIds).toHaveLength(2);
  expect(new Set(declared.messageIds).size).toBe(1);
  const undeclared = await sendTo([{ uri: "urn:x:own" }]);
  expect(undeclared).toMatchObject({ requested: undefined, messageIds: [expect.any(String)] });
});

async function* toAsyncIterable(events: readonly StreamResponse[]): AsyncGenerator<StreamResponse> {
  yield* events;
}
