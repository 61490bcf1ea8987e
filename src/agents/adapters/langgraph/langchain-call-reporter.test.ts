/** Calls the listeners as LangChain does. `lab/peers/langgraph` tests them with LangChain. */
import { expect, it } from "vitest";
import type { AgentCallReport } from "../../../engine/index.ts";
import { createLangChainCallReporter, type LangChainCallbacks } from "./langchain-call-reporter.ts";

function reportCalls(run: (listeners: LangChainCallbacks) => void): AgentCallReport[] {
  const calls: AgentCallReport[] = [];
  run(createLangChainCallReporter((call) => calls.push(call)));
  return calls;
}

const PROMPT = [[{ type: "human", content: "1 + 2" }]];
const METADATA = { ls_provider: "acme", ls_model_name: "calc-1" };

it("the reports of a graph contain its model calls and tool calls", () => {
  const calls = reportCalls((listeners) => {
    listeners.handleChatModelStart({}, PROMPT, "model-1", undefined, {}, [], METADATA);
    const message = {
      type: "ai",
      content: "",
      tool_calls: [{ name: "add", args: { a: 1, b: 2 }, id: "call_1" }],
      usage_metadata: { input_tokens: 3, output_tokens: 5, input_token_details: { cache_read: 1 } },
      response_metadata: { model_name: "calc-1-2026", finish_reason: "tool_calls" },
    };
    listeners.handleLLMEnd({ generations: [[{ message, text: "" }]] }, "model-1");
    listeners.handleToolStart({}, '{"a":1,"b":2}', "tool-1", undefined, undefined, undefined, "add");
    listeners.handleToolEnd({ content: '{"sum":3}', status: "success" }, "tool-1");
  });
  expect(calls).toMatchObject([
    {
      kind: "model",
      provider: "acme",
      model: "calc-1-2026",
      prompt: [{ content: "1 + 2" }],
      reply: { tool_calls: [{ name: "add", args: { a: 1, b: 2 } }] },
      finishReason: "tool_calls",
      inputTokens: 3,
      cachedInputTokens: 1,
      outputTokens: 5,
    },
    { kind: "tool", tool: "add", arguments: { a: 1, b: 2 }, result: '{"sum":3}' },
  ]);
});

it("the reports of a graph contain the errors of its tools and models", () => {
  const calls = reportCalls((listeners) => {
    listeners.handleLLMStart({}, ["1 + 2"], "model-1", undefined, { invocation_params: { model: "calc-2" } });
    listeners.handleLLMError(new Error("overloaded"), "model-1");
    listeners.handleToolStart({ name: "add" }, "{}", "tool-1");
    listeners.handleToolError(new Error("negative"), "tool-1");
    listeners.handleToolStart({ name: "add" }, "{}", "tool-2");
    listeners.handleToolEnd({ content: "negative", status: "error" }, "tool-2");
  });
  expect(calls).toMatchObject([
    { kind: "model", model: "calc-2", prompt: ["1 + 2"], error: "overloaded" },
    { kind: "tool", tool: "add", error: "negative" },
    { kind: "tool", tool: "add", error: "negative" },
  ]);
});

it("a listener ignores the ends of calls that it has not seen begin", () => {
  const calls = reportCalls((listeners) => {
    listeners.handleLLMEnd({ generations: [] }, "unknown");
    listeners.handleToolEnd("done", "unknown");
  });
  expect(calls).toEqual([]);
});
