/** Tests the adapter with a double of the SDK's `Runner`. `lab/peers/openai-agents` tests the adapter with the SDK. */
import { once } from "node:events";
import type { Agent as OpenAiAgent, AgentInputItem } from "@openai/agents";
import { afterEach, describe, expect, it, vi } from "vitest";
import { connect, type A2AClient } from "../../../client/index.ts";
import type { Agent } from "../../../engine/index.ts";
import { data, getText, text, type Task } from "../../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../server/index.ts";
import { MemoryStore } from "../../../stores/index.ts";
import { defineAdapterContract, getArtifactTextWithoutReasoning, requireTask } from "../adapter.contract.ts";
import { createMemoryConversationStore } from "../conversation-store.ts";
import { runThroughRestart } from "../server-restart.fixture.ts";
import { fromOpenAiAgents, type OpenAiAgentsOptions, type OpenAiAgentsRecord } from "./index.ts";
import { createTestRunner, type TestRunScript, TestRunState } from "./test-runner.fixture.ts";

vi.mock("@openai/agents", () => ({ RunState: TestRunState }));

const source = { name: "scripted", handoffDescription: "For tests" } as OpenAiAgent;

const createScriptedAgent = (script: TestRunScript, options: OpenAiAgentsOptions<unknown> = {}): Agent =>
  fromOpenAiAgents(source, { defaultInputModes: ["*/*"], runner: createTestRunner(script), ...options });

const listUserTexts = (items: readonly AgentInputItem[]): string[] =>
  items.flatMap(({ role, content }) => (role === "user" && typeof content === "string" ? [content] : []));

defineAdapterContract("an agent with the interface of the OpenAI Agents SDK", {
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
    createScriptedAgent(async function* (_, signal) {
      yield "working";
      if (!signal.aborted) await once(signal, "abort");
      stopped();
    }),
  createRememberingAgent: () => createScriptedAgent(({ items }) => [listUserTexts(items).join(" | ")]),
  createEchoAgent: () =>
    createScriptedAgent(({ items }) => {
      const content = items.at(-1)?.content as { type: string; text: string; image: string }[];
      const seen = content.map(({ type, text, image }) => {
        if (type === "input_image") return `file:${image.replace("data:", "").replace(";base64,", ":")}`;
        return text.startsWith("{") ? `data:${text}` : `text:${text}`;
      });
      return [seen.join(" ")];
    }),
});

describe("an agent with the interface of the OpenAI Agents SDK", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent, options: ServerOptions = {}): Promise<A2AClient> {
    server = createServer(agent, { store: "memory", ...options });
    return connect((await server.listen()).url);
  }

  const requestRefund: TestRunScript = function* ({ items, decisions }) {
    const decision = decisions["call_1"];
    if (decision !== undefined) yield `Result: ${decision === true ? "paid 80" : decision}`;
    else if (listUserTexts(items).at(-1)?.startsWith("Refund"))
      yield { callId: "call_1", toolName: "refund", input: { euros: 80 } };
    else yield `Heard: ${listUserTexts(items).join(" | ")}`;
  };

  it("has the name and the description of the agent by default", () => {
    expect(fromOpenAiAgents(source).describe()).toMatchObject({
      name: "scripted",
      description: "For tests",
    });
  });

  it("reports tool calls, reasoning, and token usage separately, and hides tool errors", async () => {
    const script: TestRunScript = function* () {
      yield { reasoning: "I should look." };
      yield "Looking.";
      yield { callId: "1", toolName: "weather", input: { city: "Seoul" }, output: "sunny in Seoul" };
      const output = "An error occurred while running the tool. Error: no route to 10.1.2.3";
      yield { callId: "2", toolName: "weather", input: { city: "Atlantis" }, output };
      yield "Sunny.";
    };
    const remote = await connectToAgent(createScriptedAgent(script));
    const task = await requireTask(remote.send("Weather?"));
    const reports = [...(task.history ?? []), task.status.message].flatMap((message) =>
      message?.role === "ROLE_AGENT" ? message.parts : [],
    );
    expect(reports).toEqual([
      data({ type: "tool-call", toolCallId: "1", toolName: "weather", input: { city: "Seoul" } }),
      data({ type: "tool-result", toolCallId: "1", toolName: "weather", output: "sunny in Seoul" }),
      data({ type: "tool-call", toolCallId: "2", toolName: "weather", input: { city: "Atlantis" } }),
      data({ type: "tool-error", toolCallId: "2", toolName: "weather" }),
    ]);
    expect(listArtifactTexts(task)).toMatchObject({ reasoning: "I should look." });
    expect(task.metadata?.["usage"]).toEqual({ inputTokens: 3, outputTokens: 5, totalTokens: 8 });
    expect(JSON.stringify(task)).not.toContain("10.1.2.3");
  });

  it.each([
    [text("yes"), "Result: paid 80"],
    [data({ approvalId: "call_1", approved: true }), "Result: paid 80"],
    [text("No, too much."), "Result: No, too much."],
  ])("asks for the approval of a tool call, and accepts %j", async (answer, output) => {
    const remote = await connectToAgent(createScriptedAgent(requestRefund));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    const request = { type: "tool-approval-request", approvalId: "call_1", toolName: "refund" };
    expect(asked.status).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      message: {
        parts: [{ text: "May refund be called?" }, { data: { ...request, input: { euros: 80 } } }],
      },
    });
    const done = await requireTask(remote.send([answer], { taskId: asked.id }));
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(done)).toBe(output);
    const next = await requireTask(remote.send("Thanks", { contextId: asked.contextId }));
    expect(getArtifactTextWithoutReasoning(next)).toBe("Heard: Refund 80 euros | Thanks");
  });

  it("keeps its question when a new task arrives, until the waiting task is canceled", async () => {
    const remote = await connectToAgent(createScriptedAgent(requestRefund));
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
  });

  it("accepts an approval after a restart, if the conversation store is persistent", async () => {
    const store = new MemoryStore();
    const conversationStore = createMemoryConversationStore<OpenAiAgentsRecord>(() => true);
    const createAgent = (): Agent => createScriptedAgent(requestRefund, { conversationStore });
    const before = createServer(createAgent(), { store });
    const asked = await requireTask((await connect((await before.listen()).url)).send("Refund 80 euros"));
    const remote = await connectToAgent(createAgent(), { store });
    const done = await requireTask(remote.send("yes", { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(done)).toBe("Result: paid 80");
    await before.close({ graceMs: 0 });
  });

  it("repeats a turn that a killed server interrupted, with `afterRestart: restart`", async () => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const task = await runThroughRestart(
      (attempt) =>
        createScriptedAgent(
          async function* ({ items }) {
            if (attempt > 1) yield `Done: ${listUserTexts(items).join(" | ")}`;
            else {
              yield "half of ";
              interrupt();
              await new Promise(() => {});
            }
          },
          { afterRestart: "restart" },
        ),
      interrupted,
    );
    expect(getArtifactTextWithoutReasoning(task)).toBe("Done: pay 5");
  });

  function listArtifactTexts({ artifacts = [] }: Task): Record<string, string> {
    return Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, getText(parts)]));
  }
});
