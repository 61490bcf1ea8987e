import { tool, ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { connect } from "../../../client/index.ts";
import type { AgentCallReport } from "../../../engine/index.ts";
import type { Task } from "../../../protocol/index.ts";
import { createServer } from "../../../server/index.ts";
import { fromAiSdk } from "./index.ts";
import { createScriptedModel, createToolCall } from "./scripted-model.fixture.ts";

it("an agent of the AI SDK reports its model calls and tool calls to the observer of the server", async () => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const model = createScriptedModel(function* (prompt) {
    if (prompt.at(-1)?.role === "user") yield createToolCall("add", { a: 1, b: 2 });
    else yield "The sum is 3.";
  });
  const add = tool({
    description: "Adds two numbers.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => {
      vi.advanceTimersByTime(50);
      return { sum: a + b };
    },
  });
  const calls: AgentCallReport[] = [];
  const server = createServer(
    fromAiSdk(new ToolLoopAgent({ model, tools: { add }, instructions: "Add carefully." }), {
      name: "calculator",
      description: "Adds",
    }),
    { store: "memory", observer: { onAgentCall: ({ call }) => calls.push(call) } },
  );
  const { text } = await (await connect((await server.listen()).url)).ask("1 + 2");
  await server.close();
  expect(text).toContain("The sum is 3.");
  expect(calls).toMatchObject([
    { kind: "tool", tool: "add", arguments: { a: 1, b: 2 }, result: { sum: 3 } },
    { kind: "model", reply: [{ tool: "add", input: { a: 1, b: 2 } }], inputTokens: 3, outputTokens: 5 },
    { kind: "model", reply: [{ text: "The sum is 3." }], finishReason: "stop" },
  ]);
  // A step ends after its tools, and the call of the model ended before.
  expect(calls[0]).toMatchObject({ durationMs: 50 });
  expect(calls[1]).toMatchObject({ durationMs: 0, endedMsAgo: 50 });
  expect(calls[1]).toMatchObject({
    prompt: {
      messages: [{ role: "system", content: "Add carefully." }, { role: "user" }],
      tools: [{ name: "add", description: "Adds two numbers." }],
    },
  });
  expect(JSON.stringify(calls[1])).toContain("1 + 2");
  expect(calls[2]).toMatchObject({
    prompt: {
      messages: [
        { role: "system" },
        { role: "user" },
        { role: "assistant", content: [{ tool: "add" }] },
        { role: "tool", result: { sum: 3 } },
      ],
    },
  });
});

it.each<[string, MockLanguageModelV4]>([
  ["refused", new MockLanguageModelV4({ doStream: () => Promise.reject(new Error("overloaded")) })],
  [
    "interrupted",
    createScriptedModel(function* () {
      yield "The sum";
      throw new Error("overloaded");
    }),
  ],
])("an agent of the AI SDK reports a model call that is %s", async (_, model) => {
  const calls: AgentCallReport[] = [];
  const server = createServer(
    fromAiSdk(new ToolLoopAgent({ model, maxRetries: 0 }), { name: "calculator", description: "Adds" }),
    { store: "memory", observer: { onAgentCall: ({ call }) => calls.push(call) } },
  );
  const { task } = (await (await connect((await server.listen()).url)).send("1 + 2")) as { task: Task };
  await server.close();
  expect(task.status.state).toBe("TASK_STATE_FAILED");
  expect(calls).toMatchObject([
    { kind: "model", prompt: { messages: [{ content: "1 + 2" }] }, error: "overloaded" },
  ]);
});
