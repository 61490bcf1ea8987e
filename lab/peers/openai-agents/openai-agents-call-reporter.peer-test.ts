import { Agent as OpenAiAgent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../../src/client/index.ts";
import type { AgentCallReport } from "../../../src/engine/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { calculatorTool } from "../../../src/agents/adapters/calculator-tool.fixture.ts";
import { startScriptedEndpoint } from "../scripted-endpoint.ts";
import {
  fromOpenAiAgents,
  type OpenAiAgentsOptions,
} from "../../../src/agents/adapters/openai-agents/index.ts";
import { type ResponsesScript, startResponsesEndpoint } from "./responses-endpoint.fixture.ts";

const add = tool(calculatorTool);

async function startRunner(script: ResponsesScript, config: ConstructorParameters<typeof Runner>[0] = {}) {
  const { baseURL, close } = await startResponsesEndpoint(script);
  onTestFinished(close);
  const modelProvider = new OpenAIProvider({ apiKey: "secret", baseURL, useResponses: true });
  return new Runner({ ...config, modelProvider, tracingDisabled: true });
}

/** Sends messages to an agent, and returns the reported calls. */
async function reportCalls(
  runner: Runner,
  messages: readonly string[],
  options: OpenAiAgentsOptions<unknown> = {},
): Promise<AgentCallReport[]> {
  const calls: AgentCallReport[] = [];
  const source = new OpenAiAgent({ name: "calculator", instructions: "Add.", model: "m", tools: [add] });
  const server = createServer(fromOpenAiAgents(source, { description: "Adds", runner, ...options }), {
    store: "memory",
    observer: { onAgentCall: ({ call }) => calls.push(call) },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const client = await connect((await server.listen()).url);
  await Promise.all(messages.map((message) => client.send(message)));
  return calls;
}

const callAdd =
  (a: number): ResponsesScript =>
  (input) =>
    input.some(({ type }) => type === "function_call_output")
      ? ["The sum is known."]
      : [{ callId: "call_1", toolName: "add", input: { a, b: 2 } }];

describe("the reports of an agent of the OpenAI Agents SDK", () => {
  it("contain its model calls and tool calls", async () => {
    const calls = await reportCalls(await startRunner(callAdd(1)), ["1 + 2"]);
    expect(calls).toMatchObject([
      {
        kind: "model",
        model: "m",
        prompt: { instructions: "Add.", input: [{ role: "user", content: "1 + 2" }] },
        reply: [{ type: "function_call", name: "add" }],
        finishReason: "completed",
        inputTokens: 3,
        outputTokens: 5,
      },
      { kind: "tool", tool: "add", arguments: { a: 1, b: 2 }, result: '{"sum":3}' },
      { kind: "model", reply: [{ content: [{ text: "The sum is known." }] }] },
    ]);
    expect(JSON.stringify(calls[2])).toContain("function_call_result");
    for (const { durationMs } of calls) expect(durationMs).toBeGreaterThan(0);
  });

  it("contain the errors of tools and models", async () => {
    const script: ResponsesScript = (input, response) => {
      if (input.some(({ type }) => type === "function_call_output")) throw new Error("overloaded");
      return callAdd(-1)(input, response);
    };
    const calls = await reportCalls(await startRunner(script), ["-1 + 2"]);
    expect(calls).toMatchObject([
      { kind: "model", finishReason: "completed" },
      { kind: "tool", error: expect.stringContaining("running the tool") as string },
      { kind: "model", model: "m", error: expect.stringContaining("overloaded") as string },
    ]);
  });

  it("belong to their runs, if runs share a runner", async () => {
    const runner = await startRunner(callAdd(1));
    const [first, second] = await Promise.all([
      reportCalls(runner, ["a", "b", "c"]),
      reportCalls(runner, ["d"]),
    ]);
    const countTools = (calls: readonly AgentCallReport[]) =>
      calls.filter(({ kind }) => kind === "tool").length;
    expect([countTools(first), countTools(second)]).toEqual([3, 1]);
  });

  it("contain the prompt after the input filter of the user, and the model of the chat API", async () => {
    const endpoint = await startScriptedEndpoint(({ sendDelta, finish }) => {
      sendDelta({ content: "Yes." });
      finish();
    });
    onTestFinished(endpoint.close);
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ apiKey: "s", baseURL: endpoint.baseUrl, useResponses: false }),
      tracingDisabled: true,
      callModelInputFilter: ({ modelData }) => ({ ...modelData, instructions: "Be brief." }),
    });
    const calls = await reportCalls(runner, ["Really?"]);
    expect(calls).toMatchObject([
      {
        kind: "model",
        prompt: { instructions: "Be brief." },
        finishReason: "stop",
        reply: [{ role: "assistant" }],
      },
    ]);
  });
});
