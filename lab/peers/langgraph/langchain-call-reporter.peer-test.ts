import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../../src/client/index.ts";
import type { AgentCallReport } from "../../../src/engine/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { calculatorTool } from "../../../src/agents/adapters/calculator-tool.fixture.ts";
import { fromLangGraph } from "../../../src/agents/adapters/langgraph/index.ts";

type Messages = { messages: BaseMessage[] };

const { execute, parameters: schema, ...nameAndDescription } = calculatorTool;
const add = tool(execute, { ...nameAndDescription, schema });

const USAGE = { input_tokens: 3, output_tokens: 5, total_tokens: 8, input_token_details: { cache_read: 1 } };

/** A model that first calls the tool, and then answers. */
class CalculatorModel extends FakeListChatModel {
  readonly #a: number;

  constructor(a: number) {
    super({ responses: ["unused"] });
    this.#a = a;
  }

  override async _generate(messages: BaseMessage[]) {
    const calls = [{ id: "call_1", name: "add", args: { a: this.#a, b: 2 }, type: "tool_call" as const }];
    const isAnswered = messages.at(-1)?.type === "tool";
    if (messages.at(0)?.text === "crash") throw new Error("overloaded");
    const message = new AIMessage({
      content: isAnswered ? "The sum is known." : "",
      ...(isAnswered ? {} : { tool_calls: calls }),
      usage_metadata: USAGE as never,
      response_metadata: { model_name: "calc-1", finish_reason: isAnswered ? "stop" : "tool_calls" },
    });
    return { generations: [{ message, text: message.text }] };
  }
}

/** Sends a message to a graph with a model and a tool, and returns the reported calls. */
async function reportCalls(text: string, a: number): Promise<AgentCallReport[]> {
  const model = new CalculatorModel(a);
  model.disableStreaming = true;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }: Messages) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", new ToolNode([add]))
    .addEdge("__start__", "model")
    .addConditionalEdges("model", ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : "__end__",
    )
    .addEdge("tools", "model")
    .compile();
  const calls: AgentCallReport[] = [];
  const server = createServer(fromLangGraph(graph, { name: "calculator", description: "Adds" }), {
    store: "memory",
    observer: { onAgentCall: ({ call }) => calls.push(call) },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  await (await connect((await server.listen()).url)).send(text);
  return calls;
}

it("the reports of a graph contain its model calls and tool calls", async () => {
  const calls = await reportCalls("1 + 2", 1);
  expect(calls).toMatchObject([
    {
      kind: "model",
      model: "calc-1",
      prompt: [{ role: "human", content: "1 + 2" }],
      reply: { role: "ai", tool_calls: [{ name: "add", args: { a: 1, b: 2 } }] },
      finishReason: "tool_calls",
      inputTokens: 3,
      cachedInputTokens: 1,
      outputTokens: 5,
    },
    { kind: "tool", tool: "add", arguments: { a: 1, b: 2 }, result: '{"sum":3}' },
    { kind: "model", reply: { role: "ai", content: "The sum is known." }, finishReason: "stop" },
  ]);
  expect(JSON.stringify(calls[2])).toContain('"tool_call_id":"call_1"');
  for (const { durationMs } of calls) expect(durationMs).toBeGreaterThan(0);
});

it("the reports of a graph contain the errors of its tools and models", async () => {
  const [, toolCall] = await reportCalls("-1 + 2", -1);
  expect(toolCall).toMatchObject({ kind: "tool", tool: "add", error: expect.stringContaining("negative") });
  const calls = await reportCalls("crash", 1);
  expect(calls).toMatchObject([{ kind: "model", error: "overloaded" }]);
});
