import assert from "node:assert/strict";
import test from "node:test";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { fromLangGraph } from "colloquy/langgraph";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";
import { ScriptedChatModel } from "./scripted-model.ts";

const schema = z.object({ city: z.string() });
const weather = tool(({ city }) => `Sunny in ${city}`, { name: "weather", description: "Weather", schema });
const model = new ScriptedChatModel({ call: "weather", input: { city: "Seoul" } }, "It is sunny.");
const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode("tools", new ToolNode([weather]))
  .addEdge("__start__", "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile();

void test("reads the weather before it answers", async () => {
  await using chat = await converse(
    fromLangGraph(graph, { name: "weather", description: "Tells the weather" }),
  );
  const turn = await chat.send("How is the weather in Seoul?");
  assertCalls(turn, [{ tool: "weather", arguments: { city: "Seoul" } }]);
  assert.equal(turn.text, "It is sunny.");
});
