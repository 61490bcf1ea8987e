import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentTool, type Event, LongRunningFunctionTool, ParallelAgent, Workflow } from "@google/adk";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { connect } from "../../../client/index.ts";
import { type Agent, type Run } from "../../../engine/index.ts";
import { type Part, type Task, getText } from "../../../protocol/index.ts";
import { adkAgent } from "../adk-agent.ts";
import { SqliteSessionService } from "../sessions/sqlite-session-service.ts";
import { toA2a } from "../to-a2a.ts";
import {
  TestAdkConversation,
  listFinalEventTexts,
  createScriptedLlmAgent,
  startServerForTest,
  createTestPeerAgent,
  createTestRemoteAgent,
  serveAgentForTest,
} from "./test-adk-conversation.fixture.ts";

/** Returns an agent that asks a text question and reports the task in which it was asked. */
function createAskingAgent(
  question: string,
  state: "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED" = "TASK_STATE_INPUT_REQUIRED",
): Agent & { readonly tasks: Set<string> } {
  const tasks = new Set<string>();
  const agent = createTestPeerAgent(async function* ({ message, task, taskId }: Run) {
    tasks.add(taskId);
    if (task.history?.length === 1) yield { status: { state, message: { parts: [{ text: question }] } } };
    else yield { artifact: { artifactId: "a", parts: [{ text: `Sunny in ${getText(message.parts)}.` }] } };
  });
  return { ...agent, tasks };
}

/** Returns an ADK agent that requests a person's approval. */
function createApprovalAgent(): Agent {
  const approval = new LongRunningFunctionTool({
    name: "request_approval",
    description: "Asks",
    parameters: z.object({}),
    execute: () => ({ status: "pending" }),
  });
  return adkAgent(
    createScriptedLlmAgent(
      "clerk",
      ({ text, results: [result] }) => {
        const status = result?.response?.["status"];
        if (status === "pending") return "I wait.";
        if (result) return `It was ${String(status)}.`;
        return text === "approve" ? { call: "request_approval" } : `You said ${text}.`;
      },
      { tools: [approval] },
    ),
  );
}

const createTransferringAgent = (
  agent: ReturnType<typeof createTestRemoteAgent>,
): ReturnType<typeof createScriptedLlmAgent> =>
  createScriptedLlmAgent("boss", [{ call: "transfer_to_agent", args: { agentName: "remote" } }], {
    subAgents: [agent],
  });

const collectLongRunningCallIds = (events: readonly Event[]): string[] => [
  ...new Set(events.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds)),
];
const createApproval = (id: string | undefined): object => ({
  functionResponse: { id, name: "request_approval", response: { status: "approved" } },
});

describe("a peer that asks without a call", () => {
  it.each([
    ["as the root", (agent: ReturnType<typeof createTestRemoteAgent>) => agent],
    ["as a sub-agent", createTransferringAgent],
  ])("accepts a text answer in the task that asked: %s [W24]", async (_, rootOf) => {
    const far = createAskingAgent("Which city?");
    const conversation = new TestAdkConversation(rootOf(createTestRemoteAgent(await serveAgentForTest(far))));
    expect(collectLongRunningCallIds(await conversation.sendUserMessage("weather?"))).toHaveLength(1);
    expect(listFinalEventTexts(await conversation.sendUserMessage("Warsaw"))).toEqual([
      "remote: Sunny in Warsaw.",
    ]);
    expect(far.tasks.size).toBe(1);
    // The next message starts another task.
    await conversation.sendUserMessage("And tomorrow?");
    expect(far.tasks.size).toBe(2);
  });

  it("can be a workflow node that continues with the answer", async () => {
    const far = createAskingAgent("Which city?");
    function note(_: unknown, said: unknown): object {
      return { noted: said };
    }
    const flow = new Workflow({
      name: "flow",
      edges: [["START", createTestRemoteAgent(await serveAgentForTest(far)), note]],
    });
    const conversation = new TestAdkConversation(flow);
    expect(collectLongRunningCallIds(await conversation.sendUserMessage("weather?"))).toHaveLength(1);
    expect((await conversation.sendUserMessage("Warsaw")).at(-1)?.output).toEqual({
      noted: "Sunny in Warsaw.",
    });
  });

  it("accepts text as the answer to a request for authorization", async () => {
    const far = createAskingAgent("Who are you?", "TASK_STATE_AUTH_REQUIRED");
    const conversation = new TestAdkConversation(createTestRemoteAgent(await serveAgentForTest(far)));
    const [id] = collectLongRunningCallIds(await conversation.sendUserMessage("weather?"));
    const response = { id, name: "mock_function_call_for_required_user_auth", response: { result: "Ada" } };
    expect(listFinalEventTexts(await conversation.sendUserMessage([{ functionResponse: response }]))).toEqual(
      ["remote: Sunny in Ada."],
    );
    expect(far.tasks.size).toBe(1);
  });

  it("can be called and answered by a model as a tool", async () => {
    const far = createAskingAgent("Which city?");
    const tool = new AgentTool({ agent: createTestRemoteAgent(await serveAgentForTest(far)) });
    const user = createScriptedLlmAgent(
      "user_of_tools",
      ({ text, results: [result] }) =>
        result ? JSON.stringify(result.response) : { call: "remote", args: { request: text } },
      { tools: [tool] },
    );
    const conversation = new TestAdkConversation(user, { streamingMode: "none" });
    expect(listFinalEventTexts(await conversation.sendUserMessage("weather?")).join()).toContain(
      "Which city?",
    );
    expect(listFinalEventTexts(await conversation.sendUserMessage("Warsaw")).join()).toContain(
      "Sunny in Warsaw.",
    );
    expect(far.tasks.size).toBe(1);
  });

  it("pauses a served agent that uses it as a tool, if the peer makes a long-running call", async () => {
    let approvalCount = 0;
    const approve = new LongRunningFunctionTool({
      name: "approve",
      description: "Asks a person.",
      parameters: z.object({ amount: z.number() }),
      execute: () => {
        approvalCount++;
        return undefined;
      },
    });
    const far = createScriptedLlmAgent(
      "far",
      ({ results: [result] }) =>
        result ? `Approval: ${JSON.stringify(result.response)}` : { call: "approve", args: { amount: 5 } },
      { tools: [approve], outputKey: "decision" },
    );
    const url = await serveAgentForTest(adkAgent(far, { sendState: ["decision"] }));
    const tool = new AgentTool({ agent: createTestRemoteAgent(url, { receiveState: ["decision"] }) });
    const near = createScriptedLlmAgent(
      "near",
      ({ results: [result] }) =>
        result
          ? `The tool says ${JSON.stringify(result.response)}`
          : { call: "remote", args: { request: "pay" } },
      { tools: [tool] },
    );
    const client = await connect(await serveAgentForTest(adkAgent(near, { sendState: ["decision"] })));
    const { task } = (await client.send("pay")) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const [call] = task.status.message?.parts ?? [];
    const { id, args } = (call as { data: { id: string; args: { toolConfirmation: { payload: object } } } })
      .data;
    expect(args.toolConfirmation.payload).toMatchObject({
      peerCalls: [{ name: "approve", args: { amount: 5 } }],
    });
    const answer: Part = { data: { id, response: { confirmed: true, payload: { granted: "yes" } } } };
    const done = ((await client.send([answer], { taskId: task.id })) as { task: Task }).task;
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    const text = done.artifacts?.map(({ parts }) => getText(parts)).at(-1);
    expect(text).toContain('Approval: {\\"granted\\":\\"yes\\"}');
    expect(approvalCount, "the peer's tool ran once").toBe(1);
    expect(done.metadata?.["adk_actions"]).toEqual({
      stateDelta: { decision: 'Approval: {"granted":"yes"}' },
    });
  });

  it("asks through a served agent, which returns the answer", async () => {
    const far = createAskingAgent("Which city?");
    const url = await startServerForTest(
      toA2a(createTransferringAgent(createTestRemoteAgent(await serveAgentForTest(far))), {
        store: "memory",
      }),
    );
    const client = await connect(url);
    const { task } = (await client.send("weather?")) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const question = task.status.message?.parts[0] as { data: { id: string; args: object } };
    expect(question.data.args).toEqual({ input_required: "Which city?" });
    const answer: Part = { data: { id: question.data.id, response: { result: "Warsaw" } } };
    const completed = (await client.send([answer], { taskId: task.id })) as { task: Task };
    expect(completed.task.artifacts?.map(({ parts }) => getText(parts)).at(-1)).toBe("Sunny in Warsaw.");
    expect(far.tasks.size).toBe(1);
  });
});

describe("an ADK peer with a pending call", () => {
  it("accepts other messages before its answer [R04]", async () => {
    const conversation = new TestAdkConversation(
      createTestRemoteAgent(await serveAgentForTest(createApprovalAgent())),
    );
    const ids = collectLongRunningCallIds(await conversation.sendUserMessage("approve"));
    expect(ids).toHaveLength(1);
    expect(listFinalEventTexts(await conversation.sendUserMessage("hello"))).toEqual([
      "remote: You said hello.",
    ]);
    expect(listFinalEventTexts(await conversation.sendUserMessage([createApproval(ids[0])]))).toEqual([
      "remote: It was approved.",
    ]);
  });

  it("receives its answer from another process [R04]", async () => {
    const url = await serveAgentForTest(createApprovalAgent());
    const directory = await mkdtemp(join(tmpdir(), "colloquy-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const path = join(directory, "sessions.db");
    const firstService = new SqliteSessionService(path);
    const question = await new TestAdkConversation(createTestRemoteAgent(url), {
      sessionService: firstService,
    }).sendUserMessage("approve");
    firstService.close();
    const secondService = new SqliteSessionService(path);
    const answered = await new TestAdkConversation(createTestRemoteAgent(url), {
      sessionService: secondService,
    }).sendUserMessage([createApproval(collectLongRunningCallIds(question)[0])]);
    secondService.close();
    expect(listFinalEventTexts(answered)).toEqual(["remote: It was approved."]);
  });

  it("receives its own answer when two peers have asked", async () => {
    const url = await serveAgentForTest(createApprovalAgent());
    const both = new ParallelAgent({
      name: "both",
      subAgents: [createTestRemoteAgent(url, { name: "one" }), createTestRemoteAgent(url, { name: "two" })],
    });
    // A resumable runner resumes only one of them.
    const conversation = new TestAdkConversation(both, { isResumable: false });
    const question = await conversation.sendUserMessage("approve");
    const ids = collectLongRunningCallIds(question);
    expect(ids).toHaveLength(2);
    const answered = listFinalEventTexts(await conversation.sendUserMessage(ids.map(createApproval)));
    expect(answered.filter((text) => /^(one|two): It was approved\.$/.test(text))).toHaveLength(2);
  });

  it("receives each answer in its task", async () => {
    const conversation = new TestAdkConversation(
      createTestRemoteAgent(await serveAgentForTest(createApprovalAgent())),
    );
    const first = collectLongRunningCallIds(await conversation.sendUserMessage("approve"));
    const second = collectLongRunningCallIds(await conversation.sendUserMessage("approve"));
    expect(
      listFinalEventTexts(await conversation.sendUserMessage([...second, ...first].map(createApproval))),
    ).toEqual(["remote: It was approved.", "remote: It was approved."]);
  });

  it.each([0, 1])("receives all answers eventually when sending one of them fails: %i", async (failing) => {
    let shutFor: string | undefined;
    const fetchOrFail: typeof fetch = async (input, init) => {
      if (shutFor !== undefined && JSON.stringify(init?.body)?.includes(shutFor))
        throw new TypeError("fetch failed");
      return fetch(input, init);
    };
    const conversation = new TestAdkConversation(
      createTestRemoteAgent(await serveAgentForTest(createApprovalAgent()), {
        connect: { fetch: fetchOrFail, retry: { maxRetries: 0 }, reconnect: { maxRetries: 0 } },
      }),
    );
    const ids = [
      ...collectLongRunningCallIds(await conversation.sendUserMessage("approve")),
      ...collectLongRunningCallIds(await conversation.sendUserMessage("approve")),
    ];
    shutFor = ids[failing];
    const first = await conversation.sendUserMessage(ids.map(createApproval));
    expect(first.map(({ errorCode }) => errorCode)).toContain("A2A_UNAVAILABLE");
    shutFor = undefined;
    const second = await conversation.sendUserMessage("hello?");
    const completed = listFinalEventTexts([...first, ...second]).filter(
      (text) => text === "remote: It was approved.",
    );
    expect(completed).toHaveLength(2);
  });

  it("does not receive rejected answers again", async () => {
    const url = await serveAgentForTest(createApprovalAgent());
    const conversation = new TestAdkConversation(createTestRemoteAgent(url));
    const question = await conversation.sendUserMessage("approve");
    const taskId = question.at(-1)?.customMetadata?.["a2a:task_id"] as string;
    await (await connect(url)).tasks.cancel(taskId);
    const refused = await conversation.sendUserMessage(
      collectLongRunningCallIds(question).map(createApproval),
    );
    expect(refused.at(-1)?.errorCode).toBe("A2A_UNSUPPORTED_OPERATION");
    expect(listFinalEventTexts(await conversation.sendUserMessage("hello"))).toEqual([
      "remote: You said hello.",
    ]);
  });
});
