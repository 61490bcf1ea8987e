import { BaseLlm, type BaseLlmConnection, FunctionTool, LlmAgent, type LlmResponse } from "@google/adk";
import { describe, expect, it } from "vitest";
import { calculatorTool } from "../adapters/calculator-tool.fixture.ts";
import { connect } from "../../client/index.ts";
import { createServer } from "../../server/index.ts";
import { decodeTrafficLines, type TrafficLine } from "../../observe/trace/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { adkAgent } from "./adk-agent.ts";
import { ScriptedLlm } from "./models/index.ts";

async function recordTurn(model: BaseLlm, isStreaming: boolean): Promise<TrafficLine[]> {
  const add = new FunctionTool(calculatorTool);
  const sink = createMemoryTrafficSink();
  const writer = createTrafficWriter(sink, { vantage: "server", name: "test" });
  const calculator = new LlmAgent({
    name: "calculator",
    description: "Adds",
    instruction: "Add.",
    model,
    tools: [add],
  });
  const server = createServer(adkAgent(calculator), { store: "memory", observer: false, record: writer });
  const client = await connect((await server.listen()).url);
  if (isStreaming) for await (const event of client.stream("1 + 2")) void event;
  else await client.send("1 + 2");
  await server.close();
  return decodeTrafficLines(sink.text());
}

/** A scripted model with the tokens of a provider. */
class CountingLlm extends ScriptedLlm {
  override async *generateContentAsync(
    ...request: Parameters<ScriptedLlm["generateContentAsync"]>
  ): ReturnType<ScriptedLlm["generateContentAsync"]> {
    const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 3, thoughtsTokenCount: 1 };
    for await (const response of super.generateContentAsync(...request))
      yield response.partial ? response : { ...response, usageMetadata };
  }
}

describe("the record of an ADK agent", () => {
  it.each([true, false])("contains its model calls and tool calls (streaming: %s)", async (isStreaming) => {
    const model = new CountingLlm(({ results }) =>
      results.length > 0 ? "The sum is 3." : { call: "add", args: { a: 1, b: 2 } },
    );
    const lines = await recordTurn(model, isStreaming);
    const [taskId] = new Set(lines.flatMap((line) => (line.kind === "event" ? line.task_id : [])));
    const calls = lines.filter(({ kind }) => kind === "model" || kind === "tool");
    expect(calls).toMatchObject([
      {
        kind: "model",
        agent: "calculator",
        task_id: taskId,
        prompt: {
          contents: [{ role: "user", parts: [{ text: "1 + 2" }] }],
          tools: [{ name: "add", description: calculatorTool.description }],
        },
        reply: { parts: [{ functionCall: { name: "add" } }] },
      },
      { kind: "tool", task_id: taskId, tool: "add", arguments: { a: 1, b: 2 }, result: { sum: 3 } },
      { kind: "model", task_id: taskId, reply: { parts: [{ text: "The sum is 3." }] } },
    ]);
    expect(calls[2]).toMatchObject({ input_tokens: 7, output_tokens: 4 });
    expect(JSON.stringify(calls[0])).toContain("Add.");
  });

  it("contains the errors of models and tools", async () => {
    const model = new ScriptedLlm(({ results }) =>
      results.length > 0 ? { error: "overloaded", code: "503" } : { call: "add", args: { a: -1, b: 2 } },
    );
    const lines = await recordTurn(model, false);
    const errors = lines.flatMap((line) =>
      line.kind === "model" || line.kind === "tool" ? (line.error ?? "none") : [],
    );
    expect(errors).toHaveLength(3);
    expect(errors[1]).toContain("negative");
    expect(errors[2]).toBe("503: overloaded");
  });

  it("contains the tokens of a streamed call once, although ADK's Gemini model repeats them", async () => {
    const lines = await recordTurn(new RepeatingUsageLlm(), true);
    const models = lines.filter((line) => line.kind === "model");
    const sum = (name: "input_tokens" | "output_tokens"): number =>
      models.reduce((total, line) => total + (line[name] ?? 0), 0);
    expect([sum("input_tokens"), sum("output_tokens")]).toEqual([10 + 25, 6 + 2]);
    expect(models.map(({ reply }) => JSON.stringify(reply))).toEqual([
      expect.stringContaining("I add."),
      expect.stringContaining("functionCall"),
      expect.stringContaining("The sum is 3."),
    ]);
  });
});

/** Repeats the tokens of a streamed call, as ADK's Gemini model does without progressive streaming. */
class RepeatingUsageLlm extends BaseLlm {
  #callCount = 0;

  constructor() {
    super({ model: "repeating" });
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    this.#callCount += 1;
    if (this.#callCount > 1) {
      const usageMetadata = { promptTokenCount: 25, candidatesTokenCount: 2 };
      yield { content: { role: "model", parts: [{ text: "The sum is 3." }] }, usageMetadata };
      return;
    }
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4, thoughtsTokenCount: 2 };
    const text = { role: "model", parts: [{ text: "I add." }] };
    const call = { role: "model", parts: [{ functionCall: { name: "add", args: { a: 1, b: 2 } } }] };
    yield { content: text, partial: true };
    yield { content: text, usageMetadata, partial: false };
    yield { content: call, usageMetadata, partial: false };
    yield { usageMetadata, partial: false };
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error("No live connection."));
  }
}
