import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import type { Task } from "../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { TestWebhookReceiver } from "./push/test-webhook-receiver.fixture.ts";
import { buildTestMessage, V1_JSON_TEST_HEADERS } from "./server.fixture.ts";

/** A host that freezes its process once all promises have settled that it received. */
class TestServerlessHost {
  readonly #work: Promise<unknown>[] = [];
  workCount = 0;

  waitUntil(work: Promise<unknown>): void {
    this.workCount++;
    this.#work.push(work.catch(() => {}));
  }

  async isFreeToFreeze(): Promise<boolean> {
    // Lets settled promises run their continuations.
    const turn = new Promise((resolve) => setImmediate(resolve, "busy"));
    return (await Promise.race([this.freeze(), turn])) !== "busy";
  }

  async freeze(): Promise<"frozen"> {
    await Promise.all(this.#work);
    return "frozen";
  }
}

function startServer(end: Promise<void>, options: ServerOptions = {}): Server {
  const slow = agent({ name: "slow", description: "Waits" }, async function* () {
    yield "one ";
    await end;
    yield "two";
  });
  const server = createServer(slow, { store: "memory", ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

function buildRequest(path: string, configuration: object = {}): Request {
  const body = JSON.stringify({ message: buildTestMessage("go"), configuration });
  return new Request(`http://localhost${path}`, { method: "POST", headers: V1_JSON_TEST_HEADERS, body });
}

describe("a serverless host with waitUntil", () => {
  it("is kept running until the agent ends, although the response has been sent", async () => {
    const end = Promise.withResolvers<void>();
    const server = startServer(end.promise);
    const host = new TestServerlessHost();
    const response = await server.fetch(buildRequest("/message:send", { returnImmediately: true }), host);
    const { task } = (await response.json()) as { task: Task };
    expect(host.workCount).toBe(1);
    expect(await host.isFreeToFreeze()).toBe(false);
    end.resolve();
    await host.freeze();
    const read = await server.fetch(
      new Request(`http://localhost/tasks/${task.id}`, { headers: { "a2a-version": "1.0" } }),
      host,
    );
    expect(await read.json()).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "one two" }] }],
    });
  });

  it("is kept running for a stream whose client has disconnected", async () => {
    const end = Promise.withResolvers<void>();
    const server = startServer(end.promise);
    const host = new TestServerlessHost();
    const response = await server.fetch(buildRequest("/message:stream"), host);
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain("SUBMITTED");
    await reader.cancel();
    expect(await host.isFreeToFreeze()).toBe(false);
    end.resolve();
    expect(await host.freeze()).toBe("frozen");
  });

  it("is kept running until the push notifications of the task are sent", async () => {
    const receiver = await new TestWebhookReceiver().listen();
    onTestFinished(() => receiver.close());
    const server = startServer(Promise.resolve(), { push: { allowPrivate: true } });
    const host = new TestServerlessHost();
    const taskPushNotificationConfig = { url: receiver.url() };
    await server.fetch(
      buildRequest("/message:send", { returnImmediately: true, taskPushNotificationConfig }),
      host,
    );
    await host.freeze();
    const states = receiver.requests.map(({ body }) => JSON.stringify(body));
    expect(states.some((text) => text.includes("TASK_STATE_COMPLETED"))).toBe(true);
  });

  it("may freeze after requests that start no agent", async () => {
    const server = startServer(Promise.resolve());
    const host = new TestServerlessHost();
    await server.fetch(new Request("http://localhost/.well-known/agent-card.json"), host);
    expect(await host.freeze()).toBe("frozen");
  });

  it("may pass other information without waitUntil", async () => {
    const server = startServer(Promise.resolve());
    for (const info of [undefined, null, 7, {}, { waitUntil: "later" }, { params: Promise.resolve({}) }])
      expect((await server.fetch(buildRequest("/message:send"), info)).status).toBe(200);
  });
});
