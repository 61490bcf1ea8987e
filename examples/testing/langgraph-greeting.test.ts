import assert from "node:assert/strict";
import test from "node:test";
import { MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { fromLangGraph } from "colloquy/langgraph";
import { converse } from "colloquy/testing";
import { ScriptedChatModel } from "./scripted-model.ts";

const model = new ScriptedChatModel("Hello, Ada!", "Hello again!");
const greeter = new StateGraph(MessagesAnnotation)
  .addNode("greet", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge("__start__", "greet")
  .compile({ checkpointer: new MemorySaver() });

void test("greets in every turn", async () => {
  await using chat = await converse(fromLangGraph(greeter, { name: "greeter", description: "Greets" }));
  assert.equal((await chat.send("I am Ada")).text, "Hello, Ada!");
  assert.equal((await chat.send("Me again")).text, "Hello again!");
  const { values } = await greeter.getState({ configurable: { thread_id: chat.turns[0]?.task?.contextId } });
  assert.equal((values as typeof MessagesAnnotation.State).messages.length, 4);
});
