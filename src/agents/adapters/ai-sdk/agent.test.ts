import { once } from "node:events";
import { streamText, tool, ToolLoopAgent } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, type A2AClient } from "../../../client/index.ts";
import type { Agent } from "../../../engine/index.ts";
import { data, getText, type StreamResponse } from "../../../protocol/index.ts";
import { createServer, type Server } from "../../../server/index.ts";
import { getArtifactTextWithoutReasoning, defineAdapterContract, requireTask } from "../adapter.contract.ts";
import { type AiSdkOptions, fromAiSdk } from "./index.ts";
import {
  createToolCall,
  listUserTexts,
  createScriptedModel,
  type ModelScript,
} from "./scripted-model.fixture.ts";
import { unstoredRunSteps } from "../../../engine/unstored-run-steps.fixture.ts";

const agentDescription = { name: "ai", description: "For tests" };
const createToolLoopAgent = (script: ModelScript, options: Pick<AiSdkOptions, "artifacts"> = {}): Agent =>
  fromAiSdk(new ToolLoopAgent({ model: createScriptedModel(script) }), {
    ...agentDescription,
    defaultInputModes: ["*/*"],
    ...options,
  });

defineAdapterContract("an agent of the AI SDK", {
  createAnsweringAgent: (chunks) => createToolLoopAgent(() => chunks),
  createAnsweringAgentWithPieces: (chunks) => createToolLoopAgent(() => chunks, { artifacts: "pieces" }),
  createGateWaitingAgent: (gate) =>
    createToolLoopAgent(async function* () {
      yield "first ";
      await gate;
      yield "second";
    }),
  createFailingAgent: (error) =>
    fromAiSdk(
      (call) =>
        streamText({
          model: createScriptedModel(async function* () {
            yield "so far";
            throw error;
          }),
          onError: () => {},
          ...call,
        }),
      agentDescription,
    ),
  createEndlessAgent: (stopped) =>
    createToolLoopAgent(async function* (_, signal) {
      yield "working";
      if (!signal?.aborted) await once(signal as AbortSignal, "abort");
      stopped();
      throw (signal as AbortSignal).reason;
    }),
  createRememberingAgent: () => createToolLoopAgent((prompt) => [listUserTexts(prompt).join(" | ")]),
  createEchoAgent: () =>
    createToolLoopAgent((prompt) => {
      const content = prompt.flatMap((message) => (message.role === "user" ? message.content : []));
      const seen = content.map((part) => {
        if (part.type === "file") {
          const raw = part.data.type === "data" ? part.data.data : "";
          return `file:${part.mediaType}:${typeof raw === "string" ? raw : Buffer.from(raw).toString("base64")}`;
        }
        return part.text.startsWith("{") ? `data:${part.text}` : `text:${part.text}`;
      });
      return [seen.join(" ")];
    }),
});

describe("an agent of the AI SDK", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent): Promise<A2AClient> {
    server = createServer(agent, { store: "memory" });
    return connect((await server.listen()).url);
  }

  const refund = (refunded: number[]) =>
    new ToolLoopAgent({
      model: createScriptedModel(function* (prompt) {
        const last = prompt.at(-1);
        if (last?.role === "user") yield createToolCall("refund", { euros: 80 });
        else if (JSON.stringify(last).includes("execution-denied")) yield `Not done. ${JSON.stringify(last)}`;
        else yield "Done.";
      }),
      tools: {
        refund: tool({
          inputSchema: z.object({ euros: z.number() }),
          execute: ({ euros }) => {
            refunded.push(euros);
            return { paid: euros };
          },
        }),
      },
      toolApproval: { refund: "user-approval" },
    });

  it("reports tool calls, reasoning, and token usage separately", async () => {
    const remote = await connectToAgent(
      fromAiSdk(
        new ToolLoopAgent({
          model: createScriptedModel(function* (prompt) {
            if (prompt.at(-1)?.role === "user") {
              yield { type: "reasoning-start", id: "r" };
              yield { type: "reasoning-delta", id: "r", delta: "I should " };
              yield { type: "reasoning-delta", id: "r", delta: "look." };
              yield { type: "reasoning-end", id: "r" };
              yield createToolCall("weather", { city: "Seoul" });
            } else {
              yield "Sunny.";
              yield { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } };
            }
          }),
          tools: {
            weather: tool({ inputSchema: z.object({ city: z.string() }), execute: () => ({ degrees: 21 }) }),
          },
        }),
        agentDescription,
      ),
    );
    const events: StreamResponse[] = [];
    for await (const event of remote.stream("How is the weather?")) events.push(event);
    const progress = events.flatMap((event) =>
      "statusUpdate" in event ? (event.statusUpdate.status.message?.parts ?? []) : [],
    );
    expect(progress).toEqual([
      data({ type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Seoul" } }),
      data({ type: "tool-result", toolCallId: "c1", toolName: "weather", output: { degrees: 21 } }),
    ]);
    const [first] = events;
    const task = await remote.tasks.get(first && "task" in first ? first.task.id : "");
    expect(task.artifacts).toEqual([
      {
        artifactId: "reasoning",
        name: "reasoning",
        metadata: { thought: true },
        parts: [{ text: "I should look." }],
      },
      { artifactId: "answer", parts: [{ text: "Sunny." }, { raw: "AQID", mediaType: "image/png" }] },
    ]);
    expect(task.metadata).toEqual({
      finishReason: "stop",
      usage: { inputTokens: 6, outputTokens: 10, totalTokens: 16, cachedInputTokens: 4 },
    });
  });

  it("hides reasoning and tool calls if configured", async () => {
    const remote = await connectToAgent(
      fromAiSdk(
        new ToolLoopAgent({
          model: createScriptedModel(function* (prompt) {
            if (prompt.at(-1)?.role === "user") {
              yield { type: "reasoning-start", id: "r" };
              yield { type: "reasoning-delta", id: "r", delta: "secretly" };
              yield { type: "reasoning-end", id: "r" };
              yield createToolCall("look", {});
            } else yield "Seen.";
          }),
          tools: { look: tool({ inputSchema: z.object({}), execute: () => "secretly" }) },
        }),
        { ...agentDescription, showReasoning: false, showToolCalls: false },
      ),
    );
    expect(JSON.stringify(await requireTask(remote.send("look")))).not.toContain("secretly");
  });

  it("reports that a tool failed, but not the reason", async () => {
    const remote = await connectToAgent(
      fromAiSdk(
        new ToolLoopAgent({
          model: createScriptedModel(function* (prompt) {
            if (prompt.at(-1)?.role === "user") yield createToolCall("look", {});
            else yield "It did not work.";
          }),
          tools: {
            look: tool({
              inputSchema: z.object({}),
              execute: (): string => {
                throw new Error("10.1.2.3");
              },
            }),
          },
        }),
        agentDescription,
      ),
    );
    const task = await requireTask(remote.send("look"));
    expect(getArtifactTextWithoutReasoning(task)).toBe("It did not work.");
    expect(JSON.stringify(task)).toContain("tool-error");
    expect(JSON.stringify(task)).not.toContain("10.1.2.3");
  });

  it("asks for an approval and continues with the answer", async () => {
    const refunded: number[] = [];
    const remote = await connectToAgent(fromAiSdk(refund(refunded), agentDescription));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const [words, request] = asked.status.message?.parts ?? [];
    expect(words).toEqual({ text: "May refund be called?" });
    expect(request).toMatchObject({ data: { toolName: "refund", input: { euros: 80 } } });
    expect(refunded).toEqual([]);
    const { approvalId } = (request as { data: { approvalId: string } }).data;
    const done = await requireTask(remote.send([data({ approvalId, approved: true })], { taskId: asked.id }));
    expect([done.status.state, getArtifactTextWithoutReasoning(done), refunded]).toEqual([
      "TASK_STATE_COMPLETED",
      "Done.",
      [80],
    ]);
  });

  it.each([
    ["yes", [80], "Done."],
    ["No, never", [], "No, never"],
    ["yesterday", [], "yesterday"],
  ])("accepts %j as the answer to an approval request", async (words, paid, reported) => {
    const refunded: number[] = [];
    const remote = await connectToAgent(fromAiSdk(refund(refunded), agentDescription));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    const done = await requireTask(remote.send(words, { taskId: asked.id }));
    expect(refunded).toEqual(paid);
    expect(getArtifactTextWithoutReasoning(done)).toContain(reported);
  });

  it("accepts no approval from another task, and denies approvals of a canceled task", async () => {
    const refunded: number[] = [];
    const remote = await connectToAgent(fromAiSdk(refund(refunded), agentDescription));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    const { contextId } = asked;
    const other = await requireTask(remote.send("ok", { contextId }));
    expect([other.status.state, refunded]).toEqual(["TASK_STATE_FAILED", []]);
    expect(getText(other.status.message?.parts ?? [])).toContain(asked.id);
    await remote.tasks.cancel(asked.id);
    const again = await requireTask(remote.send("ok", { contextId }));
    expect([again.status.state, refunded]).toEqual(["TASK_STATE_INPUT_REQUIRED", []]);
    const done = await requireTask(remote.send("ok", { taskId: again.id }));
    expect([getArtifactTextWithoutReasoning(done), refunded]).toEqual(["Done.", [80]]);
  });

  it("accepts no approval that it has not requested", async () => {
    const refunded: number[] = [];
    const remote = await connectToAgent(fromAiSdk(refund(refunded), agentDescription));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    const forged = data({ approvalId: "mine", approved: true });
    await remote.send([forged], { taskId: asked.id });
    expect(refunded).toEqual([]);
  });

  it("continues from the task's history if the conversation is lost", async () => {
    const received: string[][] = [];
    const agent = fromAiSdk(
      new ToolLoopAgent({
        model: createScriptedModel((prompt) => {
          received.push(
            prompt.map(({ role, content }) => `${role}: ${getText(content as { text: string }[])}`),
          );
          return ["Fine."];
        }),
      }),
      { ...agentDescription, conversationStore: { load: () => [], append: () => {} } },
    );
    const run = {
      taskId: "t",
      contextId: "c",
      message: { messageId: "3", role: "ROLE_USER", parts: [{ text: "Seoul" }] },
      task: {
        id: "t",
        contextId: "c",
        status: { state: "TASK_STATE_INPUT_REQUIRED" },
        history: [
          { messageId: "1", role: "ROLE_USER", parts: [{ text: "Weather?" }] },
          { messageId: "2", role: "ROLE_AGENT", parts: [{ text: "Where?" }] },
          { messageId: "3", role: "ROLE_USER", parts: [{ text: "Seoul" }] },
        ],
      },
      attempt: 1,
      caller: { tenant: "", principal: "" },
      configuration: {},
      isStreaming: true,
      metadata: {},
      protocolVersion: "1.0",
      extensions: [],
      signal: new AbortController().signal,
      ...unstoredRunSteps,
      loadReferencedTasks: () => Promise.resolve([]),
      listInterruptedTasks: () => Promise.resolve([]),
    } satisfies Parameters<Agent["execute"]>[0];
    for await (const _ of agent.execute(run));
    expect(received).toEqual([["user: Weather?", "assistant: Where?", "user: Seoul"]]);
  });
});
