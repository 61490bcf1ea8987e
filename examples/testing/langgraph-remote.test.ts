import assert from "node:assert/strict";
import test from "node:test";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { agent, createServer } from "colloquy";
import { a2aNode, fromLangGraph } from "colloquy/langgraph";
import { converse } from "colloquy/testing";

const Order = Annotation.Root({ wish: Annotation<string>, cake: Annotation<string> });
type State = typeof Order.State;
const baker = agent({ name: "baker", description: "Bakes cakes" }, async function* ({ text }) {
  yield `one ${text}`;
});

void test("orders at an agent on another server", async (t) => {
  const server = createServer(baker, { store: "memory" });
  t.after(() => server.close());
  const { url } = await server.listen();
  const toInput = ({ wish }: State) => wish;
  const graph = new StateGraph(Order)
    .addNode("bake", a2aNode(url, { toInput, toStateUpdate: ({ text }) => ({ cake: text }) }))
    .addEdge("__start__", "bake")
    .compile();
  const toGraphInput = ({ text }: { text: string }) => ({ wish: text });
  const toAnswer = ({ cake }: State) => `Here is ${cake}.`;
  const shop = fromLangGraph(graph, { name: "shop", description: "Sells cakes", toGraphInput, toAnswer });
  await using chat = await converse(shop);
  assert.equal((await chat.send("carrot cake")).text, "Here is one carrot cake.");
});
