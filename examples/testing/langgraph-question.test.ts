import assert from "node:assert/strict";
import test from "node:test";
import { Annotation, interrupt, MemorySaver, StateGraph } from "@langchain/langgraph";
import { fromLangGraph } from "colloquy/langgraph";
import { converse } from "colloquy/testing";

const Order = Annotation.Root({ wish: Annotation<string>, size: Annotation<string> });
const graph = new StateGraph(Order)
  .addNode("ask", ({ wish }) => ({ size: interrupt<string, string>(`Which size of ${wish}?`) }))
  .addEdge("__start__", "ask")
  .compile({ checkpointer: new MemorySaver() });
const shop = fromLangGraph(graph, {
  name: "shop",
  description: "Takes orders for cakes",
  toGraphInput: ({ text }) => ({ wish: text }),
  toAnswer: ({ wish, size }: typeof Order.State) => `One ${size} ${wish}.`,
});

void test("asks for the size", async () => {
  await using chat = await converse(shop);
  const last = await chat.simulate("birthday cake", ({ question }) => question && "large");
  assert.equal(chat.turns[0]?.question, "Which size of birthday cake?");
  assert.equal(last.text, "One large birthday cake.");
});
