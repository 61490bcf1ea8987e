import assert from "node:assert/strict";
import test from "node:test";
import { ToolLoopAgent } from "ai";
import { fromAiSdk } from "colloquy/ai-sdk";
import { converse } from "colloquy/testing";
import { scriptedModel } from "./scripted-model.ts";

const greeter = new ToolLoopAgent({ model: scriptedModel("Hello, Ada!", "Hello again!") });

void test("greets, and remembers the conversation", async () => {
  await using chat = await converse(fromAiSdk(greeter, { name: "greeter", description: "Greets" }));
  assert.equal((await chat.send("I am Ada")).text, "Hello, Ada!");
  const second = await chat.send("Me again");
  assert.equal(second.text, "Hello again!");
  assert.deepEqual(second.tokens, { inputTokens: 3, outputTokens: 5 });
});
