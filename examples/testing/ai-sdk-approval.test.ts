import assert from "node:assert/strict";
import test from "node:test";
import { tool, ToolLoopAgent } from "ai";
import { fromAiSdk } from "colloquy/ai-sdk";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";
import { scriptedModel } from "./scripted-model.ts";

const refund = tool({
  description: "Refunds an amount",
  inputSchema: z.object({ euros: z.number() }),
  execute: ({ euros }) => ({ refunded: euros }),
});
const clerk = new ToolLoopAgent({
  model: scriptedModel({ call: "refund", input: { euros: 80 } }, "The money is on its way."),
  tools: { refund },
  toolApproval: { refund: "user-approval" },
});

void test("refunds after an approval", async () => {
  await using chat = await converse(fromAiSdk(clerk, { name: "clerk", description: "Refunds purchases" }));
  const asked = await chat.send("Refund 80 euros");
  assert.equal(asked.state, "input-required");
  const done = await chat.send("yes");
  assertCalls(done, [{ tool: "refund", result: { refunded: 80 } }]);
  assert.equal(done.text, "The money is on its way.");
});
