import assert from "node:assert/strict";
import test from "node:test";
import { Agent } from "@mastra/core/agent";
import { fromMastra } from "colloquy/mastra";
import { converse } from "colloquy/testing";
import { scriptedMastraModel } from "./scripted-model.ts";

const greeter = new Agent({
  id: "greeter",
  name: "greeter",
  description: "Greets",
  instructions: "Greet the user.",
  model: scriptedMastraModel("Hello, Ada!", "Hello again!"),
});

void test("greets in every turn", async () => {
  await using chat = await converse(fromMastra(greeter));
  assert.equal((await chat.send("I am Ada")).text, "Hello, Ada!");
  const second = await chat.send("Me again");
  assert.equal(second.text, "Hello again!");
  assert.deepEqual(second.tokens, { inputTokens: 3, outputTokens: 5 });
});
