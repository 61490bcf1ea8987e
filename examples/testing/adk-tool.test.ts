import test from "node:test";
import assert from "node:assert/strict";
import { FunctionTool, LlmAgent } from "@google/adk";
import { adkAgent, ScriptedLlm } from "colloquy/adk";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";

const getWeather = new FunctionTool({
  name: "get_weather",
  description: "The weather in a city right now",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: "sunny" }),
});
const weather = new LlmAgent({
  name: "weather",
  description: "Tells the weather of any city",
  model: new ScriptedLlm([{ call: "get_weather", args: { city: "Seoul" } }, "It is sunny in Seoul."]),
  tools: [getWeather],
});

void test("reads the weather before it answers", async () => {
  await using chat = await converse(adkAgent(weather));
  const turn = await chat.send("How is the weather in Seoul?");
  assertCalls(turn, [{ tool: "get_weather", arguments: { city: "Seoul" }, result: { sky: "sunny" } }]);
  assert.equal(turn.text, "It is sunny in Seoul.");
});
