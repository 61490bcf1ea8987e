/** Tests the adapter with a double of a compiled graph. `lab/peers/langgraph` tests the adapter with LangGraph. */
import { once } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { connect, type A2AClient } from "../../../client/index.ts";
import type { Agent } from "../../../engine/index.ts";
import { type ArtifactEnding, data, text } from "../../../protocol/index.ts";
import { bearer } from "../../../server/auth/index.ts";
import { createServer, type Server } from "../../../server/index.ts";
import { defineAdapterContract, getArtifactTextWithoutReasoning, requireTask } from "../adapter.contract.ts";
import { runThroughRestart } from "../server-restart.fixture.ts";
import { fromLangGraph, type LangGraphOptions } from "./index.ts";
import {
  createTestGraph,
  TestCheckpointer,
  type TestCommand,
  type TestGraphMessage,
  type TestGraphState,
  type TestNode,
} from "./test-graph.fixture.ts";

vi.mock("@langchain/langgraph", () => ({
  Command: class implements TestCommand {
    readonly resume: unknown;
    constructor({ resume }: TestCommand) {
      this.resume = resume;
    }
  },
}));

const agentDescription = { name: "graph", description: "For tests", defaultInputModes: ["*/*"] };

/** Creates an agent from a graph with one node and a checkpointer. */
const createNodeAgent = (node: TestNode, options: Partial<LangGraphOptions<TestGraphState>> = {}): Agent =>
  fromLangGraph(createTestGraph({ node }, new TestCheckpointer()), { ...agentDescription, ...options });

const reply = (content: string, members: object = {}): TestGraphState => ({
  messages: [{ type: "ai", content, ...members }],
});

/** Creates an agent whose model streams these chunks. */
const createModelAgent = (
  chunks: readonly string[],
  before?: (chunk: string) => Promise<void> | void,
  artifacts: ArtifactEnding = "whole",
): Agent =>
  createNodeAgent(
    async (_, { sendChunk }) => {
      for (const content of chunks) {
        await before?.(content);
        sendChunk({ type: "ai", id: "m", content });
      }
      return reply(chunks.join(""), { id: "m" });
    },
    { artifacts },
  );

const listUserTexts = (state: TestGraphState): string =>
  (state["messages"] as TestGraphMessage[])
    .filter(({ role }) => role === "user")
    .map(({ content }) => String(content))
    .join(" | ");

const askForCity: TestNode = async (_, { interrupt }) =>
  reply(`Sunny in ${String(interrupt("Which city?"))}`);

defineAdapterContract("a graph with the interface of LangGraph", {
  createAnsweringAgent: (chunks) => createModelAgent(chunks),
  createAnsweringAgentWithPieces: (chunks) => createModelAgent(chunks, undefined, "pieces"),
  createGateWaitingAgent: (gate) =>
    createModelAgent(["first ", "second"], (chunk) => (chunk === "second" ? gate : undefined)),
  createFailingAgent: (error) =>
    createNodeAgent(async () => {
      throw error;
    }),
  createEndlessAgent: (stopped) =>
    createNodeAgent(async (_, { sendChunk, signal }) => {
      sendChunk({ type: "ai", content: "working" });
      if (!signal.aborted) await once(signal, "abort");
      stopped();
      throw signal.reason;
    }),
  createRememberingAgent: () => createNodeAgent(async (state) => reply(listUserTexts(state))),
  createEchoAgent: () =>
    createNodeAgent(async ({ messages }) => {
      const [{ content }] = (messages as TestGraphMessage[]).slice(-1) as [TestGraphMessage];
      const seen = (content as Record<string, string>[]).map(({ type, text = "", mimeType, data }) => {
        if (type !== "text") return `file:${mimeType}:${data}`;
        return text.startsWith("{") ? `data:${text}` : `text:${text}`;
      });
      return reply(seen.join(" "));
    }),
  createAskingAgent: () => createNodeAgent(askForCity),
});

describe("a graph with the interface of LangGraph", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent): Promise<A2AClient> {
    server = createServer(agent, { store: "memory" });
    return connect((await server.listen()).url);
  }

  it("reports custom events as progress, and answers with the result of `toAnswer`", async () => {
    const graph = createTestGraph({
      search: async ({ query }, { writer }) => {
        writer({ event: "search_complete", message: "Found 2 documents" });
        return { found: [`${String(query)} 1`, `${String(query)} 2`] };
      },
      generate: async ({ found }, { writer }) => {
        writer("Writing");
        return { report: `On ${(found as string[]).join(" and ")}.` };
      },
    });
    const remote = await connectToAgent(
      fromLangGraph(graph, {
        ...agentDescription,
        toGraphInput: ({ text }) => ({ query: text }),
        toAnswer: ({ report, found }) => [String(report), data({ sources: (found as string[]).length })],
      }),
    );
    const task = await requireTask(remote.send("tea"));
    expect(listAgentParts(task)).toEqual([
      text("Found 2 documents"),
      data({ event: "search_complete", message: "Found 2 documents" }),
      text("Writing"),
    ]);
    expect(task.artifacts?.map(({ parts }) => parts)).toEqual([
      [text("On tea 1 and tea 2."), data({ sources: 2 })],
    ]);
  });

  it("reports tool calls as data, sums up usage, and separates the output of two nodes by paragraphs", async () => {
    const usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const graph = createTestGraph({
      plan: async () => ({
        messages: [
          {
            type: "ai",
            id: "1",
            content: "Let me see.",
            tool_calls: [{ id: "c1", name: "look", args: { at: "sky" } }],
          },
          { type: "tool", content: "blue", tool_call_id: "c1", name: "look" },
          { type: "tool", content: "10.1.2.3 is down", tool_call_id: "c2", name: "look", status: "error" },
        ],
      }),
      say: async (_, { sendChunk }) => {
        for (const content of ["It is ", "blue."])
          sendChunk({ type: "ai", id: "2", content, usage_metadata });
        return reply("It is blue.", { id: "2" });
      },
    });
    const remote = await connectToAgent(fromLangGraph(graph, agentDescription));
    const task = await requireTask(remote.send("look"));
    expect(getArtifactTextWithoutReasoning(task)).toBe("Let me see.\n\nIt is blue.");
    expect(listAgentParts(task)).toEqual([
      data({ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sky" } }),
      data({ type: "tool-result", output: "blue", toolCallId: "c1", toolName: "look" }),
      data({ type: "tool-error", toolCallId: "c2", toolName: "look" }),
    ]);
    expect(task.metadata).toEqual({ usage: { inputTokens: 2, outputTokens: 4, totalTokens: 6 } });
  });

  it("answers only with the configured nodes", async () => {
    const graph = createTestGraph({
      draft: async () => reply("A draft.", { id: "1" }),
      final: async () => reply("The text.", { id: "2" }),
    });
    const remote = await connectToAgent(
      fromLangGraph(graph, { ...agentDescription, answerNodes: ["final"] }),
    );
    expect(getArtifactTextWithoutReasoning(await requireTask(remote.send("write")))).toBe("The text.");
  });

  it("continues with data, and with one answer to several questions", async () => {
    const askTwice: TestNode = async (_, { interrupt }) =>
      reply(JSON.stringify(interrupt([{ approve: "left" }, { approve: "right" }])));
    const remote = await connectToAgent(createNodeAgent(askTwice));
    const asked = await requireTask(remote.send("go"));
    expect(asked.status.message?.parts).toEqual([
      data({ approve: "left" }, { interruptId: "question-0" }),
      data({ approve: "right" }, { interruptId: "question-1" }),
    ]);
    const each = { "question-0": "yes", "question-1": { no: 1 } };
    const answered = await requireTask(remote.send([data(each)], { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(answered)).toBe(JSON.stringify(each));
    const again = await requireTask(remote.send("go"));
    const all = await requireTask(remote.send([data(true)], { taskId: again.id }));
    expect(getArtifactTextWithoutReasoning(all)).toBe('{"question-0":true,"question-1":true}');
  });

  it("keeps its question when a new task arrives in the same conversation", async () => {
    const remote = await connectToAgent(createNodeAgent(askForCity));
    const asked = await requireTask(remote.send("Weather?"));
    const other = await requireTask(remote.send("And the time?", { contextId: asked.contextId }));
    expect(other.status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: { parts: [{ text: expect.stringContaining(asked.id) as string }] },
    });
    const answered = await requireTask(remote.send("Seoul", { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(answered)).toBe("Sunny in Seoul");
  });

  it("separates the threads of two callers with equal context ids", async () => {
    const threads = new Set<unknown>();
    const served = createNodeAgent(async (state, { configurable }) => {
      threads.add(configurable["thread_id"]);
      return reply(listUserTexts(state));
    });
    const tokens = { "token-of-ada-0123": "ada", "token-of-bob-0123": "bob" };
    server = createServer(served, { store: "memory", authenticate: bearer({ tokens }) });
    const { url } = await server.listen();
    const answers = [];
    for (const token of Object.keys(tokens)) {
      const remote = await connect(url, { auth: { bearer: token } });
      answers.push(await requireTask(remote.send(`from ${token}`, { contextId: "the-same" })));
    }
    expect(answers.map(getArtifactTextWithoutReasoning)).toEqual([
      "from token-of-ada-0123",
      "from token-of-bob-0123",
    ]);
    expect(threads.size).toBe(2);
  });

  it.each([
    ["resume", ["first", "second", "second"]],
    ["restart", ["first", "second", "first", "second"]],
  ] as const)("continues after a killed server with `%s` [E9]", async (afterRestart, expected) => {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    const checkpointer = new TestCheckpointer();
    const started: string[] = [];
    const task = await runThroughRestart((attempt) => {
      const graph = createTestGraph(
        {
          first: async ({ query }) => {
            started.push("first");
            return { a: `a of ${String(query)}` };
          },
          second: async ({ a }) => {
            started.push("second");
            if (attempt === 1) {
              interrupt();
              await new Promise(() => {});
            }
            return { b: `b of ${String(a)}` };
          },
        },
        checkpointer,
      );
      return fromLangGraph(graph, {
        ...agentDescription,
        toGraphInput: ({ text }) => ({ query: text }),
        toAnswer: ({ b }) => String(b),
        afterRestart,
      });
    }, interrupted);
    expect(started).toEqual(expected);
    expect(getArtifactTextWithoutReasoning(task)).toBe("b of a of pay 5");
  });

  it("is rejected if it cannot resume", () => {
    const options = { ...agentDescription, afterRestart: "resume" } as const;
    const graph = createTestGraph({});
    expect(() => fromLangGraph(graph, { ...options, toAnswer: () => "" })).toThrow(
      "requires a graph with a checkpointer",
    );
    expect(() => fromLangGraph(createTestGraph({}, new TestCheckpointer()), options)).toThrow(
      "the option `toAnswer`",
    );
  });

  function listAgentParts({ history = [], status }: Awaited<ReturnType<typeof requireTask>>): unknown[] {
    return [...history, status.message].flatMap((message) =>
      message?.role === "ROLE_AGENT" ? message.parts : [],
    );
  }
});
