import assert from "node:assert/strict";
import test from "node:test";
import { tool, ToolLoopAgent } from "ai";
import { fromAiSdk } from "colloquy/ai-sdk";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";
import { scriptedModel } from "./scripted-model.ts";

const weather = new ToolLoopAgent({
  model: scriptedModel({ call: "weather", input: { city: "Seoul" } }, "It is sunny in Seoul."),
  tools: {
    weather: tool({
      description: "The weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, sky: "sunny" }),
    }),
  },
});

void test("reads the weather before it answers", async () => {
  await using chat = await converse(
    fromAiSdk(weather, { name: "weather", description: "Tells the weather" }),
  );
  const turn = await chat.send("How is the weather in Seoul?");
  assertCalls(turn, [{ tool: "weather", arguments: { city: "Seoul" }, result: { sky: "sunny" } }]);
  assert.equal(turn.text, "It is sunny in Seoul.");
});
