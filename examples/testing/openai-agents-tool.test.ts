import assert from "node:assert/strict";
import test from "node:test";
import { Agent, Runner, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { fromOpenAiAgents } from "colloquy/openai-agents";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";

const parameters = z.object({ city: z.string() });
const execute = ({ city }: z.infer<typeof parameters>) => `Sunny in ${city}`;
const weather = new Agent({
  name: "weather",
  handoffDescription: "Tells the weather",
  model: new ScriptedModel([
    [functionCall("weather", { city: "Seoul" }, { callId: "1" })],
    [assistantMessage("It is sunny in Seoul.")],
  ]),
  tools: [tool({ name: "weather", description: "The weather of a city", parameters, execute })],
});

void test("reads the weather before it answers", async () => {
  const runner = new Runner({ tracingDisabled: true });
  await using chat = await converse(fromOpenAiAgents(weather, { runner }));
  const turn = await chat.send("How is the weather in Seoul?");
  assertCalls(turn, [{ tool: "weather", arguments: { city: "Seoul" }, result: "Sunny in Seoul" }]);
  assert.equal(turn.text, "It is sunny in Seoul.");
});
