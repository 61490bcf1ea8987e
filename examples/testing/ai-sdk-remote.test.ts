import assert from "node:assert/strict";
import test from "node:test";
import { ToolLoopAgent } from "ai";
import { agent, connect, createServer } from "colloquy";
import { a2aTool, fromAiSdk } from "colloquy/ai-sdk";
import { assertCalls, converse } from "colloquy/testing";
import { scriptedModel } from "./scripted-model.ts";

const station = agent({ name: "station", description: "Knows the weather" }, async function* ({ text }) {
  yield `It is sunny in ${text}.`;
});

void test("asks an agent on another server", async (t) => {
  const server = createServer(station, { store: "memory" });
  t.after(() => server.close());
  const { url } = await server.listen();
  const planner = new ToolLoopAgent({
    model: scriptedModel({ call: "weather", input: { message: "Seoul" } }, "Take your sunglasses."),
    tools: { weather: a2aTool(await connect(url)) },
  });
  await using chat = await converse(fromAiSdk(planner, { name: "planner", description: "Packs" }));
  const turn = await chat.send("What shall I pack for Seoul?");
  assertCalls(turn, [{ tool: "weather", result: { state: "completed", text: "It is sunny in Seoul." } }]);
  assert.equal(turn.text, "Take your sunglasses.");
});
