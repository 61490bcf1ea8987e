import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createSdkMcpServer, type Options, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  defineAdapterContract,
  getArtifactTextWithoutReasoning,
  requireTask,
} from "../../../src/agents/adapters/adapter.contract.ts";
import { type ClaudeOptions, fromClaude } from "../../../src/agents/adapters/claude/index.ts";
import {
  type MessagesApiMessage,
  type MessagesScript,
  startMessagesEndpoint,
} from "../../../src/agents/adapters/claude/messages-endpoint.fixture.ts";
import { collect, connect, type A2AClient } from "../../../src/client/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import { data, getText, text, type Task } from "../../../src/protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/index.ts";
import { MemoryStore } from "../../../src/stores/index.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0)) await cleanUp();
});

/** Starts a scripted endpoint, and returns options that let the SDK use this endpoint and an empty home. */
async function createScriptedOptions(script: MessagesScript, home?: string): Promise<Options> {
  const { url, close } = await startMessagesEndpoint(script);
  cleanups.push(close);
  const folder = home ?? (await createHome());
  return {
    model: "claude-test",
    systemPrompt: "You are a test.",
    tools: [],
    settingSources: [],
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      CLAUDE_CONFIG_DIR: folder,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "secret",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      ENABLE_TOOL_SEARCH: "false",
    },
  };
}

async function createHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "colloquy-claude-"));
  cleanups.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

interface ScriptedAgentOptions extends Partial<ClaudeOptions<Options>> {
  readonly home?: string;
  /** Returns further options for each query. */
  readonly createQueryOptions?: () => Partial<Options>;
}

/** Creates an agent with a scripted endpoint, which starts before the first query. */
function createScriptedAgent(script: MessagesScript, options: ScriptedAgentOptions = {}): Agent {
  const { home, createQueryOptions, ...claudeOptions } = options;
  const opening = createScriptedOptions(script, home);
  return fromClaude<Options>(
    async function* ({ prompt, options }) {
      yield* query({ prompt, options: { ...(await opening), ...options } });
    },
    {
      name: "claude",
      description: "For tests",
      defaultInputModes: ["*/*"],
      toQueryOptions: () => createQueryOptions?.() ?? {},
      ...claudeOptions,
    },
  );
}

/** Returns the texts of the user, without the reminders that the SDK adds. */
function listUserTexts(messages: readonly MessagesApiMessage[]): string[] {
  return messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map((block) => block.text ?? ""),
    )
    .filter((userText) => userText !== "" && !userText.startsWith("<system-reminder>"));
}

function listToolResults(messages: readonly MessagesApiMessage[]): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((block) => (block.type === "tool_result" ? [JSON.stringify(block.content)] : [])),
  );
}

defineAdapterContract("an agent of the Claude Agent SDK", {
  createAnsweringAgent: (chunks) => createScriptedAgent(() => chunks),
  createAnsweringAgentWithPieces: (chunks) => createScriptedAgent(() => chunks, { artifacts: "pieces" }),
  createGateWaitingAgent: (gate) =>
    createScriptedAgent(async function* () {
      yield "first ";
      await gate;
      yield "second";
    }),
  createFailingAgent: (error) =>
    createScriptedAgent(() => {
      throw error;
    }),
  createEndlessAgent: (stopped) =>
    createScriptedAgent(async function* (_, response) {
      yield "working";
      await once(response, "close");
      stopped();
    }),
  createRememberingAgent: () => createScriptedAgent((messages) => [listUserTexts(messages).join(" | ")]),
  createEchoAgent: () =>
    createScriptedAgent((messages) => {
      const content = messages.flatMap((message) =>
        message.role === "user" && typeof message.content !== "string" ? message.content : [],
      );
      const seen = content.flatMap((block) => {
        if (block.source) return [`file:${block.source.media_type}:${block.source.data}`];
        // Claude adds the path of the image to the message, and a line break before it.
        if (block.text?.startsWith("{")) return [`data:${block.text.trim()}`];
        return block.text === "look" ? ["text:look"] : [];
      });
      return [seen.join(" ")];
    }),
  createAskingAgent: () => {
    const question = { question: "Which city?", header: "City", multiSelect: false };
    const options = ["Seoul", "Busan"].map((label) => ({ label, description: label }));
    return createScriptedAgent(
      function* (messages) {
        const [answer] = listToolResults(messages);
        if (answer === undefined) {
          const input = { questions: [{ ...question, options }] };
          yield { callId: "toolu_1", toolName: "AskUserQuestion", input };
        } else yield answer.includes('=\\"Seoul\\"') ? "Sunny in Seoul" : answer;
      },
      { createQueryOptions: () => ({ tools: ["AskUserQuestion"] }) },
    );
  },
});

function createBankOptions(refunds: number[], home?: string): ScriptedAgentOptions {
  const refund = tool("refund", "Refunds money", { euros: z.number() }, async ({ euros }) => {
    if (euros < 0) throw new Error("no route to 10.1.2.3");
    refunds.push(euros);
    return { content: [{ type: "text", text: `paid ${euros}` }] };
  });
  return {
    ...(home === undefined ? {} : { home }),
    requireApproval: (toolName, { euros }) => toolName === "mcp__bank__refund" && Number(euros) >= 50,
    createQueryOptions: () => ({
      mcpServers: { bank: createSdkMcpServer({ name: "bank", tools: [refund] }) },
      allowedTools: ["mcp__bank__refund"],
    }),
  };
}
const requestRefund: MessagesScript = function* (messages) {
  const result = listToolResults(messages).at(-1);
  if (listUserTexts(messages).at(-1) === "Thanks") yield "You are welcome.";
  else if (result === undefined) {
    yield "One moment.";
    yield { callId: "toolu_1", toolName: "mcp__bank__refund", input: { euros: 80 } };
  } else yield `Result: ${result}`;
};

describe("an agent of the Claude Agent SDK", () => {
  let server: Server | undefined;
  afterEach(() => server?.close({ graceMs: 0 }));
  async function connectToAgent(agent: Agent, options: ServerOptions = {}): Promise<A2AClient> {
    server = createServer(agent, { store: "memory", ...options });
    return connect((await server.listen()).url);
  }

  it("accepts the `query` function of the SDK and its options", () => {
    const toQueryOptions = () => ({ model: "claude-sonnet-4-5", allowedTools: ["Read"] });
    const served = fromClaude(query, { name: "coder", description: "Reads code", toQueryOptions });
    expect(served.describe()).toMatchObject({ name: "coder", description: "Reads code" });
  });

  it("reports tool calls, reasoning, and token usage separately, and hides tool errors", async () => {
    const script: MessagesScript = function* (messages) {
      if (listToolResults(messages).length > 0) yield "Done.";
      else {
        yield { reasoning: "I should " };
        yield { reasoning: "pay." };
        yield "Paying.";
        yield { callId: "toolu_1", toolName: "mcp__bank__refund", input: { euros: 5 } };
        yield { callId: "toolu_2", toolName: "mcp__bank__refund", input: { euros: -5 } };
      }
    };
    const remote = await connectToAgent(createScriptedAgent(script, createBankOptions([])));
    const events = [];
    for await (const event of remote.stream("Pay 5 euros")) events.push(event);
    const reports = events.flatMap((event) =>
      "statusUpdate" in event
        ? (event.statusUpdate.status.message?.parts ?? []).flatMap((part) =>
            "data" in part ? [part.data] : [],
          )
        : [],
    );
    const toolName = "mcp__bank__refund";
    expect(reports).toEqual([
      { type: "tool-call", toolCallId: "toolu_1", toolName, input: { euros: 5 } },
      { type: "tool-call", toolCallId: "toolu_2", toolName, input: { euros: -5 } },
      { type: "tool-result", toolCallId: "toolu_1", toolName, output: [{ type: "text", text: "paid 5" }] },
      { type: "tool-error", toolCallId: "toolu_2", toolName },
    ]);
    const [event] = events;
    const task = await remote.tasks.get((event as { task: Task }).task.id);
    const texts = task.artifacts?.map(({ artifactId, parts }) => [artifactId, getText(parts)]);
    expect(Object.fromEntries(texts ?? [])).toEqual({
      reasoning: "I should pay.",
      answer: "Paying.\n\nDone.",
    });
    expect(task.metadata?.["usage"]).toEqual({ inputTokens: 6, outputTokens: 10, totalTokens: 16 });
    expect(JSON.stringify(events)).not.toContain("10.1.2.3");
  });

  it.each([
    [text("yes"), "paid 80", [80]],
    [data({ approvalId: "toolu_1", approved: true }), "paid 80", [80]],
    [text("No, too much."), "No, too much.", []],
  ])("asks for the approval of a tool call, and accepts %j", async (part, output, paid) => {
    const refunds: number[] = [];
    const remote = await connectToAgent(createScriptedAgent(requestRefund, createBankOptions(refunds)));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    expect(asked.status).toMatchObject({
      state: "TASK_STATE_INPUT_REQUIRED",
      message: {
        parts: [
          { text: "May mcp__bank__refund be called?" },
          { data: { type: "tool-approval-request", approvalId: "toolu_1", input: { euros: 80 } } },
        ],
      },
    });
    expect(refunds).toEqual([]);
    const done = await requireTask(remote.send([part], { taskId: asked.id }));
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(done)).toContain(output);
    expect(refunds).toEqual(paid);
    const next = await requireTask(remote.send("Thanks", { contextId: asked.contextId }));
    expect(getArtifactTextWithoutReasoning(next)).toBe("You are welcome.");
  });

  it("asks for the approval of a built-in tool, and continues without another prompt", async () => {
    const requests: string[][] = [];
    const script: MessagesScript = function* (messages) {
      requests.push(listUserTexts(messages));
      if (listToolResults(messages).length > 0) yield "Done.";
      else
        yield { callId: "toolu_1", toolName: "Bash", input: { command: "echo hi", description: "Greets" } };
    };
    const options = { requireApproval: () => true, createQueryOptions: () => ({ tools: ["Bash"] }) };
    const remote = await connectToAgent(createScriptedAgent(script, options));
    const asked = await requireTask(remote.send("Greet"));
    const done = await requireTask(remote.send("yes", { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(done)).toBe("Done.");
    expect(requests).toHaveLength(2);
  });

  it("keeps its question when a new task arrives, and denies the call of a canceled task", async () => {
    const refunds: number[] = [];
    const remote = await connectToAgent(createScriptedAgent(requestRefund, createBankOptions(refunds)));
    const asked = await requireTask(remote.send("Refund 80 euros"));
    const { contextId } = asked;
    const other = await requireTask(remote.send("yes", { contextId }));
    expect(other.status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: { parts: [{ text: expect.stringContaining(asked.id) as string }] },
    });
    await remote.tasks.cancel(asked.id);
    const next = await requireTask(remote.send("yes", { contextId }));
    // Claude itself denies a deferred call if the next prompt arrives before the hook decides.
    expect(getArtifactTextWithoutReasoning(next)).toMatch(
      /The user canceled the task|The user doesn't want to take this action/,
    );
    expect(refunds).toEqual([]);
  });

  it("accepts an approval after a restart", async () => {
    const store = new MemoryStore();
    const home = await createHome();
    const refunds: number[] = [];
    const createAgent = (): Agent => createScriptedAgent(requestRefund, createBankOptions(refunds, home));
    const before = createServer(createAgent(), { store });
    const asked = await requireTask((await connect((await before.listen()).url)).send("Refund 80 euros"));
    const remote = await connectToAgent(createAgent(), { store });
    const done = await requireTask(remote.send("yes", { taskId: asked.id }));
    expect(getArtifactTextWithoutReasoning(done)).toContain("paid 80");
    expect(refunds).toEqual([80]);
    await before.close({ graceMs: 0 });
  });

  it("repeats a turn that a killed server interrupted, with `afterRestart: restart`", async () => {
    const store = new MemoryStore();
    const home = await createHome();
    const reached = Promise.withResolvers<void>();
    const createAgent = (script: MessagesScript): Agent =>
      createScriptedAgent(script, { home, afterRestart: "restart" });
    const hanging = createAgent(async function* (_, response) {
      yield "half of ";
      reached.resolve();
      await once(response, "close");
    });
    const before = createServer(hanging, { store });
    const dead = await connect((await before.listen()).url);
    const asked = await requireTask(dead.send("tea", { configuration: { returnImmediately: true } }));
    await reached.promise;
    const remote = await connectToAgent(
      createAgent((messages) => [`Here is your ${listUserTexts(messages).at(-1)}.`]),
      { store },
    );
    const { task } = (await collect(remote.tasks.subscribe(asked.id))) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactTextWithoutReasoning(task)).toBe("Here is your tea.");
    await before.close({ graceMs: 0 });
  });

  it("resumes the sessions of an earlier process", async () => {
    const store = new MemoryStore();
    const home = await createHome();
    const createAgent = (): Agent =>
      createScriptedAgent((messages) => [listUserTexts(messages).join(" | ")], { home });
    const before = createServer(createAgent(), { store });
    const first = await requireTask((await connect((await before.listen()).url)).send("red"));
    const remote = await connectToAgent(createAgent(), { store });
    const second = await requireTask(remote.send("green", { contextId: first.contextId }));
    expect(getArtifactTextWithoutReasoning(second)).toBe("red | green");
    await before.close({ graceMs: 0 });
  });
});
