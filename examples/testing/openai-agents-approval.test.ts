import assert from "node:assert/strict";
import test from "node:test";
import { Agent, Runner, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { fromOpenAiAgents } from "colloquy/openai-agents";
import { converse } from "colloquy/testing";
import { z } from "zod";

const parameters = z.object({ euros: z.number() });
const execute = ({ euros }: z.infer<typeof parameters>) => `Refunded ${euros} euros`;
const clerk = new Agent({
  name: "clerk",
  handoffDescription: "Refunds purchases",
  model: new ScriptedModel([
    [functionCall("refund", { euros: 80 }, { callId: "1" })],
    [assistantMessage("The money is on its way.")],
  ]),
  tools: [tool({ name: "refund", description: "Refunds", parameters, needsApproval: true, execute })],
});

void test("refunds after an approval", async () => {
  const runner = new Runner({ tracingDisabled: true });
  await using chat = await converse(fromOpenAiAgents(clerk, { runner }));
  assert.equal((await chat.send("Refund 80 euros")).question, "May refund be called?");
  assert.equal((await chat.send("yes")).text, "The money is on its way.");
});
