import { once } from "node:events";
import { Agent as OpenAiAgent, OpenAIProvider, type RunContext, Runner, tool } from "@openai/agents";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { collect, connect, type A2AClient } from "../../../src/client/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import { data, getText, text, type Task } from "../../../src/protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/index.ts";
import { MemoryStore } from "../../../src/stores/index.ts";
import {
  defineAdapterContract,
  getArtifactTextWithoutReasoning,
  requireTask,
} from "../../../src/agents/adapters/adapter.contract.ts";
import { createMemoryConversationStore } from "../../../src/agents/adapters/conversation-store.ts";
import type { Turn } from "../../../src/agents/adapters/generator-agent.ts";
import { startScriptedEndpoint } from "../scripted-endpoint.ts";
import {
  fromOpenAiAgents,
  type OpenAiAgentsOptions,
  type OpenAiAgentsRecord,
} from "../../../src/agents/adapters/openai-agents/index.ts";
import {
  type ResponsesInputItem,
  type ResponsesScript,
  startResponsesEndpoint,
} from "./responses-endpoint.fixture.ts";

const openEndpoints: { close: () => void }[] = [];
afterEach(() => {
  for (const { close } of openEndpoints.splice(0)) close();
});

/** Creates a runner whose models are at a scripted endpoint, which starts on first use. */
function createScriptedRunner(script: ResponsesScript): Runner {
  const opening = startResponsesEndpoint(script);
  void opening.then((endpoint) => openEndpoints.push(endpoint));
  const modelProvider = {
    getModel: async (name?: string) => {
      const { baseURL } = await opening;
      return new OpenAIProvider({ apiKey: "secret", baseURL, useResponses: true }).getModel(name);
    },
  };
  return new Runner({ modelProvider, tracingDisabled: true });
}

function createScriptedAgent(
  script: ResponsesScript,
  options: OpenAiAgentsOptions<unknown> = {},
  tools: OpenAiAgent["tools"] = [],
): Agent {
  return fromOpenAiAgents(new OpenAiAgent({ name: "scripted", model: "m", tools }), {
    description: "For tests",
    defaultInputModes: ["*/*"],
    runner: createScriptedRunner(script),
    ...options,
  });
}

function listUserTexts(input: readonly ResponsesInputItem[]): string[] {
  return input.flatMap(({ role, content }) =>
    role === "user" && typeof content === "string" ? [content] : [],
  );
}

function listArtifactTexts({ artifacts = [] }: Task): Record<string, string> {
  return Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, getText(parts)]));
}

function listToolOutputs(input: readonly ResponsesInputItem[]): string[] {
  return input.flatMap(({ type, output }) => (type === "function_call_output" ? [String(output)] : []));
}

defineAdapterContract("an agent of the OpenAI Agents SDK", {
  createAnsweringAgent: (chunks) => createScriptedAgent(() => chunks),
  createAnsweringAgentWithPieces: (chunks) => createScriptedAgent(() => chunks, { artifacts: "pieces" }),
  createGateWaitingAgent: (gate) =>
    createScriptedAgent(async function* () {
      yield "first ";
      await gate;
      yield "second";
    }),
  createFailingAgent: (error) =>
    createScriptedAgent(() => {
      throw error;
    }),
  createEndlessAgent: (stopped) =>
    createScriptedAgent(async function* (_, response) {
      yield "working";
      await once(response, "close");
      stopped();
    }),
  createRememberingAgent: () => createScriptedAgent((input) => [listUserTexts(input).join(" | ")]),
  createEchoAgent: () =>
    createScriptedAgent((input) => {
      const content = input.at(-1)?.content as { type: string; text: string; image_url: string }[];
      const seen = content.map(({ type, text, image_url }) => {
        if (type === "input_image") return `file:${image_url.replace("data:", "").replace(";base64,", ":")}`;
        return text.startsWith("{") ? `data:${text}` : `text:${text}`;
      });
      return [seen.join(" ")];
    }),
});

describe("an agent of the OpenAI Agents SDK", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent, options: ServerOptions = {}): Promise<A2AClient> {
    server = createServer(agent, { store: "memory", ...options });
    return connect((await server.listen()).url);
  }

  const createRefundTool = (refunds: number[]) =>
    tool({
      name: "refund",
      description: "Refunds money",
      parameters: z.object({ euros: z.number() }),
      needsApproval: true,
      execute: ({ euros }) => {
        refunds.push(euros);
        return `paid ${euros}`;
      },
    });
  const requestRefund: ResponsesScript = function* (input) {
    const [toolOutput] = listToolOutputs(input);
    if (toolOutput !== undefined) yield `Result: ${toolOutput}`;
    else if (listUserTexts(input).at(-1)?.startsWith("Refund"))
      yield { callId: "call_1", toolName: "refund", input: { euros: 80 } };
    else yield `Heard: ${listUserTexts(input).join(" | ")}`;
  };

  it("has the name and the description of the agent by default", async () => {
    const source = new OpenAiAgent({ name: "Clerk", handoffDescription: "Pays refunds", model: "m" });
    expect(fromOpenAiAgents(source).describe()).toMatchObject({ name: "Clerk", description: "Pays refunds" });
  });

  it("reports tool calls, reasoning, and token usage separately, and hides tool errors", async () => {
    const weather = tool({
      name: "weather",
      description: "Returns the weather",
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => {
        if (city === "Atlantis") throw new Error("no route to 10.1.2.3");
        return `sunny in ${city}`;
      },
    });
    const script: ResponsesScript = function* (input) {
      if (listToolOutputs(input).length > 0) yield "Sunny.";
      else {
        yield { reasoning: "I should look." };
        yield "Looking.";
        yield { callId: "1", toolName: "weather", input: { city: "Seoul" } };
        yield { callId: "2", toolName: "weather", input: { city: "Atlantis" } };
      }
    };
    const remote = await connectToAgent(createScriptedAgent(script, {}, [weather]));
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
      { type: "tool-call", toolCallId: "1", toolName: "weather", input: { city: "Seoul" } },
      { type: "tool-call", toolCallId: "2", toolName: "weather", input: { city: "Atlantis" } },
      { type: "tool-result", toolCallId: "1", toolName: "weather", output: "sunny in Seoul" },
      { type: "tool-error", toolCallId: "2", toolName: "weather" },
    ]);
    const [event] = events;
    const task = await remote.tasks.get((event as { task: Task }).task.id);
    expect(listArtifactTexts(task)).toEqual({ reasoning: "I should look.", answer: "Looking.\n\nSunny." });
    expect(task.metadata?.["usage"]).toEqual({ inputTokens: 6, outputTokens: 10, totalTokens: 16 });
    expect(JSON.stringify(events)).not.toContain("10.1.2.3");
  });

  it("answers with the result of a tool that ends the run", async () => {
    const clock = tool({
      name: "clock",
      description: "Returns the time",
      parameters: z.object({}),
      execute: () => "It is noon.",
    });
    const script: ResponsesScript = () => ["Let me see.", { callId: "1", toolName: "clock", input: {} }];
    const source = new OpenAiAgent({
      name: "clock",
      model: "m",
      tools: [clock],
      toolUseBehavior: "stop_on_first_tool",
    });
    const runner = createScriptedRunner(script);
    const remote = await connectToAgent(fromOpenAiAgents(source, { description: "For tests", runner }));
    const task = await requireTask(remote.send("Time?"));
    expect(getArtifactTextWithoutReasoning(task)).toBe("Let me see.\n\nIt is noon.");
  });

  it("shows the reasoning of models behind the chat API", async () => {
    const endpoint = await startScriptedEndpoint(({ sendDelta, finish }) => {
      sendDelta({ reasoning: "Hm." });
      sendDelta({ content: "Yes." });
      finish();
    });
    openEndpoints.push(endpoint);
    const modelProvider = new OpenAIProvider({ apiKey: "s", baseURL: endpoint.baseUrl, useResponses: false });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const source = new OpenAiAgent({ name: "chat", model: "m" });
    const remote = await connectToAgent(fromOpenAiAgents(source, { description: "For tests", runner }));
    const task = await requireTask(remote.send("Really?"));
    expect(listArtifactTexts(task)).toEqual({ reasoning: "Hm.", answer: "Yes." });
  });

  it.each([
    [text("yes"), "Result: paid 80", [80]],
    [data({ approvalId: "call_1", approved: true }), "Result: paid 80", [80]],
    [text("No, too much."), "Result: No, too much.", []],
  ])("asks for the approval of a tool call, and accepts %j", async (answer, output, paid) => {
    const refunds: number[] = [];
    const remote = await connectToAgent(createScriptedAgent(requestRefund, {}, [createRefundTool(refunds)]));
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
    const done = await requireTask(remote.send([answer], { taskId: asked.id }));
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(done)).toBe(output);
    expect(refunds).toEqual(paid);
    const next = await requireTask(remote.send("Thanks", { contextId: asked.contextId }));
    expect(getArtifactTextWithoutReasoning(next)).toBe(output);
  });

  it("keeps its question when a new task arrives, until the waiting task is canceled", async () => {
    const refunds: number[] = [];
    const remote = await connectToAgent(createScriptedAgent(requestRefund, {}, [createRefundTool(refunds)]));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    const { contextId } = asked;
    const other = await requireTask(remote.send("yes", { contextId }));
    expect(other.status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: { parts: [{ text: expect.stringContaining(asked.id) as string }] },
    });
    await remote.tasks.cancel(asked.id);
    const next = await requireTask(remote.send("yes", { contextId }));
    expect(getArtifactTextWithoutReasoning(next)).toBe("Heard: yes");
    expect(refunds).toEqual([]);
  });

  it("accepts an approval after a restart, if the conversation store is persistent", async () => {
    const store = new MemoryStore();
    const conversationStore = createMemoryConversationStore<OpenAiAgentsRecord>(() => true);
    const refunds: number[] = [];
    const createAgent = (): Agent =>
      createScriptedAgent(requestRefund, { conversationStore }, [createRefundTool(refunds)]);
    const before = createServer(createAgent(), { store });
    const asked = await requireTask((await connect((await before.listen()).url)).send("Refund 80 euros"));
    const remote = await connectToAgent(createAgent(), { store });
    const done = await requireTask(remote.send("yes", { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(done)).toBe("Result: paid 80");
    expect(refunds).toEqual([80]);
    await before.close({ graceMs: 0 });
  });

  it("repeats a turn that a killed server interrupted, with `afterRestart: restart`", async () => {
    const store = new MemoryStore();
    const reached = Promise.withResolvers<void>();
    const createAgent = (script: ResponsesScript): Agent =>
      createScriptedAgent(script, { afterRestart: "restart" });
    const hanging = createAgent(async function* (_, response) {
      yield "half of ";
      reached.resolve();
      await once(response, "close");
    });
    const before = createServer(hanging, { store });
    const dead = await connect((await before.listen()).url);
    const asked = await requireTask(dead.send("tea", { configuration: { returnImmediately: true } }));
    await reached.promise;
    const remote = await connectToAgent(
      createAgent((input) => [`Here is your ${listUserTexts(input).join(" | ")}.`]),
      { store },
    );
    const { task } = (await collect(remote.tasks.subscribe(asked.id))) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(task)).toBe("Here is your tea.");
  });

  it("executes the finished step of a tool once, if a killed server interrupted the turn [E18]", async () => {
    const store = new MemoryStore();
    const paid: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays",
      parameters: z.object({ euros: z.number() }),
      execute: ({ euros }, runContext?: RunContext) =>
        (runContext as RunContext<Turn>).context.once(`pay ${euros}`, ({ idempotencyKey }) => {
          paid.push(idempotencyKey);
          return `receipt ${paid.length}`;
        }),
    });
    const createAgent = (script: ResponsesScript): Agent =>
      createScriptedAgent(script, { afterRestart: "restart", toRunOptions: (context) => ({ context }) }, [
        pay,
      ]);
    const requestPayment = { callId: "call_1", toolName: "pay", input: { euros: 5 } };
    const reached = Promise.withResolvers<void>();
    const hanging = createAgent(async function* (input, response) {
      if (listToolOutputs(input).length === 0) yield requestPayment;
      else {
        reached.resolve();
        await once(response, "close");
      }
    });
    const before = createServer(hanging, { store });
    const dead = await connect((await before.listen()).url);
    const asked = await requireTask(dead.send("pay", { configuration: { returnImmediately: true } }));
    await reached.promise;
    const remote = await connectToAgent(
      createAgent(function* (input) {
        const [toolOutput] = listToolOutputs(input);
        yield toolOutput === undefined ? requestPayment : `Paid: ${toolOutput}`;
      }),
      { store },
    );
    const { task } = (await collect(remote.tasks.subscribe(asked.id))) as { task: Task };
    expect(getArtifactTextWithoutReasoning(task)).toBe("Paid: receipt 1");
    expect(paid).toHaveLength(1);
    await before.close({ graceMs: 0 });
  });
});
