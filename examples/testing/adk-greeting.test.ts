import assert from "node:assert/strict";
import test from "node:test";
import { LlmAgent } from "@google/adk";
import { adkAgent, ScriptedLlm } from "colloquy/adk";
import { converse } from "colloquy/testing";

const greeter = new LlmAgent({
  name: "greeter",
  description: "Greets",
  instruction: "Greet the user.",
  model: new ScriptedLlm(({ text }) => `Hello, ${text}!`),
});

void test("greets each user of the conversation", async () => {
  await using chat = await converse(adkAgent(greeter));
  assert.equal((await chat.send("Ada")).text, "Hello, Ada!");
  const second = await chat.send("Alan");
  assert.equal(second.text, "Hello, Alan!");
  assert.equal(second.state, "completed");
});
