import { expect, it } from "vitest";
import type { AgentCallReport } from "../../../engine/index.ts";
import { MastraCallReporter, type MastraChunk } from "./from-mastra.ts";

/** Returns the calls that a reporter finds in the chunks of a run. */
function reportCalls(chunks: readonly Omit<MastraChunk, "runId">[], error?: unknown): AgentCallReport[] {
  const calls: AgentCallReport[] = [];
  const reporter = new MastraCallReporter((call) => calls.push(call));
  for (const chunk of chunks) reporter.observe({ ...chunk, runId: "r" } as MastraChunk);
  reporter.end(error);
  return calls;
}

const STEP_START = {
  type: "step-start",
  payload: { startedAt: Date.now() - 5, request: { body: '{"model":"m-latest","messages":["1 + 2"]}' } },
} as const;
const TOOL_CALL = {
  type: "tool-call",
  payload: { toolCallId: "1", toolName: "add", args: { a: 1, b: 2 } },
} as const;

it("the reports of a Mastra run contain its model calls and tool calls", () => {
  const calls = reportCalls([
    STEP_START,
    TOOL_CALL,
    { type: "tool-result", payload: { toolCallId: "1", toolName: "add", result: { sum: 3 } } },
    {
      type: "step-finish",
      payload: {
        stepResult: { reason: "tool-calls" },
        output: { usage: { inputTokens: 3, cachedInputTokens: 1, outputTokens: 5 } },
        metadata: { modelMetadata: { modelId: "m", modelProvider: "acme" } },
      },
    },
  ]);
  expect(calls).toMatchObject([
    { kind: "tool", tool: "add", arguments: { a: 1, b: 2 }, result: { sum: 3 } },
    {
      kind: "model",
      provider: "acme",
      model: "m",
      prompt: { messages: ["1 + 2"] },
      reply: { tool_calls: [{ toolName: "add", input: { a: 1, b: 2 } }] },
      finishReason: "tool-calls",
      inputTokens: 3,
      cachedInputTokens: 1,
      outputTokens: 5,
    },
  ]);
  expect(calls[1]?.durationMs).toBeGreaterThanOrEqual(5);
});

it("the reports of a Mastra run contain errors, and calls of steps that do not end", () => {
  const failedTool = {
    type: "tool-error",
    payload: { toolCallId: "1", toolName: "add", error: new Error("negative") },
  };
  expect(reportCalls([STEP_START, TOOL_CALL, failedTool as never])).toMatchObject([
    { kind: "tool", error: "negative" },
    { kind: "model", model: "m-latest", reply: { tool_calls: [{ toolCallId: "1" }] } },
  ]);
  expect(
    reportCalls([STEP_START, { type: "text-delta", payload: { text: "half" } }], new Error("overloaded")),
  ).toMatchObject([{ kind: "model", reply: { text: "half" }, error: "overloaded" }]);
  expect(reportCalls([])).toEqual([]);
});
