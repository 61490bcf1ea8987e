import { once } from "node:events";
import {
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  AIMessage,
} from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import {
  Annotation,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  StateGraph,
} from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { collect, connect, type A2AClient } from "../../../src/client/index.ts";
import { runThroughRestart } from "../../../src/agents/adapters/server-restart.fixture.ts";
import type { Agent, Run } from "../../../src/engine/index.ts";
import {
  type ArtifactEnding,
  data,
  text,
  type StreamResponse,
  type Task,
} from "../../../src/protocol/index.ts";
import { bearer } from "../../../src/server/auth/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/index.ts";
import { MemoryStore } from "../../../src/stores/index.ts";
import {
  getArtifactTextWithoutReasoning,
  defineAdapterContract,
  requireTask,
} from "../../../src/agents/adapters/adapter.contract.ts";
import { fromLangGraph } from "../../../src/agents/adapters/langgraph/index.ts";

const agentDescription = { name: "graph", description: "For tests", defaultInputModes: ["*/*"] };
type Config = LangGraphRunnableConfig;
type Messages = { messages: BaseMessage[] };

/** Creates a graph with one node. */
const createSingleNodeGraph = (node: (state: Messages, config: Config) => Promise<Partial<Messages>>) =>
  new StateGraph(MessagesAnnotation)
    .addNode("node", node)
    .addEdge("__start__", "node")
    .compile({ checkpointer: new MemorySaver() });

/** Creates a graph whose model streams these chunks. */
const createModelAgent = (
  chunks: readonly string[],
  before?: (output: string) => Promise<void> | void,
  artifacts: ArtifactEnding = "whole",
): Agent =>
  fromLangGraph(
    createSingleNodeGraph(async ({ messages }, config) => {
      const model = new ScriptedChatModel(chunks, before);
      return { messages: [await model.invoke(messages, config)] };
    }),
    { ...agentDescription, artifacts },
  );

class ScriptedChatModel extends FakeStreamingChatModel {
  readonly #chunks: readonly string[];
  readonly #beforeChunk: ((output: string) => Promise<void> | void) | undefined;

  constructor(chunks: readonly string[], before?: (output: string) => Promise<void> | void) {
    super({ sleep: 0 });
    this.#chunks = chunks;
    this.#beforeChunk = before;
  }

  override async *_streamResponseChunks(
    ...[, , runManager]: Parameters<FakeStreamingChatModel["_streamResponseChunks"]>
  ): ReturnType<FakeStreamingChatModel["_streamResponseChunks"]> {
    for (const chunk of this.#chunks) {
      await this.#beforeChunk?.(chunk);
      const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
      const message = new AIMessageChunk({ content: chunk, usage_metadata } as never);
      yield { message, text: chunk } as never;
      await runManager?.handleLLMNewToken(chunk, undefined, undefined, undefined, undefined, {
        chunk: { message, text: chunk } as never,
      });
    }
  }
}

const listUserTexts = (messages: readonly BaseMessage[]): string[] =>
  messages.flatMap((message) => (HumanMessage.isInstance(message) ? [message.text] : []));

defineAdapterContract("a graph of LangGraph", {
  createAnsweringAgent: (chunks) => createModelAgent(chunks),
  createAnsweringAgentWithPieces: (chunks) => createModelAgent(chunks, undefined, "pieces"),
  createGateWaitingAgent: (gate) =>
    createModelAgent(["first ", "second"], (output) => (output === "second" ? gate : undefined)),
  createFailingAgent: (error) =>
    fromLangGraph(
      createSingleNodeGraph(async () => {
        throw error;
      }),
      agentDescription,
    ),
  createEndlessAgent: (stopped) =>
    fromLangGraph(
      createSingleNodeGraph(async (_, config) => {
        await new ScriptedChatModel(["working"]).invoke("go", config);
        if (!config.signal?.aborted) await once(config.signal as AbortSignal, "abort");
        stopped();
        throw (config.signal as AbortSignal).reason;
      }),
      agentDescription,
    ),
  createRememberingAgent: () =>
    fromLangGraph(
      createSingleNodeGraph(async ({ messages }) => ({
        messages: [new AIMessage(listUserTexts(messages).join(" | "))],
      })),
      agentDescription,
    ),
  createEchoAgent: () =>
    fromLangGraph(
      createSingleNodeGraph(async ({ messages }) => {
        const blocks = messages.at(-1)?.contentBlocks ?? [];
        const seen = blocks.map((block) => {
          if (block.type !== "text") return `file:${String(block["mimeType"])}:${String(block["data"])}`;
          return block.text.startsWith("{") ? `data:${block.text}` : `text:${block.text}`;
        });
        return { messages: [new AIMessage(seen.join(" "))] };
      }),
      agentDescription,
    ),
  createAskingAgent: () =>
    fromLangGraph(
      createSingleNodeGraph(async () => ({
        messages: [new AIMessage(`Sunny in ${interrupt<string, string>("Which city?")}`)],
      })),
      agentDescription,
    ),
});

describe("a LangGraph graph", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent, options: ServerOptions = {}): Promise<A2AClient> {
    server = createServer(agent, { store: "memory", ...options });
    return connect((await server.listen()).url);
  }

  const Research = Annotation.Root({
    query: Annotation<string>,
    found: Annotation<string[]>,
    report: Annotation<string>,
  });
  const research = () =>
    new StateGraph(Research)
      .addNode("search", async ({ query }, config: Config) => {
        config.writer?.({ event: "search_complete", message: "Found 2 documents" });
        return { found: [`${query} 1`, `${query} 2`] };
      })
      .addNode("generate", async ({ found }, config: Config) => {
        config.writer?.("Writing");
        return { report: `On ${found.join(" and ")}.` };
      })
      .addEdge("__start__", "search")
      .addEdge("search", "generate")
      .compile();

  it("reports progress and answers with the result of `toAnswer`", async () => {
    const remote = await connectToAgent(
      fromLangGraph(research(), {
        ...agentDescription,
        toGraphInput: ({ text }) => ({ query: text }),
        toAnswer: ({ report, found }) => [report, data({ sources: found.length })],
      }),
    );
    const events: StreamResponse[] = [];
    for await (const event of remote.stream("tea")) events.push(event);
    const progress = events.flatMap((event) =>
      "statusUpdate" in event ? (event.statusUpdate.status.message?.parts ?? []) : [],
    );
    expect(progress).toEqual([
      text("Found 2 documents"),
      data({ event: "search_complete", message: "Found 2 documents" }),
      text("Writing"),
    ]);
    const [first] = events;
    const { artifacts } = await remote.tasks.get(first && "task" in first ? first.task.id : "");
    expect(artifacts?.map(({ parts }) => parts)).toEqual([
      [text("On tea 1 and tea 2."), data({ sources: 2 })],
    ]);
  });

  it("reports tool calls as data, sums up usage, and separates the output of two nodes by paragraphs", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("plan", async () => ({
        messages: [
          new AIMessage({
            content: "Let me see.",
            tool_calls: [{ id: "c1", name: "look", args: { at: "sky" } }],
          }),
          new ToolMessage({ content: "blue", tool_call_id: "c1", name: "look" }),
          new ToolMessage({ content: "10.1.2.3 is down", tool_call_id: "c2", name: "look", status: "error" }),
        ],
      }))
      .addNode("say", async ({ messages }, config: Config) => ({
        messages: [await new ScriptedChatModel(["It is ", "blue."]).invoke(messages, config)],
      }))
      .addEdge("__start__", "plan")
      .addEdge("plan", "say")
      .compile();
    const task = await requireTask(
      (await connectToAgent(fromLangGraph(graph, agentDescription))).send("look"),
    );
    expect(getArtifactTextWithoutReasoning(task)).toBe("Let me see.\n\nIt is blue.");
    const shown = [...(task.history ?? []), task.status.message].flatMap((message) =>
      message?.role === "ROLE_AGENT" ? message.parts : [],
    );
    expect(shown).toEqual([
      data({ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sky" } }),
      data({ type: "tool-result", output: "blue", toolCallId: "c1", toolName: "look" }),
      data({ type: "tool-error", toolCallId: "c2", toolName: "look" }),
    ]);
    expect(task.metadata).toEqual({ usage: { inputTokens: 2, outputTokens: 4, totalTokens: 6 } });
  });

  it("answers only with the configured nodes", async () => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("draft", async () => ({ messages: [new AIMessage("A draft.")] }))
      .addNode("final", async () => ({ messages: [new AIMessage("The text.")] }))
      .addEdge("__start__", "draft")
      .addEdge("draft", "final")
      .compile();
    const remote = await connectToAgent(
      fromLangGraph(graph, { ...agentDescription, answerNodes: ["final"] }),
    );
    expect(getArtifactTextWithoutReasoning(await requireTask(remote.send("write")))).toBe("The text.");
  });

  it("continues with data, and with one answer to several questions", async () => {
    const graph = new StateGraph(Annotation.Root({ a: Annotation<unknown>, b: Annotation<unknown> }))
      .addNode("left", async () => ({ a: interrupt({ approve: "left" }) }))
      .addNode("right", async () => ({ b: interrupt({ approve: "right" }) }))
      .addEdge("__start__", "left")
      .addEdge("__start__", "right")
      .compile({ checkpointer: new MemorySaver() });
    const served = fromLangGraph(graph, {
      ...agentDescription,
      toGraphInput: () => ({ a: 0 }),
      toAnswer: ({ a, b }) => JSON.stringify([a, b]),
    });
    const remote = await connectToAgent(served);
    const asked = await requireTask(remote.send("go"));
    const parts = asked.status.message?.parts ?? [];
    expect(parts).toMatchObject([{ data: { approve: "left" } }, { data: { approve: "right" } }]);
    const [leftId, rightId] = parts.map(({ metadata }) => metadata?.["interruptId"] as string);
    const each = data({ [leftId ?? ""]: "yes", [rightId ?? ""]: { no: 1 } });
    expect(
      getArtifactTextWithoutReasoning(await requireTask(remote.send([each], { taskId: asked.id }))),
    ).toBe('["yes",{"no":1}]');
    const again = await requireTask(remote.send("go"));
    expect(
      getArtifactTextWithoutReasoning(await requireTask(remote.send([data(true)], { taskId: again.id }))),
    ).toBe("[true,true]");
  });

  it("keeps its question when a new task arrives in the same conversation", async () => {
    const served = fromLangGraph(
      createSingleNodeGraph(async () => ({
        messages: [new AIMessage(`Sunny in ${interrupt<string, string>("Which city?")}`)],
      })),
      agentDescription,
    );
    const remote = await connectToAgent(served);
    const asked = await requireTask(remote.send("Weather?"));
    const other = await requireTask(remote.send("And the time?", { contextId: asked.contextId }));
    expect(other.status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: { parts: [{ text: expect.stringContaining(asked.id) as string }] },
    });
    expect(
      getArtifactTextWithoutReasoning(await requireTask(remote.send("Seoul", { taskId: asked.id }))),
    ).toBe("Sunny in Seoul");
    // A canceled task does not block the conversation.
    const third = await requireTask(remote.send("Weather?", { contextId: asked.contextId }));
    await remote.tasks.cancel(third.id);
    const fourth = await requireTask(remote.send("Weather?", { contextId: asked.contextId }));
    expect(fourth.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("separates the threads of two callers with equal context ids", async () => {
    const threads: unknown[] = [];
    const served = fromLangGraph(
      createSingleNodeGraph(async ({ messages }, config) => {
        threads.push(config.configurable?.["thread_id"]);
        return { messages: [new AIMessage(listUserTexts(messages).join(" | "))] };
      }),
      agentDescription,
    );
    server = createServer(served, {
      store: "memory",
      authenticate: bearer({ tokens: { "token-of-ada-0123": "ada", "token-of-bob-0123": "bob" } }),
    });
    const { url } = await server.listen();
    const [ada, bob] = await Promise.all(
      ["token-of-ada-0123", "token-of-bob-0123"].map((token) => connect(url, { auth: { bearer: token } })),
    );
    const contextId = "the-same";
    await ada?.send("my secret", { contextId });
    const answer = await requireTask((bob as A2AClient).send("hi", { contextId }));
    expect(getArtifactTextWithoutReasoning(answer)).toBe("hi");
    expect(new Set(threads).size).toBe(2);
  });

  it("does not repeat a finished step after a restart [E18]", async () => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const executions: string[] = [];
    const task = await runThroughRestart((attempt) => {
      const graph = new StateGraph(Annotation.Root({ answer: Annotation<string> }))
        .addNode("work", async (_state, { configurable }: Config) => {
          const { once } = configurable as Pick<Run, "once">;
          const paid = await once("pay", (step) => {
            executions.push(`pay ${step.attempt}`);
            return "paid";
          });
          if (attempt === 1) {
            interrupt();
            await new Promise(() => {});
          }
          return { answer: paid };
        })
        .addEdge("__start__", "work")
        .compile();
      return fromLangGraph(graph, {
        ...agentDescription,
        toGraphInput: () => ({ answer: "" }),
        toAnswer: ({ answer }) => answer,
        toGraphConfig: ({ once }) => ({ configurable: { once } }),
        afterRestart: "restart",
      });
    }, interrupted);
    expect(executions).toEqual(["pay 1"]);
    expect(getArtifactTextWithoutReasoning(task)).toBe("paid");
  });

  describe("after a killed server", () => {
    const State = Annotation.Root({
      query: Annotation<string>,
      a: Annotation<string>,
      b: Annotation<string>,
    });
    /** Two servers with one store. The first server never gets past the second node of its graph. */
    async function secondLife(
      afterRestart: "restart" | "resume",
    ): Promise<{ told: string[]; answer: string }> {
      const store = new MemoryStore();
      const checkpointer = new MemorySaver();
      const reported: string[] = [];
      const live = (second: (state: typeof State.State) => Promise<string>): Agent => {
        const graph = new StateGraph(State)
          .addNode("first", async ({ query }, config: Config) => {
            config.writer?.("first");
            reported.push("first");
            return { a: `a of ${query}` };
          })
          .addNode("second", async (state) => {
            reported.push("second");
            return { b: await second(state) };
          })
          .addEdge("__start__", "first")
          .addEdge("first", "second")
          .compile({ checkpointer });
        const input = ({ text }: { text: string }) => ({ query: text });
        const answer = (state: typeof State.State): string => state.b;
        return fromLangGraph(graph, {
          ...agentDescription,
          toGraphInput: input,
          toAnswer: answer,
          afterRestart,
        });
      };
      const reached = Promise.withResolvers<void>();
      const hangs = live(() => {
        reached.resolve();
        return new Promise(() => {});
      });
      const before = createServer(hangs, { store });
      const dead = await connect((await before.listen()).url);
      const { task } = (await dead.send("tea", { configuration: { returnImmediately: true } })) as {
        task: Task;
      };
      await reached.promise;
      const remote = await connectToAgent(
        live(async ({ a }) => `b of ${a}`),
        { store },
      );
      const after = await collect(remote.tasks.subscribe(task.id));
      expect((after as { task: Task }).task.artifacts).toHaveLength(1);
      return { told: reported, answer: getArtifactTextWithoutReasoning((after as { task: Task }).task) };
    }

    it("continues after the last completed node with `resume` [E9]", async () => {
      expect(await secondLife("resume")).toEqual({
        told: ["first", "second", "second"],
        answer: "b of a of tea",
      });
    });

    it("starts again with `restart` [E9]", async () => {
      expect(await secondLife("restart")).toEqual({
        told: ["first", "second", "first", "second"],
        answer: "b of a of tea",
      });
    });

    it("is rejected if it cannot resume", () => {
      expect(() =>
        fromLangGraph(research(), { ...agentDescription, toAnswer: () => "", afterRestart: "resume" }),
      ).toThrow("requires a graph with a checkpointer");
      const graph = createSingleNodeGraph(async () => ({ messages: [] }));
      expect(() => fromLangGraph(graph, { ...agentDescription, afterRestart: "resume" })).toThrow(
        "the option `toAnswer`",
      );
    });
  });
});
