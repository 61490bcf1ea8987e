import {
  AgentTool,
  createEvent,
  type Event,
  LongRunningFunctionTool,
  LoopAgent,
  SequentialAgent,
} from "@google/adk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { connect } from "../../../client/index.ts";
import type { Run } from "../../../engine/index.ts";
import { getText } from "../../../protocol/index.ts";
import { adkAgent } from "../adk-agent.ts";
import type { AdkEvent } from "../adk-structural-types.ts";
import {
  TestAdkConversation,
  listFinalEventTexts,
  createScriptedLlmAgent,
  createTestPeerAgent,
  createTestRemoteAgent,
  serveAgentForTest,
} from "./test-adk-conversation.fixture.ts";

describe("a remote agent", () => {
  it("streams the chunks of its peer and stores the complete answer [R01, J14]", async () => {
    const url = await serveAgentForTest(
      adkAgent(createScriptedLlmAgent("far", ({ text }) => `You said ${text}, I hear.`)),
    );
    const events = await new TestAdkConversation(createTestRemoteAgent(url)).sendUserMessage("hello");
    const partials = events.filter(({ partial }) => partial);
    expect(partials.length).toBeGreaterThan(0);
    expect(partials.map(({ content }) => content?.parts?.[0]?.text).join("")).toBe("You said hello, I hear.");
    expect(listFinalEventTexts(events)).toEqual(["remote: You said hello, I hear."]);
    expect(events.at(-1)?.turnComplete).toBe(true);
  });

  it("yields only stored events without streaming", async () => {
    const url = await serveAgentForTest(adkAgent(createScriptedLlmAgent("far", ["one two three"])));
    const events = await new TestAdkConversation(createTestRemoteAgent(url), {
      streamingMode: "none",
    }).sendUserMessage("hello");
    expect(events.some(({ partial }) => partial)).toBe(false);
    expect(listFinalEventTexts(events)).toEqual(["remote: one two three"]);
  });

  it("keeps one conversation for a session, and sends only new messages [R03]", async () => {
    const received: string[] = [];
    const contexts = new Set<string>();
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* ({ message, contextId }: Run) {
        received.push(getText(message.parts));
        contexts.add(contextId);
        yield { artifact: { artifactId: "a", parts: [{ text: `answer ${received.length}` }] } };
      }),
    );
    const conversation = new TestAdkConversation(createTestRemoteAgent(url));
    await conversation.sendUserMessage("one");
    expect(listFinalEventTexts(await conversation.sendUserMessage("two"))).toEqual(["remote: answer 2"]);
    expect(received).toEqual(["one", "two"]);
    expect(contexts.size).toBe(1);
  });

  it("waits for its user like its peer, and sends the answer to the task that asked [R04, J18]", async () => {
    const approval = new LongRunningFunctionTool({
      name: "request_approval",
      description: "Asks",
      parameters: z.object({}),
      execute: () => ({ status: "pending" }),
    });
    const far = createScriptedLlmAgent(
      "far",
      ({ results }) => {
        const [result] = results;
        if (!result) return { call: "request_approval" };
        return result.response?.["status"] === "pending"
          ? "I wait."
          : `It was ${String(result.response?.["status"])}.`;
      },
      { tools: [approval] },
    );
    const conversation = new TestAdkConversation(
      createTestRemoteAgent(await serveAgentForTest(adkAgent(far))),
    );
    const question = await conversation.sendUserMessage("approve");
    const waiting = question.filter(({ longRunningToolIds }) => longRunningToolIds?.length);
    expect(waiting).toHaveLength(1);
    const [id] = waiting[0]?.longRunningToolIds ?? [];
    const response = { id, name: "request_approval", response: { status: "approved" } };
    const finalEvents = await conversation.sendUserMessage([{ functionResponse: response }]);

    expect(listFinalEventTexts(finalEvents)).toEqual(["remote: It was approved."]);
    const taskId = (event: Event | undefined): unknown => event?.customMetadata?.["a2a:task_id"];
    expect(taskId(finalEvents.at(-1))).toBe(taskId(waiting[0]));
  });

  it("lets the user answer a text question with text [W24]", async () => {
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* ({ message, task }: Run) {
        if (task.history?.length === 1) {
          const parts = [{ text: "Which city?" }];
          yield { status: { state: "TASK_STATE_INPUT_REQUIRED" as const, message: { parts } } };
        } else
          yield { artifact: { artifactId: "a", parts: [{ text: `Sunny in ${getText(message.parts)}.` }] } };
      }),
    );
    const conversation = new TestAdkConversation(createTestRemoteAgent(url));
    const question = (await conversation.sendUserMessage("weather?")).at(-1);
    const call = question?.content?.parts?.[0]?.functionCall;
    expect(call).toMatchObject({
      name: "mock_function_call_for_required_user_input",
      args: { input_required: "Which city?" },
    });
    const response = { id: call?.id, name: call?.name, response: { result: "Warsaw" } };
    expect(listFinalEventTexts(await conversation.sendUserMessage([{ functionResponse: response }]))).toEqual(
      ["remote: Sunny in Warsaw."],
    );
  });

  it("does not wait for a stream that stays open for authorization", async () => {
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* () {
        const parts = [{ text: "Sign in." }];
        yield { status: { state: "TASK_STATE_AUTH_REQUIRED" as const, message: { parts } } };
      }),
    );
    const events = await new TestAdkConversation(createTestRemoteAgent(url)).sendUserMessage("hello");
    expect(events.at(-1)?.content?.parts?.[0]?.functionCall?.args).toEqual({ auth_required: "Sign in." });
  });

  // Measured: ADK for Python 2.13.0, `to_a2a`, with an event that escalates without content.
  it("ends a loop in the first round when a peer of ADK for Python escalates", async () => {
    let roundCount = 0;
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* () {
        roundCount++;
        const metadata = { adk_author: "py", adk_actions: { escalate: true, stateDelta: {} } };
        yield { status: { state: "TASK_STATE_WORKING" as const, message: { parts: [], metadata } } };
      }),
    );
    const loop = new LoopAgent({ name: "loop", subAgents: [createTestRemoteAgent(url)], maxIterations: 3 });
    await new TestAdkConversation(loop).sendUserMessage("go");
    expect(roundCount).toBe(1);
  });

  it("ends a loop when its peer escalates, and sends no empty request [J13, R09]", async () => {
    let roundCount = 0;
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* () {
        roundCount++;
        yield { artifact: { artifactId: "a", parts: [{ text: `round ${roundCount}` }] } };
        yield {
          status: { state: "TASK_STATE_COMPLETED" as const },
          metadata: { adk_escalate: roundCount === 2 },
        };
      }),
    );
    const nag = createScriptedLlmAgent("nag", ["Again."]);
    const loop = new LoopAgent({
      name: "loop",
      subAgents: [createTestRemoteAgent(url), nag],
      maxIterations: 5,
    });
    expect(listFinalEventTexts(await new TestAdkConversation(loop).sendUserMessage("go"))).toEqual([
      "remote: round 1",
      "nag: Again.",
      "remote: round 2",
    ]);
    roundCount = 0;
    const alone = new LoopAgent({ name: "loop", subAgents: [createTestRemoteAgent(url)], maxIterations: 3 });
    expect(listFinalEventTexts(await new TestAdkConversation(alone).sendUserMessage("go"))).toEqual([
      "remote: round 1",
    ]);
    expect(roundCount).toBe(1);
  });

  it("can be a step of a sequence, a sub-agent, and a tool", async () => {
    const url = await serveAgentForTest(
      adkAgent(createScriptedLlmAgent("far", ({ text }) => `far heard ${text}`)),
    );
    const sequence = new SequentialAgent({
      name: "s",
      subAgents: [createScriptedLlmAgent("near", ["near"]), createTestRemoteAgent(url)],
    });
    expect(listFinalEventTexts(await new TestAdkConversation(sequence).sendUserMessage("go"))).toEqual([
      "near: near",
      "remote: far heard goFor context:[near] said: near",
    ]);

    const boss = createScriptedLlmAgent(
      "boss",
      ({ requestIndex: turn }) =>
        turn === 0 ? { call: "transfer_to_agent", args: { agentName: "remote" } } : "no",
      { subAgents: [createTestRemoteAgent(url)] },
    );
    expect(listFinalEventTexts(await new TestAdkConversation(boss).sendUserMessage("go")).at(-1)).toMatch(
      /^remote: far heard/,
    );

    const user = createScriptedLlmAgent(
      "user_of_tools",
      ({ results }) =>
        results[0]
          ? `tool: ${JSON.stringify(results[0].response)}`
          : { call: "remote", args: { request: "hi" } },
      { tools: [new AgentTool({ agent: createTestRemoteAgent(url) })] },
    );
    expect(listFinalEventTexts(await new TestAdkConversation(user).sendUserMessage("go")).at(-1)).toContain(
      "far heard hi",
    );
  });

  it("yields an error event when its peer fails, is unreachable, or disconnects [J17, J21]", async () => {
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* () {
        yield { artifact: { artifactId: "a", parts: [{ text: "half" }] }, append: false };
        throw new Error("secret");
      }),
    );
    const failed = await new TestAdkConversation(createTestRemoteAgent(url)).sendUserMessage("go");
    expect(listFinalEventTexts(failed)[0]).toBe("remote: half");
    expect(failed.at(-1)).toMatchObject({
      errorCode: "A2A_TASK_FAILED",
      turnComplete: true,
      author: "remote",
    });

    const nowhere = await new TestAdkConversation(
      createTestRemoteAgent("http://127.0.0.1:1", { connect: { retry: { maxRetries: 0 } } }),
    ).sendUserMessage("go");
    expect(nowhere).toMatchObject([{ errorCode: "A2A_UNAVAILABLE", turnComplete: true, author: "remote" }]);
  });

  it("cancels the task of its peer when its run is aborted [J20]", async () => {
    let onCanceled = (): void => {};
    const canceled = new Promise<void>((resolve) => {
      onCanceled = resolve;
    });
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* ({ signal }: Run) {
        yield { artifact: { artifactId: "a", parts: [{ text: "one" }] } };
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
        onCanceled();
      }),
    );
    const abort = new AbortController();
    await new TestAdkConversation(createTestRemoteAgent(url)).sendUserMessage("go", abort, ({ partial }) => {
      if (partial) abort.abort();
    });
    await canceled;
    const { tasks } = await (await connect(url)).tasks.list();
    expect(tasks).toMatchObject([{ status: { state: "TASK_STATE_CANCELED" } }]);
  });

  it("cancels the task of a peer that exceeds the idle timeout", async () => {
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* ({ signal }: Run) {
        yield { artifact: { artifactId: "a", parts: [{ text: "one" }] } };
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      }),
    );
    const events = await new TestAdkConversation(
      createTestRemoteAgent(url, { idleTimeoutMs: 200 }),
    ).sendUserMessage("go");
    expect(events.at(-1)?.errorMessage).toContain("sent no event for 200 ms");
    expect(listFinalEventTexts(events)).toEqual(["remote: one"]);
  });

  it("sends user credentials with each request", async () => {
    const principals: string[] = [];
    const url = await serveAgentForTest(
      createTestPeerAgent(async function* ({ caller }: Run) {
        principals.push(caller.principal);
        yield { artifact: { artifactId: "a", parts: [{ text: "ok" }] } };
      }),
      {
        authenticate: ({ header }) => {
          const [, principal] = /^Bearer (\w+)$/.exec(header("authorization") ?? "") ?? [];
          return principal ? { tenant: "", principal } : undefined;
        },
      },
    );
    const agent = createTestRemoteAgent(url, {
      headers: ({ userId }) => ({ authorization: `Bearer ${userId}` }),
    });
    await new TestAdkConversation(agent).sendUserMessage("go");
    expect(principals).toEqual(["u"]);
  });

  it("supports hooks for requests and events", async () => {
    const url = await serveAgentForTest(
      adkAgent(createScriptedLlmAgent("far", ({ text }) => `far heard ${text}`)),
    );
    const changed = createTestRemoteAgent(url, {
      beforeRequest: (request) => {
        // Without state for the peer, a request has no metadata.
        expect(request).not.toHaveProperty("metadata");
        return { ...request, parts: [{ text: "other" }] };
      },
      onEvent: (event) => {
        if (event.partial) return null;
        const said = (event as AdkEvent).content?.parts?.[0]?.text;
        return said
          ? createEvent({ ...event, content: { role: "model", parts: [{ text: said.toUpperCase() }] } })
          : undefined;
      },
    });
    expect(listFinalEventTexts(await new TestAdkConversation(changed).sendUserMessage("go"))).toEqual([
      "remote: FAR HEARD OTHER",
    ]);

    const short = createTestRemoteAgent("http://127.0.0.1:1", {
      beforeRequest: () =>
        createEvent({ author: "remote", content: { role: "model", parts: [{ text: "cached" }] } }),
    });
    expect(listFinalEventTexts(await new TestAdkConversation(short).sendUserMessage("go"))).toEqual([
      "remote: cached",
    ]);
  });
});
