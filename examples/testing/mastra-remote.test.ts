import assert from "node:assert/strict";
import test from "node:test";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { agent, connect, createServer } from "colloquy";
import { fromMastra } from "colloquy/mastra";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";
import { scriptedMastraModel } from "./scripted-model.ts";

const inputSchema = z.object({ city: z.string() });
const station = agent({ name: "station", description: "Knows the weather" }, async function* ({ text }) {
  yield `It is sunny in ${text}.`;
});

void test("asks an agent on another server", async (t) => {
  const server = createServer(station, { store: "memory" });
  t.after(() => server.close());
  const remote = await connect((await server.listen()).url);
  const execute = async ({ city }: z.infer<typeof inputSchema>) => (await remote.ask(city)).text;
  const weather = createTool({ id: "weather", description: "The weather", inputSchema, execute });
  const model = scriptedMastraModel({ call: "weather", input: { city: "Seoul" } }, "Take your sunglasses.");
  const about = { id: "planner", name: "planner", description: "Packs", instructions: "Use the tool." };
  await using chat = await converse(fromMastra(new Agent({ ...about, model, tools: { weather } })));
  const turn = await chat.send("What shall I pack for Seoul?");
  assertCalls(turn, [{ tool: "weather", result: "It is sunny in Seoul." }]);
  assert.equal(turn.text, "Take your sunglasses.");
});
