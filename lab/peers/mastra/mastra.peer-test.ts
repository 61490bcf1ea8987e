import { once } from "node:events";
import { Mastra } from "@mastra/core";
import { Agent as SourceAgent, type ToolsInput } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { InMemoryStore } from "@mastra/core/storage";
import type { ChunkType } from "@mastra/core/stream";
import { createTool } from "@mastra/core/tools";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { collect, connect, type A2AClient } from "../../../src/client/index.ts";
import type { Agent, AgentCallReport } from "../../../src/engine/index.ts";
import { data, getText, text, type Task } from "../../../src/protocol/index.ts";
import { bearer } from "../../../src/server/auth/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/index.ts";
import { MemoryStore } from "../../../src/stores/index.ts";
import {
  defineAdapterContract,
  getArtifactTextWithoutReasoning,
  requireTask,
} from "../../../src/agents/adapters/adapter.contract.ts";
import { type ScriptedEndpointExchange, startScriptedEndpoint } from "../scripted-endpoint.ts";
import { calculatorTool } from "../../../src/agents/adapters/calculator-tool.fixture.ts";
import { fromMastra, type MastraOptions } from "../../../src/agents/adapters/mastra/index.ts";
import type { MastraChunk } from "../../../src/agents/adapters/mastra/from-mastra.ts";

/** Compiles only if Mastra's chunks have the members that the adapter reads. */
export const readableChunk: (
  chunk: Extract<ChunkType<unknown>, { type: MastraChunk["type"] }>,
) => MastraChunk = (chunk) => chunk;

type EndpointScript = Parameters<typeof startScriptedEndpoint>[0];
type SourceConfig = { tools?: ToolsInput; memory?: MockMemory };

const openEndpoints: { close: () => void }[] = [];
afterEach(() => {
  for (const { close } of openEndpoints.splice(0)) close();
});

/** Creates a Mastra agent whose model is at a scripted endpoint, which starts on first use. */
function createSourceAgent(script: EndpointScript, config: SourceConfig = {}): SourceAgent {
  const opening = startScriptedEndpoint(script);
  void opening.then((endpoint) => openEndpoints.push(endpoint));
  return new SourceAgent({
    id: "scripted",
    name: "scripted",
    description: "For tests",
    instructions: "You are a test.",
    model: async () => ({ id: "acme/model", url: (await opening).baseUrl, apiKey: "secret" }),
    maxRetries: 0,
    ...config,
  });
}

/** Registers the agent at a Mastra instance, whose storage keeps suspended runs. */
function createScriptedAgent(
  script: EndpointScript,
  options: MastraOptions = {},
  config: SourceConfig = {},
  storage: InMemoryStore = new InMemoryStore(),
): Agent {
  const source = createSourceAgent(script, config);
  const mastra = new Mastra({ agents: { source }, storage, logger: false });
  return fromMastra(mastra.getAgent("source"), { defaultInputModes: ["*/*"], ...options });
}

function listUserTexts({ request }: ScriptedEndpointExchange): string[] {
  return request.messages.flatMap(({ role, content }) => (role === "user" ? [String(content)] : []));
}

function answer({ sendDelta, finish }: ScriptedEndpointExchange, ...chunks: readonly string[]): void {
  for (const content of chunks) sendDelta({ content });
  finish();
}

function callTools({ sendDelta, finish }: ScriptedEndpointExchange, name: string, ...inputs: object[]): void {
  const calls = inputs.map((input, index) => ({
    index,
    id: `call_${index + 1}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  sendDelta({ tool_calls: calls });
  finish("tool_calls");
}

function listToolOutputs({ request }: ScriptedEndpointExchange): string[] {
  return request.messages.flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));
}

const askCity = createTool({
  id: "askCity",
  description: "Asks for the city",
  inputSchema: z.object({}),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.string(),
  execute: async (_, { agent }) =>
    agent?.resumeData === undefined ? agent?.suspend({ message: "Which city?" }) : { city: agent.resumeData },
});

defineAdapterContract("an agent of Mastra", {
  createAnsweringAgent: (chunks) => createScriptedAgent((exchange) => answer(exchange, ...chunks)),
  createAnsweringAgentWithPieces: (chunks) =>
    createScriptedAgent((exchange) => answer(exchange, ...chunks), { artifacts: "pieces" }),
  createGateWaitingAgent: (gate) =>
    createScriptedAgent(async (exchange) => {
      exchange.sendDelta({ content: "first " });
      await gate;
      answer(exchange, "second");
    }),
  createFailingAgent: (error) =>
    createScriptedAgent(({ response }) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: error.message } }));
    }),
  createEndlessAgent: (stopped) =>
    createScriptedAgent(async ({ sendDelta, response }) => {
      sendDelta({ content: "working" });
      await once(response, "close");
      stopped();
    }),
  createRememberingAgent: () =>
    createScriptedAgent((exchange) => answer(exchange, listUserTexts(exchange).join(" | "))),
  createEchoAgent: () =>
    createScriptedAgent((exchange) => {
      const content = exchange.request.messages.at(-1)?.content as {
        type: string;
        text: string;
        image_url: { url: string };
      }[];
      const seen = content.map(({ type, text, image_url }) => {
        if (type === "image_url")
          return `file:${image_url.url.replace("data:", "").replace(";base64,", ":")}`;
        return text.startsWith("{") ? `data:${text}` : `text:${text}`;
      });
      answer(exchange, seen.join(" "));
    }),
  createAskingAgent: () =>
    createScriptedAgent(
      (exchange) => {
        const [toolOutput] = listToolOutputs(exchange);
        if (toolOutput === undefined) callTools(exchange, "askCity", {});
        else answer(exchange, `Sunny in ${(JSON.parse(toolOutput) as { city: string }).city}`);
      },
      {},
      { tools: { askCity } },
    ),
});

describe("an agent of Mastra", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent, options: ServerOptions = {}): Promise<A2AClient> {
    server = createServer(agent, { store: "memory", ...options });
    return connect((await server.listen()).url);
  }

  const createRefundTool = (refunds: number[]) =>
    createTool({
      id: "refund",
      description: "Refunds money",
      inputSchema: z.object({ euros: z.number() }),
      requireApproval: true,
      execute: async ({ euros }) => {
        refunds.push(euros);
        return { paid: euros };
      },
    });
  const requestRefund: EndpointScript = (exchange) => {
    const toolOutputs = listToolOutputs(exchange);
    if (toolOutputs.length > 0) answer(exchange, `Result: ${toolOutputs.join(", ")}`);
    else callTools(exchange, "refund", { euros: 80 });
  };

  it("reports its model calls and tool calls to the observer of the server", async () => {
    const add = createTool({
      ...calculatorTool,
      id: "add",
      inputSchema: calculatorTool.parameters,
      execute: async (input) => calculatorTool.execute(input),
    });
    const script: EndpointScript = (exchange) => {
      const [output] = listToolOutputs(exchange);
      if (output === undefined) callTools(exchange, "add", { a: 1, b: 2 });
      else answer(exchange, `The answer is ${output}`);
    };
    const calls: AgentCallReport[] = [];
    const remote = await connectToAgent(createScriptedAgent(script, {}, { tools: { add } }), {
      observer: { onAgentCall: ({ call }) => calls.push(call) },
    });
    await remote.send("1 + 2");
    expect(calls).toMatchObject([
      { kind: "tool", tool: "add", arguments: { a: 1, b: 2 }, result: { sum: 3 } },
      {
        kind: "model",
        model: "model",
        reply: { tool_calls: [{ toolName: "add" }] },
        finishReason: "tool-calls",
      },
      { kind: "model", reply: { text: 'The answer is {"sum":3}' }, finishReason: "stop" },
    ]);
    expect(JSON.stringify(calls[1])).toContain("1 + 2");
  });

  it("has the name and the description of the agent by default", () => {
    const source = createSourceAgent((exchange) => answer(exchange, "Hi"));
    expect(fromMastra(source).describe()).toMatchObject({ name: "scripted", description: "For tests" });
  });

  it("reports tool calls, reasoning, and token usage separately, and hides tool errors", async () => {
    const weather = createTool({
      id: "weather",
      description: "Returns the weather",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        if (city === "Atlantis") throw new Error("no route to 10.1.2.3");
        return { sky: `sunny in ${city}` };
      },
    });
    const script: EndpointScript = (exchange) => {
      if (listToolOutputs(exchange).length > 0) return answer(exchange, "Sunny.");
      exchange.sendDelta({ reasoning_content: "I should look." });
      exchange.sendDelta({ content: "Looking." });
      callTools(exchange, "weather", { city: "Seoul" }, { city: "Atlantis" });
    };
    const remote = await connectToAgent(createScriptedAgent(script, {}, { tools: { weather } }));
    const events = [];
    for await (const event of remote.stream("Weather?")) events.push(event);
    const reports = events.flatMap((event) =>
      "statusUpdate" in event
        ? (event.statusUpdate.status.message?.parts ?? []).flatMap((part) =>
            "data" in part ? [part.data] : [],
          )
        : [],
    );
    expect(reports).toEqual([
      { type: "tool-call", toolCallId: "call_1", toolName: "weather", input: { city: "Seoul" } },
      { type: "tool-call", toolCallId: "call_2", toolName: "weather", input: { city: "Atlantis" } },
      { type: "tool-error", toolCallId: "call_2", toolName: "weather" },
      { type: "tool-result", toolCallId: "call_1", toolName: "weather", output: { sky: "sunny in Seoul" } },
    ]);
    const [event] = events;
    const task = await remote.tasks.get((event as { task: Task }).task.id);
    const texts = task.artifacts?.map(({ artifactId, parts }) => [artifactId, getText(parts)]);
    expect(Object.fromEntries(texts ?? [])).toEqual({
      reasoning: "I should look.",
      answer: "Looking.\n\nSunny.",
    });
    expect(task.metadata?.["usage"]).toEqual({ inputTokens: 6, outputTokens: 10, totalTokens: 16 });
    expect(JSON.stringify(events)).not.toContain("10.1.2.3");
  });

  it.each([
    [text("yes"), 'Result: {"paid":80}', [80]],
    [data({ approvalId: "call_1", approved: true }), 'Result: {"paid":80}', [80]],
    [text("No, too much."), "Result: No, too much.", []],
  ])("asks for the approval of a tool call, and accepts %j", async (part, output, paid) => {
    const refunds: number[] = [];
    const tools = { refund: createRefundTool(refunds) };
    const remote = await connectToAgent(createScriptedAgent(requestRefund, {}, { tools }));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    expect(asked.status).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      message: {
        parts: [
          { text: "May refund be called?" },
          {
            data: {
              type: "tool-approval-request",
              approvalId: "call_1",
              toolName: "refund",
              input: { euros: 80 },
            },
          },
        ],
      },
    });
    expect(refunds).toEqual([]);
    const done = await requireTask(remote.send([part], { taskId: asked.id }));
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(done)).toBe(output);
    expect(refunds).toEqual(paid);
  });

  it("asks for the approval of each of several tool calls", async () => {
    const refunds: number[] = [];
    const script: EndpointScript = (exchange) => {
      const toolOutputs = listToolOutputs(exchange);
      if (toolOutputs.length > 0) answer(exchange, `Result: ${toolOutputs.join(", ")}`);
      else callTools(exchange, "refund", { euros: 80 }, { euros: 90 });
    };
    const tools = { refund: createRefundTool(refunds) };
    const remote = await connectToAgent(createScriptedAgent(script, {}, { tools }));
    const first = await requireTask(remote.send("Refund twice"));
    const second = await requireTask(remote.send("yes", { taskId: first.id }));
    expect(second.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const done = await requireTask(remote.send("no", { taskId: first.id }));
    expect(getArtifactTextWithoutReasoning(done)).toBe('Result: {"paid":80}, no');
    expect(refunds).toEqual([80]);
  });

  it("accepts an approval after a restart, if the storage of Mastra is persistent", async () => {
    const [store, storage] = [new MemoryStore(), new InMemoryStore()];
    const refunds: number[] = [];
    const createAgent = (): Agent =>
      createScriptedAgent(requestRefund, {}, { tools: { refund: createRefundTool(refunds) } }, storage);
    const before = createServer(createAgent(), { store });
    const asked = await requireTask((await connect((await before.listen()).url)).send("Refund 80 euros"));
    const remote = await connectToAgent(createAgent(), { store });
    const done = await requireTask(remote.send("yes", { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(done)).toBe('Result: {"paid":80}');
    expect(refunds).toEqual([80]);
    await before.close({ graceMs: 0 });
  });

  it("repeats a turn that a killed server interrupted, with `afterRestart: restart`", async () => {
    const store = new MemoryStore();
    const reached = Promise.withResolvers<void>();
    const createAgent = (script: EndpointScript): Agent =>
      createScriptedAgent(script, { afterRestart: "restart" });
    const hanging = createAgent(async ({ sendDelta, response }) => {
      sendDelta({ content: "half of " });
      reached.resolve();
      await once(response, "close");
    });
    const before = createServer(hanging, { store });
    const dead = await connect((await before.listen()).url);
    const asked = await requireTask(dead.send("tea", { configuration: { returnImmediately: true } }));
    await reached.promise;
    const repeating = createAgent((exchange) =>
      answer(exchange, `Here is your ${listUserTexts(exchange).join()}.`),
    );
    const remote = await connectToAgent(repeating, { store });
    const { task } = (await collect(remote.tasks.subscribe(asked.id))) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(task)).toBe("Here is your tea.");
  });

  it("uses the agent's memory, with a thread for each context of each caller", async () => {
    const memory = new MockMemory();
    const served = createScriptedAgent(
      (exchange) => answer(exchange, listUserTexts(exchange).join(" | ")),
      {},
      { memory },
    );
    server = createServer(served, {
      store: "memory",
      authenticate: bearer({ tokens: { "token-of-ada-0123": "ada", "token-of-bob-0123": "bob" } }),
    });
    const { url } = await server.listen();
    const ada = await connect(url, { auth: { bearer: "token-of-ada-0123" } });
    const bob = await connect(url, { auth: { bearer: "token-of-bob-0123" } });
    const contextId = "the-same";
    await ada.send("my secret", { contextId });
    expect(getArtifactTextWithoutReasoning(await requireTask(ada.send("again", { contextId })))).toBe(
      "my secret | again",
    );
    expect(getArtifactTextWithoutReasoning(await requireTask(bob.send("hi", { contextId })))).toBe("hi");
    const { threads } = await memory.listThreads({});
    expect(new Map(threads.map(({ id, resourceId }) => [id, resourceId]))).toEqual(
      new Map([
        ['["","ada","the-same"]', '["","ada"]'],
        ['["","bob","the-same"]', '["","bob"]'],
      ]),
    );
  });
});
