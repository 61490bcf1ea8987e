import assert from "node:assert/strict";
import test from "node:test";
import { LlmAgent, LongRunningFunctionTool } from "@google/adk";
import { adkAgent, ScriptedLlm } from "colloquy/adk";
import { converse } from "colloquy/testing";
import { z } from "zod";

const parameters = z.object({ euros: z.number() });
const execute = () => ({ status: "pending" });
const refund = new LongRunningFunctionTool({ name: "refund", description: "Refunds", parameters, execute });
const refunds = new LlmAgent({
  name: "refunds",
  description: "Refunds money after an approval",
  model: new ScriptedLlm([{ call: "refund", args: { euros: 80 } }, "I have asked.", "Done."]),
  tools: [refund],
});

void test("waits for an approval", async () => {
  await using chat = await converse(adkAgent(refunds));
  const asked = await chat.send("Refund 80 euros");
  assert.equal(asked.state, "input-required");
  const [request] = asked.task?.status.message?.parts ?? [];
  const call = (request && "data" in request ? request.data : {}) as { id: string };
  const done = await chat.send([{ data: { id: call.id, response: { approved: true } } }]);
  assert.equal(done.text, "Done.");
});
