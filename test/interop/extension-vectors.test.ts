/** Runs the vectors of docs/extensions against our server, and checks the vectors with the JSON Schemas. */
import { readFileSync } from "node:fs";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../src/agents/adapters/index.ts";
import type { Agent, AgentEvent, Run } from "../../src/engine/index.ts";
import {
  findMessageJsonInStatusUpdate,
  getText,
  PARENT_TASK_EXTENSION_URI,
  toMessageStatusUpdate,
  type Message,
  type StreamResponse,
  type Task,
} from "../../src/protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../src/server/index.ts";

const NAMES = [
  "stream-cursor",
  "idempotent-send",
  "agent-steering",
  "message-events",
  "parent-task",
] as const;
type ExtensionName = (typeof NAMES)[number];

function readJson(file: string): Record<string, unknown> {
  const url = new URL(`../../docs/extensions/${file}`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")) as Record<string, unknown>;
}

/** Returns a function that checks values with one definition of an extension's JSON Schema. */
function createSchemaCheck(name: ExtensionName, definition: string): (value: unknown) => boolean {
  const { $defs } = readJson(`${name}-v1.schema.json`) as {
    $defs: Record<string, z.core.JSONSchema.JSONSchema>;
  };
  const schema = z.fromJSONSchema($defs[definition]!);
  return (value) => schema.safeParse(value).success;
}

let server: Server | undefined;
let url = "";
afterEach(async () => {
  await server?.close({ graceMs: 50 });
  server = undefined;
});

async function startServer(served: Agent, options: ServerOptions = {}): Promise<void> {
  server = createServer(served, { store: "memory", ...options });
  ({ url } = await server.listen());
}

interface JsonRpcAnswer {
  readonly result?: { readonly task: Task };
  readonly error?: { readonly code: number };
}

async function sendMessage(
  message: object,
  headers: Record<string, string> = {},
  configuration: object = {},
): Promise<JsonRpcAnswer> {
  const params = { message, configuration };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
  });
  return (await response.json()) as JsonRpcAnswer;
}

const REASONS_BY_CODE: Record<number, string> = {
  [-32602]: "INVALID_PARAMS",
  [-32004]: "UNSUPPORTED_OPERATION",
};

/** An agent that works until it is steered or interrupted. */
class WorkingTestAgent implements Agent {
  readonly interruptible: boolean;
  readonly deliver?: Agent["deliver"] & object;

  constructor({ steerable, interruptible }: { steerable: boolean; interruptible: boolean }) {
    this.interruptible = interruptible;
    if (steerable) this.deliver = () => true;
  }

  describe(): ReturnType<Agent["describe"]> {
    return { name: "worker", description: "Works." };
  }

  async *execute({ message, signal }: Run): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (getText(message.parts) === "work") await once(signal, "abort");
  }
}

describe.each(NAMES)("the page, schema, vectors, and declaration of %s", (name) => {
  it("have the same URI, and the schema accepts the declaration", async () => {
    const uri = `urn:colloquy:extensions:${name}:v1`;
    const page = readFileSync(new URL(`../../docs/extensions/${name}-v1.md`, import.meta.url), "utf8");
    const example = JSON.parse(/```json\n([^]*?)```/.exec(page)?.[1] ?? "null") as { uri: string };
    expect(example.uri).toBe(uri);
    expect(readJson(`vectors/${name}-v1.json`)["extension"]).toBe(uri);
    expect(readJson(`${name}-v1.schema.json`)["$id"]).toBe(`${uri}/schema`);
    await startServer(new WorkingTestAgent({ steerable: true, interruptible: true }));
    const response = await fetch(`${url}/.well-known/agent-card.json`);
    const card = (await response.json()) as { capabilities: { extensions: { uri: string }[] } };
    const declared = card.capabilities.extensions.find((extension) => extension.uri === uri);
    expect(declared).toEqual(example);
    const isValid = createSchemaCheck(name, "declaration");
    expect([
      isValid(declared),
      isValid({ ...example, uri: "urn:x" }),
      isValid({ ...example, required: true }),
    ]).toEqual([true, false, false]);
  });
});

interface SendSequence {
  readonly name: string;
  readonly requests: readonly {
    readonly caller: string;
    readonly message: Message;
    readonly outcome: string;
  }[];
}
const { sequences } = readJson("vectors/idempotent-send-v1.json") as unknown as { sequences: SendSequence[] };

it.each(sequences)("idempotent send: $name [F-11]", async ({ requests }) => {
  const echo = agent({ name: "echo", description: "Echoes." }, async function* ({ text }) {
    yield text;
  });
  await startServer(echo, {
    authenticate: ({ header }) => ({ tenant: "", principal: header("x-caller") ?? "" }),
  });
  const taskIds: string[] = [];
  for (const { caller, message, outcome } of requests) {
    const { result, error } = await sendMessage(message, { "x-caller": caller });
    const id = result?.task.id ?? "";
    const actual = error ? REASONS_BY_CODE[error.code] : taskIds.includes(id) ? "same" : "new";
    expect(actual).toBe(outcome);
    taskIds.push(id);
  }
});

interface SteeringVector {
  readonly name: string;
  readonly params: { readonly steerable: boolean; readonly interruptible: boolean };
  readonly signal: unknown;
  readonly outcome: string;
}
const { signals } = readJson("vectors/agent-steering-v1.json") as unknown as { signals: SteeringVector[] };

it.each(signals)("agent steering: $name", async ({ params, signal, outcome }) => {
  await startServer(new WorkingTestAgent(params));
  const buildMessage = (text: string, more: object = {}): object => ({
    messageId: crypto.randomUUID(),
    role: "ROLE_USER",
    parts: [{ text }],
    ...more,
  });
  const begun = await sendMessage(buildMessage("work"), {}, { returnImmediately: true });
  const metadata = { "urn:colloquy:extensions:agent-steering:v1/signal": signal };
  const headers = { "a2a-extensions": "urn:colloquy:extensions:agent-steering:v1" };
  const message = buildMessage("left", { taskId: begun.result?.task.id, metadata });
  const { result, error } = await sendMessage(message, headers);
  const isEnded = result?.task.status.state === "TASK_STATE_COMPLETED";
  expect(error ? REASONS_BY_CODE[error.code] : isEnded ? "interrupted" : "steered").toBe(outcome);
  const isValid = createSchemaCheck("agent-steering", "messageMetadata")(metadata);
  expect(isValid).toBe(outcome !== "INVALID_PARAMS");
});

interface MessageEventVector {
  readonly name: string;
  readonly message: Message;
  readonly event: StreamResponse & { readonly statusUpdate: { readonly metadata: object } };
}
const { events } = readJson("vectors/message-events-v1.json") as unknown as { events: MessageEventVector[] };

it.each(events)("message events: $name", ({ message, event }) => {
  expect(toMessageStatusUpdate(message)).toEqual(event);
  expect(findMessageJsonInStatusUpdate(event)).toEqual(message);
  const isValid = createSchemaCheck("message-events", "updateMetadata");
  expect(isValid(event.statusUpdate.metadata)).toBe(true);
  expect(isValid({})).toBe(false);
});

interface ParentTaskVector {
  readonly name: string;
  readonly metadata: Record<string, unknown>;
  readonly parentTask: Run["parentTask"] | null;
}
const { messages: parentTasks } = readJson("vectors/parent-task-v1.json") as unknown as {
  messages: ParentTaskVector[];
};

it.each(parentTasks)("parent task: $name [E22]", async ({ metadata, parentTask }) => {
  const seen: Run["parentTask"][] = [];
  const echo = agent({ name: "echo", description: "Echoes." }, async function* (turn) {
    seen.push(turn.parentTask);
    yield turn.text;
  });
  await startServer(echo);
  const message = { role: "ROLE_USER", parts: [{ text: "Hello" }], metadata };
  await sendMessage({ ...message, messageId: "active" }, { "a2a-extensions": PARENT_TASK_EXTENSION_URI });
  await sendMessage({ ...message, messageId: "not active" });
  expect(seen).toEqual([parentTask ?? undefined, undefined]);
  const isValid = createSchemaCheck("parent-task", "messageMetadata")(metadata);
  expect(isValid).toBe(parentTask !== null);
});

it("the JSON Schema of the stream cursor accepts the metadata of the vectors, and rejects other values", () => {
  const isValidTask = createSchemaCheck("stream-cursor", "taskMetadata");
  const isValidUpdate = createSchemaCheck("stream-cursor", "updateMetadata");
  const isValidRequest = createSchemaCheck("stream-cursor", "requestMetadata");
  const { server: streams } = readJson("vectors/stream-cursor-v1.json") as unknown as {
    server: { events: Record<string, { metadata: object }>[] }[];
  };
  for (const event of streams.flatMap((stream) => stream.events)) {
    const isValid = "task" in event ? isValidTask : isValidUpdate;
    expect(Object.values(event).map(({ metadata }) => isValid(metadata))).toEqual([true]);
  }
  const uri = "urn:colloquy:extensions:stream-cursor:v1";
  for (const generation of [0, 1.5, "1", null])
    expect(isValidUpdate({ [`${uri}/generation`]: generation })).toBe(false);
  expect(isValidUpdate({})).toBe(false);
  expect([0, 3, -1, "3"].map((after) => isValidRequest({ [`${uri}/afterGeneration`]: after }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
