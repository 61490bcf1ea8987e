import { once } from "node:events";
import {
  Annotation,
  Command,
  type LangGraphRunnableConfig,
  MemorySaver,
  StateGraph,
} from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { connect, type A2AClient } from "../../../src/client/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import { createServer, type Server } from "../../../src/server/index.ts";
import {
  getArtifactTextWithoutReasoning,
  requireTask,
} from "../../../src/agents/adapters/adapter.contract.ts";
import { agent, data, inputRequired, status } from "../../../src/agents/adapters/index.ts";
import { a2aNode, fromLangGraph } from "../../../src/agents/adapters/langgraph/index.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function serveAgent(served: Agent): Promise<string> {
  const server = createServer(served, { store: "memory" });
  servers.push(server);
  return (await server.listen()).url;
}

const agentDescription = { name: "station", description: "Tells the weather of a city" };
const State = Annotation.Root({ question: Annotation<string>, answer: Annotation<string> });

/** A graph whose only node is the agent. */
function createGraph(place: string | A2AClient, checkpointer = new MemorySaver()) {
  const node = a2aNode(place, {
    toInput: ({ question }: typeof State.State) => question,
    toStateUpdate: ({ state, text, data }) => ({
      answer: [state, text, ...(data ?? []).map(String)].join(" "),
    }),
  });
  return new StateGraph(State)
    .addNode("station", node)
    .addEdge("__start__", "station")
    .compile({ checkpointer });
}

describe("an A2A agent as a LangGraph node", () => {
  it("answers in the thread's conversation, and reports progress as custom events", async () => {
    const contexts: string[] = [];
    const url = await serveAgent(
      agent(agentDescription, async function* ({ text, contextId }) {
        contexts.push(contextId);
        yield status("Looking out of the window…");
        yield `${text}: sunny.`;
        yield data(21);
      }),
    );
    const graph = createGraph(url);
    const options = { configurable: { thread_id: "thread-1" } };
    const seen: unknown[] = [];
    for await (const event of await graph.stream({ question: "Seoul" }, { ...options, streamMode: "custom" }))
      seen.push(event);
    expect(seen).toEqual(["Looking out of the window…"]);
    expect((await graph.getState(options)).values["answer"]).toBe("completed Seoul: sunny. 21");
    await graph.invoke({ question: "Busan" }, options);
    expect(contexts).toEqual(["thread-1", "thread-1"]);
  });

  const asking = (received: string[]): Agent =>
    agent(agentDescription, async function* ({ text, history }) {
      received.push(text);
      if (history.length === 1) yield inputRequired("Which city?");
      if (history.length === 3) yield inputRequired("Which day?");
      yield `${text}: sunny.`;
    });

  it.each([
    ["in this process", (graph: ReturnType<typeof createGraph>) => graph],
    ["after a restart", (_: unknown, url: string, saver: MemorySaver) => createGraph(url, saver)],
  ])(
    "interrupts its graph for a question, and is not called again when the graph resumes %s",
    async (_, after) => {
      const received: string[] = [];
      const url = await serveAgent(asking(received));
      const saver = new MemorySaver();
      const options = { configurable: { thread_id: "thread-1" } };
      const graph = createGraph(url, saver);
      const asked = await graph.invoke({ question: "Weather?" }, options);
      expect(asked).toMatchObject({ __interrupt__: [{ value: "Which city?" }] });
      const later = after(graph, url, saver);
      const extra = await later.invoke(new Command({ resume: "Seoul" }), options);
      expect(extra).toMatchObject({ __interrupt__: [{ value: "Which day?" }] });
      const done = await after(later, url, saver).invoke(new Command({ resume: "Monday" }), options);
      expect(done.answer).toBe("completed Monday: sunny.");
      expect(received).toEqual(["Weather?", "Seoul", "Monday"]);
    },
  );

  it("passes questions through several servers", async () => {
    const received: string[] = [];
    const graph = createGraph(await serveAgent(asking(received)));
    const served = fromLangGraph(graph, {
      name: "front",
      description: "Asks the station",
      toGraphInput: ({ text }) => ({ question: text }),
      toAnswer: ({ answer }) => answer,
    });
    const remote = await connect(await serveAgent(served));
    const asked = await requireTask(remote.send("Weather?"));
    expect(asked.status).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      message: { parts: [{ text: "Which city?" }] },
    });
    await remote.send("Seoul", { taskId: asked.id });
    expect(
      getArtifactTextWithoutReasoning(await requireTask(remote.send("Monday", { taskId: asked.id }))),
    ).toBe("completed Monday: sunny.");
  });

  it("cancels its task when the run is aborted", async () => {
    const cancelled = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const url = await serveAgent(
      agent(agentDescription, async function* ({ signal }) {
        yield status("Waiting…");
        began.resolve();
        await once(signal, "abort");
        cancelled.resolve();
      }),
    );
    const abort = new AbortController();
    const run = createGraph(url).invoke({ question: "Seoul" }, {
      configurable: { thread_id: "t" },
      signal: abort.signal,
    } satisfies LangGraphRunnableConfig);
    await began.promise;
    abort.abort();
    await expect(run).rejects.toThrow(/abort/i);
    await cancelled.promise;
  });
});
