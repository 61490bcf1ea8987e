/**
 * Serves a LangGraph graph that calls another A2A agent in one of its nodes. The graph's custom events become
 * progress messages, and its `interrupt` becomes a question to the user. The checkpointer of the graph stores
 * the conversation.
 *
 *     npm install --prefix examples/18-langgraph
 *     npm run -s example examples/18-langgraph/main.ts
 */
import {
  Annotation,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  StateGraph,
} from "@langchain/langgraph";
import { agent, connect, createServer, getText } from "colloquy";
import { a2aNode, fromLangGraph } from "colloquy/langgraph";

// The remote side: any A2A agent.
const bakerServer = createServer(
  agent({ name: "baker", description: "Bakes cakes to order" }, async function* ({ text }) {
    yield `one ${text}`;
  }),
  { store: "memory" },
);
const baker = await bakerServer.listen();

const Order = Annotation.Root({
  wish: Annotation<string>,
  size: Annotation<string>,
  cake: Annotation<string>,
});

const graph = new StateGraph(Order)
  .addNode("ask", ({ wish }, config: LangGraphRunnableConfig) => {
    config.writer?.(`Noted: ${wish}`);
    return { size: interrupt<string, string>("Which size?") };
  })
  .addNode(
    "bake",
    a2aNode(baker.url, {
      toInput: ({ wish, size }: typeof Order.State) => `${size} ${wish}`,
      toStateUpdate: ({ text }) => ({ cake: text }),
    }),
  )
  .addEdge("__start__", "ask")
  .addEdge("ask", "bake")
  .compile({ checkpointer: new MemorySaver() });

const server = createServer(
  fromLangGraph(graph, {
    name: "shop",
    description: "Takes orders for cakes",
    toGraphInput: ({ text }) => ({ wish: text }),
    toAnswer: ({ cake }) => `Here is your order: ${cake}.`,
  }),
  { store: "memory" },
);
const { url } = await server.listen();

const client = await connect(url);
const asked = await client.send("birthday cake");
if (!("task" in asked)) throw new Error("Expected a task.");
const { id: taskId, history, status } = asked.task;
for (const { role, parts } of history ?? []) console.log(role, getText(parts));
console.log(status.state, getText(status.message?.parts ?? []));

const done = await client.send("large", { taskId });
if ("task" in done) console.log(done.task.status.state, getText(done.task.artifacts?.[0]?.parts ?? []));

await server.close();
await bakerServer.close();
