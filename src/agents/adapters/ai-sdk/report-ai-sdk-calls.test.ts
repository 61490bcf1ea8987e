import { tool, ToolLoopAgent } from "ai";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { connect } from "../../../client/index.ts";
import type { AgentCallReport } from "../../../engine/index.ts";
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
  expect(JSON.stringify(calls[2])).toContain('"sum":3');
});
