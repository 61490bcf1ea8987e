import { afterEach, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, Run } from "../engine/index.ts";
import { getText, type JsonObject, type Message, type Task } from "../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "./index.ts";
import { RAW_TEST_BINDING_FACTORIES, type RawTestBinding } from "./raw-bindings.fixture.ts";
import { buildTestMessage, messageCommandTestAgent } from "./server.fixture.ts";

const CURSOR = "urn:colloquy:extensions:stream-cursor:v1";
const IDEMPOTENT = "urn:colloquy:extensions:idempotent-send:v1";
const PARENT_TASK = "urn:colloquy:extensions:parent-task:v1";
const STEERING = "urn:colloquy:extensions:agent-steering:v1";
const MESSAGES = "urn:colloquy:extensions:message-events:v1";

/** An agent that notes each steering message in its artifact, until a message says `finish`. */
class SteerableTestAgent implements Agent {
  readonly interruptible: boolean;
  readonly #inboxes = new Map<string, (message: Message) => void>();
  readonly seenExtensions: (readonly string[])[] = [];

  constructor(interruptible = true) {
    this.interruptible = interruptible;
  }

  describe(): ReturnType<Agent["describe"]> {
    return { name: "driver", description: "Is steered." };
  }

  deliver(message: Message, { id }: Task): boolean {
    const receive = this.#inboxes.get(id);
    receive?.(message);
    return receive !== undefined;
  }

  async *execute({ message, taskId, signal, extensions }: Run): AsyncGenerator<AgentEvent> {
    this.seenExtensions.push(extensions);
    const isDriving = getText(message.parts) === "drive";
    const received: Message[] = [];
    let wake = (): void => {};
    if (isDriving)
      this.#inboxes.set(taskId, (steering) => {
        received.push(steering);
        wake();
      });
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (!isDriving) {
      yield { artifact: { artifactId: "b", parts: [{ text: getText(message.parts) }] } };
      return;
    }
    signal.addEventListener("abort", () => wake());
    for (let noted = ""; !noted.endsWith("finish") && !signal.aborted;) {
      if (received.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      for (const { parts } of received.splice(0)) {
        noted = getText(parts);
        yield { artifact: { artifactId: "a", parts: [{ text: `${noted} ` }] }, append: true };
      }
    }
    this.#inboxes.delete(taskId);
  }
}

let server: Server;
let binding: RawTestBinding;
let url: string;

async function startServer(
  agent: Agent,
  name: keyof typeof RAW_TEST_BINDING_FACTORIES = "JSONRPC",
  options: ServerOptions = {},
): Promise<void> {
  server = createServer(agent, { store: "memory", ...options });
  const address = await server.listen({ grpc: true });
  ({ url } = address);
  binding = RAW_TEST_BINDING_FACTORIES[name](address.url, address.grpc?.port ?? 0);
}

afterEach(async () => {
  binding.close();
  await server.close({ graceMs: 50 });
});

const send = (text: string, more: object = {}): JsonObject => ({
  message: buildTestMessage(text, more) as JsonObject,
});
const activate = (...uris: string[]): Record<string, string> => ({ "a2a-extensions": uris.join(", ") });

/** Returns the metadata of an event or task. */
function getMetadata(event: JsonObject): JsonObject {
  const content = (event["task"] ?? event["statusUpdate"] ?? event["artifactUpdate"] ?? event) as JsonObject;
  return (content["metadata"] ?? {}) as JsonObject;
}
const getGenerations = (events: readonly JsonObject[]): unknown[] =>
  events.map((event) => getMetadata(event)[`${CURSOR}/generation`]);
const getTask = (results: readonly JsonObject[]): Task => results[0]?.["task"] as unknown as Task;

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)("over %s", (name) => {
  it("no extension changes a response unless the request lists it [J-04]", async () => {
    await startServer(messageCommandTestAgent, name, { mergeChunks: false });
    const stream = await binding.request("SendStreamingMessage", send("chunks 2"));
    const { id } = getTask(stream.results);
    const responses = [
      stream,
      await binding.request("GetTask", { id }),
      await binding.request("SubscribeToTask", { id }, { "last-event-id": "1" }),
    ];
    for (const { text, active, results } of responses) {
      expect(results.length).toBeGreaterThan(0);
      expect(text).not.toContain("urn:colloquy");
      expect(active ?? "").toBe("");
    }
  });

  it("the stream cursor numbers the events of a stream and the task of GetTask [J-01, J-02]", async () => {
    await startServer(messageCommandTestAgent, name, { mergeChunks: false });
    const { results } = await binding.request("SendStreamingMessage", send("chunks 3"), activate(CURSOR));
    expect(getGenerations(results)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(JSON.stringify(results)).not.toContain("previousGeneration");
    const { id } = getTask(results);
    const read = await binding.request("GetTask", { id }, activate(CURSOR));
    expect(read.active).toBe(CURSOR);
    expect(getGenerations(read.results)).toEqual([6]);
  });

  it("the stream cursor resumes a stream after an event, and shows that no event is missing [J-01]", async () => {
    await startServer(messageCommandTestAgent, name, { mergeChunks: false });
    const asked = await binding.request("SendMessage", send("ask"));
    const { id } = getTask(asked.results);
    await binding.request("SendMessage", send("chunks 2", { taskId: id }));
    const resume = (after: number): ReturnType<RawTestBinding["request"]> =>
      binding.request("SubscribeToTask", { id }, { ...activate(CURSOR), "last-event-id": String(after) });
    const { results } = await resume(1);
    // The message of the second turn is event 4.
    expect(getGenerations(results)).toEqual([2, 3, 5, 6, 7, 8]);
    const previous = results.map((event) => getMetadata(event)[`${CURSOR}/previousGeneration`]);
    expect(previous).toEqual([undefined, undefined, 3, undefined, undefined, undefined]);
    expect(getGenerations((await resume(6)).results)).toEqual([7, 8]);
    expect((await resume(9)).reason).toBe("INVALID_PARAMS");
  });

  it("message events contain the messages of other clients, only if requested [J-01]", async () => {
    await startServer(messageCommandTestAgent, name, { mergeChunks: false });
    const { id, contextId } = getTask((await binding.request("SendMessage", send("ask"))).results);
    await binding.request("SendMessage", send("echo hi", { taskId: id, messageId: "answer" }));
    const after = { "last-event-id": "3" };
    const plain = await binding.request("SubscribeToTask", { id }, after);
    expect(plain.text).not.toContain("echo hi");
    const { results } = await binding.request("SubscribeToTask", { id }, { ...after, ...activate(MESSAGES) });
    expect(results.length).toBe(plain.results.length + 1);
    const message = {
      messageId: "answer",
      role: "ROLE_USER",
      parts: [{ text: "echo hi" }],
      taskId: id,
      contextId,
    };
    const metadata = { [`${MESSAGES}/message`]: message };
    const status = { state: "TASK_STATE_WORKING" };
    expect(results[0]).toEqual({ statusUpdate: { taskId: id, contextId, status, metadata } });
    const both = await binding.request(
      "SubscribeToTask",
      { id },
      { ...after, ...activate(MESSAGES, CURSOR) },
    );
    expect(getGenerations(both.results)).toEqual([4, 5, 6, 7]);
    expect(both.text).not.toContain("previousGeneration");
  });

  it("steering gives a message to the running agent, which continues its work [J-01]", async () => {
    const agent = new SteerableTestAgent();
    await startServer(agent, name, { mergeChunks: false });
    const { id } = getTask(
      (await binding.request("SendMessage", { ...send("drive"), configuration: { returnImmediately: true } }))
        .results,
    );
    const steer = (text: string): JsonObject =>
      send(text, { taskId: id, metadata: { [`${STEERING}/signal`]: "steer" } });
    await binding.request("SendMessage", steer("left"), activate(STEERING));
    await binding.request("SendMessage", steer("finish"), activate(STEERING));
    const { results } = await binding.request("SubscribeToTask", { id }, { "last-event-id": "1" });
    const states = results.map(({ statusUpdate }) => JSON.stringify(statusUpdate ?? {}));
    expect(states.at(-1)).toContain("TASK_STATE_COMPLETED");
    expect(states.join()).not.toContain("INPUT_REQUIRED");
    const [task] = (await binding.request("GetTask", { id })).results as unknown as Task[];
    expect(task?.artifacts?.map(({ parts }) => getText(parts))).toEqual(["left finish "]);
    expect(agent.seenExtensions).toEqual([[]]);
  });

  it("an interrupt stops the agent and begins a turn with the message [J-01]", async () => {
    await startServer(new SteerableTestAgent(), name, { mergeChunks: false });
    const first = binding.request("SendStreamingMessage", send("drive", { contextId: "c" }));
    const { tasks } = await waitForTasks("c");
    const { id } = tasks[0]!;
    const metadata = { [`${STEERING}/signal`]: "interrupt" };
    const sent = await binding.request(
      "SendMessage",
      send("instead", { taskId: id, metadata }),
      activate(STEERING),
    );
    expect(getTask(sent.results)).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "instead" }] }],
    });
    expect((await first).results.at(-1)).toMatchObject({
      statusUpdate: { status: { state: "TASK_STATE_INPUT_REQUIRED" } },
    });
  });

  it("steering rejects what the agent cannot do, and unknown signals", async () => {
    await startServer({ ...messageCommandTestAgent, whileWorking: "queue", interruptible: true }, name);
    const unsteerable = getTask(
      (await binding.request("SendMessage", { ...send("wait"), configuration: { returnImmediately: true } }))
        .results,
    );
    const sendSignal = (signal: string): ReturnType<RawTestBinding["request"]> =>
      binding.request(
        "SendMessage",
        send("x", { taskId: unsteerable.id, metadata: { [`${STEERING}/signal`]: signal } }),
        activate(STEERING),
      );
    expect((await sendSignal("steer")).reason).toBe("UNSUPPORTED_OPERATION");
    expect((await sendSignal("stop")).reason).toBe("INVALID_PARAMS");
    expect(getTask((await sendSignal("interrupt")).results).status.state).toBe("TASK_STATE_COMPLETED");
  });
});

/** Waits until the context has a task. */
async function waitForTasks(contextId: string): Promise<{ tasks: Task[] }> {
  for (;;) {
    const response = await fetch(`${url}/tasks?contextId=${contextId}&status=TASK_STATE_WORKING`, {
      headers: { "a2a-version": "1.0" },
    });
    const page = (await response.json()) as { tasks: Task[] };
    if (page.tasks.length > 0) return page;
  }
}

it.each(["JSONRPC", "HTTP+JSON"] as const)(
  "the cursor of a request may be in its body, over %s",
  async (name) => {
    await startServer(messageCommandTestAgent, name, { mergeChunks: false });
    const { id } = getTask((await binding.request("SendMessage", send("chunks 2"))).results);
    const resume = (after: unknown): ReturnType<RawTestBinding["request"]> =>
      binding.request(
        "SubscribeToTask",
        { id, metadata: { [`${CURSOR}/afterGeneration`]: after as number } },
        activate(CURSOR),
      );
    expect(getGenerations((await resume(3)).results)).toEqual([4, 5]);
    for (const invalid of ["3", -1, 0.5]) expect((await resume(invalid)).reason).toBe("INVALID_PARAMS");
  },
);

describe("a card declares the extensions that the server implements for the agent", () => {
  const listDeclared = async (): Promise<JsonObject[]> => {
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions?: JsonObject[] };
    };
    return card.capabilities.extensions ?? [];
  };
  const listUris = async (): Promise<unknown[]> => (await listDeclared()).map(({ uri }) => uri);

  it("after the agent's own, none of them required [A-12]", async () => {
    const own = { uri: "urn:x:own", required: false };
    const describeAgent = (): ReturnType<Agent["describe"]> => ({
      name: "x",
      description: "x",
      capabilities: { extensions: [own] },
    });
    await startServer({ ...messageCommandTestAgent, describe: describeAgent });
    expect(await listUris()).toEqual(["urn:x:own", CURSOR, MESSAGES, IDEMPOTENT, PARENT_TASK]);
    expect((await listDeclared()).some(({ required }) => required === true)).toBe(false);
  });

  it("steering with what the agent can do [A-12]", async () => {
    await startServer(new SteerableTestAgent(false));
    expect((await listDeclared()).at(-1)).toMatchObject({ uri: STEERING, params: { steerable: true } });
  });

  it("no streams without streaming, and no safe repetition without deduplication or tasks [A-12]", async () => {
    const describeAgent = (): ReturnType<Agent["describe"]> => ({
      name: "x",
      description: "x",
      capabilities: { streaming: false },
    });
    await startServer({ ...messageCommandTestAgent, describe: describeAgent }, "JSONRPC", {
      deduplicateMessages: false,
    });
    expect(await listUris()).toEqual([PARENT_TASK]);
    await server.close();
    await startServer({ ...messageCommandTestAgent, describe: describeAgent, respondsWith: "either" });
    expect(await listUris()).toEqual([PARENT_TASK]);
  });
});
