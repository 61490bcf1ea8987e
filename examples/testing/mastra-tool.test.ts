import assert from "node:assert/strict";
import test from "node:test";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { fromMastra } from "colloquy/mastra";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";
import { scriptedMastraModel } from "./scripted-model.ts";

const inputSchema = z.object({ city: z.string() });
const execute = async ({ city }: z.infer<typeof inputSchema>) => ({ city, sky: "sunny" });
const weather = new Agent({
  id: "weather",
  name: "weather",
  description: "Tells the weather",
  instructions: "Use the tool.",
  model: scriptedMastraModel({ call: "weather", input: { city: "Seoul" } }, "It is sunny in Seoul."),
  tools: { weather: createTool({ id: "weather", description: "The weather", inputSchema, execute }) },
});

void test("reads the weather before it answers", async () => {
  await using chat = await converse(fromMastra(weather));
  const turn = await chat.send("How is the weather in Seoul?");
  assertCalls(turn, [{ tool: "weather", arguments: { city: "Seoul" }, result: { sky: "sunny" } }]);
  assert.equal(turn.text, "It is sunny in Seoul.");
});
