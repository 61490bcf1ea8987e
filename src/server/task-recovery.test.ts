import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent, LogAppend } from "../engine/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { JsonGrpcTestClient, readGrpcTestStream } from "./bindings/json-grpc-test-client.fixture.ts";
import { createServer, type Server } from "./index.ts";

/** A store whose commits fail while it is down. */
class OutageStore extends MemoryStore {
  isDown = false;

  override commit(batch: readonly LogAppend[]): ReturnType<MemoryStore["commit"]> {
    return this.isDown ? Promise.reject(new Error("The disk is full.")) : super.commit(batch);
  }
}

/** Writes a chunk every 50 ms until it is stopped. */
const countingTestAgent: Agent = {
  describe: () => ({ name: "counter", description: "Counts" }),
  async *execute({ signal }) {
    for (let append = false; ; append = true) {
      yield { artifact: { artifactId: "count", parts: [{ text: "1" }] }, append };
      await new Promise((resolve) => setTimeout(resolve, 50));
      signal.throwIfAborted();
    }
  },
};

const MESSAGE = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "count" }] };
const HEADERS = { "a2a-version": "1.0", "content-type": "application/json" };

describe("a task whose store fails for longer than the retries", () => {
  const store = new OutageStore();
  let server: Server;
  let url: string;
  let grpc: JsonGrpcTestClient;
  let taskId: string;

  beforeAll(async () => {
    server = createServer({ counter: countingTestAgent }, { store, observer: {} });
    const address = await server.listen({ grpc: true });
    ({ url } = address);
    grpc = new JsonGrpcTestClient(address.grpc?.port ?? 0);
  });
  afterAll(async () => {
    store.isDown = false;
    grpc.close();
    await server.close({ graceMs: 50 });
  });

  const callJsonRpc = (method: string, params: object): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });

  const callRest = (method: "GET" | "POST", path: string, body?: object): Promise<Response> =>
    fetch(`${url}${path}`, { method, headers: HEADERS, ...(body ? { body: JSON.stringify(body) } : {}) });

  it("ends the open streams of all bindings with UNAVAILABLE and a retry time [E17]", async () => {
    const sent = (await (
      await callJsonRpc("SendMessage", { message: MESSAGE, configuration: { returnImmediately: true } })
    ).json()) as { result: { task: { id: string } } };
    taskId = sent.result.task.id;
    const streams = [
      callJsonRpc("SubscribeToTask", { id: taskId }).then((response) => response.text()),
      callRest("POST", `/tasks/${taskId}:subscribe`).then((response) => response.text()),
      readGrpcTestStream(grpc.openStream("SubscribeToTask", { id: taskId })).then((read) =>
        JSON.stringify(read),
      ),
    ];
    store.isDown = true;
    for (const text of await Promise.all(streams)) {
      expect(text).toMatch(/UNAVAILABLE/);
      expect(text).toMatch(/RetryInfo/);
    }
  });

  it("refuses messages with UNAVAILABLE and a retry time, over every binding [E17]", async () => {
    const responses = [
      callJsonRpc("SendMessage", { message: MESSAGE }),
      callJsonRpc("SendStreamingMessage", { message: MESSAGE }),
      callRest("POST", "/message:send", { message: MESSAGE }),
      callRest("POST", "/message:stream", { message: MESSAGE }),
    ];
    for (const response of await Promise.all(responses)) {
      expect(response.headers.get("retry-after")).toBe("1");
      const text = await response.text();
      expect(text).toContain("UNAVAILABLE");
      expect(text).toContain("was interrupted by a fault of the server");
    }
    const unavailable = {
      code: "UNAVAILABLE",
      detailTypes: expect.arrayContaining([expect.stringContaining("RetryInfo")]) as unknown,
    };
    expect(await grpc.callUnary("SendMessage", { message: MESSAGE })).toMatchObject({ ended: unavailable });
    expect(
      await readGrpcTestStream(grpc.openStream("SendStreamingMessage", { message: MESSAGE })),
    ).toMatchObject({ events: [], ended: unavailable });
  });

  it("is read as it was committed last, over every binding [E17]", async () => {
    const reads = [callJsonRpc("GetTask", { id: taskId }), callRest("GET", `/tasks/${taskId}`)];
    const texts = await Promise.all(reads.map(async (response) => (await response).text()));
    texts.push(JSON.stringify(await grpc.callUnary("GetTask", { id: taskId })));
    for (const text of texts) expect(text).toMatch(/"TASK_STATE_(SUBMITTED|WORKING)"/);
  });

  it("is settled once the store answers again, for its streams, its readers, and a resent message [E17]", async () => {
    const grpcStream = grpc.openStream("SubscribeToTask", { id: taskId });
    const grpcRead = readGrpcTestStream(grpcStream);
    // A stream that begins after the task has ended would be refused.
    const [jsonRpc, rest] = await Promise.all([
      callJsonRpc("SubscribeToTask", { id: taskId }),
      callRest("POST", `/tasks/${taskId}:subscribe`),
      once(grpcStream, "metadata"),
    ]);
    const openStreams = [jsonRpc.text(), rest.text(), grpcRead.then((read) => JSON.stringify(read))];
    store.isDown = false;
    for (const text of await Promise.all(openStreams)) expect(text).toMatch(/TASK_STATE_FAILED/);
    const failed = { id: taskId, status: { state: "TASK_STATE_FAILED" } };
    await expect
      .poll(async () => await (await callRest("GET", `/tasks/${taskId}`)).json())
      .toMatchObject(failed);
    expect(await (await callRest("POST", "/message:send", { message: MESSAGE })).json()).toMatchObject({
      task: failed,
    });
  });
});
