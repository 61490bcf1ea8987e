import assert from "node:assert/strict";
import test from "node:test";
import { Agent, Runner } from "@openai/agents";
import { assistantMessage, ScriptedModel } from "@openai/agents/testing";
import { fromOpenAiAgents } from "colloquy/openai-agents";
import { converse } from "colloquy/testing";

const greeter = new Agent({
  name: "greeter",
  handoffDescription: "Greets",
  model: new ScriptedModel([[assistantMessage("Hello, Ada!")], [assistantMessage("Hello again!")]]),
});

void test("greets in every turn", async () => {
  const runner = new Runner({ tracingDisabled: true });
  await using chat = await converse(fromOpenAiAgents(greeter, { runner }));
  assert.equal((await chat.send("I am Ada")).text, "Hello, Ada!");
  assert.equal((await chat.send("Me again")).text, "Hello again!");
});
