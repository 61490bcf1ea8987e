import {
  App,
  AuthCredentialTypes,
  BaseAgent,
  BasePlugin,
  type Context,
  createEvent,
  EXIT_LOOP,
  type Event,
  FunctionTool,
  type GetSessionRequest,
  InMemoryRunner,
  InMemorySessionService,
  type InvocationContext,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  LoopAgent,
  node,
  ParallelAgent,
  RequestInput,
  SequentialAgent,
  type Session,
  setLogLevel,
  Workflow,
} from "@google/adk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "../../engine/index.ts";
import { type DataPart, type Part, getText } from "../../protocol/index.ts";
import { adkAgent } from "./adk-agent.ts";
import { type Script, ScriptedLlm } from "./models/index.ts";
import { getRunOfToolContext } from "./run-of-tool-context.ts";
import { TaskHarness } from "./task-harness.fixture.ts";

setLogLevel(LogLevel.ERROR);

const addTool = new FunctionTool({
  name: "add",
  description: "Adds two numbers",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

const requestApprovalTool = new LongRunningFunctionTool({
  name: "request_approval",
  description: "Asks a human",
  parameters: z.object({}),
  execute: () => ({ status: "pending" }),
});

function createLlmAgent(
  name: string,
  script: Script,
  more: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {},
): LlmAgent {
  return new LlmAgent({ name, model: new ScriptedLlm(script), ...more });
}

function createApprovalAgent(): LlmAgent {
  return createLlmAgent(
    "clerk",
    ({ results, text }) => {
      const [result] = results;
      if (result?.name === "add") return `The sum is ${String(result.response?.["sum"])}.`;
      if (result?.response?.["status"] === "pending") return "Waiting.";
      if (result) return `It was ${String(result.response?.["status"])}.`;
      return text === "approve"
        ? { call: "request_approval" }
        : ["Let me add.", { call: "add", args: { a: 2, b: 3 } }];
    },
    { description: "Adds.", tools: [addTool, requestApprovalTool] },
  );
}

/** Returns the texts of the task's artifacts that contain text. */
function listArtifactTexts(task: TaskHarness): string[] {
  return (task.task.artifacts ?? []).map(({ parts }) => getText(parts)).filter(Boolean);
}

function getPendingCall(task: TaskHarness): DataPart & { data: { id: string; name: string } } {
  return task.task.status.message?.parts[0] as DataPart & { data: { id: string; name: string } };
}

function buildCallResponse(
  { data: { id, name } }: ReturnType<typeof getPendingCall>,
  response: DataPart["data"],
): Part {
  return { data: { id, name, response }, metadata: { adk_type: "function_response" } };
}

describe("an ADK agent", () => {
  it("streams its text once, calls its tools, and completes", async () => {
    const task = new TaskHarness(adkAgent(createApprovalAgent()));
    const turn = await task.send("What is 2 + 3?");
    expect(turn.states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(listArtifactTexts(task)).toEqual(["Let me add.", "The sum is 5."]);
    expect(getText(turn.chunkParts)).toBe("Let me add.The sum is 5.");
    expect(JSON.stringify(task.task.artifacts)).toContain('"response":{"sum":5}');
  });

  it("waits for its user with a long-running tool, and continues with the response alone [V17, V44, J7]", async () => {
    const task = new TaskHarness(adkAgent(createApprovalAgent()));
    const waitingTurn = await task.send("approve");
    expect(waitingTurn.states.at(-1)).toBe("TASK_STATE_INPUT_REQUIRED");
    const call = getPendingCall(task);
    expect(call.metadata).toEqual({ adk_type: "function_call", adk_is_long_running: true });
    expect(task.task.status.message?.parts[1]).toMatchObject({ data: { response: { status: "pending" } } });
    expect(JSON.stringify(task.task.artifacts)).not.toContain("request_approval");

    const otherTurn = await task.send([{ data: "go on then" }]);
    expect(otherTurn.states).toEqual(["TASK_STATE_INPUT_REQUIRED"]);
    expect(getText(task.task.status.message?.parts ?? [])).toMatch(/^no input provided for function call ID/);

    const finalTurn = await task.send([buildCallResponse(call, { status: "approved" })]);
    expect(finalTurn.states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(getText(finalTurn.chunkParts)).toBe("It was approved.");
  });

  it("passes the response to the sub-agent that asked", async () => {
    const root = createLlmAgent(
      "boss",
      ({ requestIndex: turn }) =>
        turn === 0 ? { call: "transfer_to_agent", args: { agentName: "clerk" } } : "No.",
      {
        subAgents: [createApprovalAgent()],
      },
    );
    const task = new TaskHarness(adkAgent(root));
    await task.send("approve");
    expect(task.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(task.task.metadata?.["adk_transfer_to_agent"]).toBe("clerk");
    const finalTurn = await task.send([buildCallResponse(getPendingCall(task), { status: "approved" })]);
    expect(getText(finalTurn.chunkParts)).toBe("It was approved.");
  });

  it("confirms a tool only where its owner allows it [J11]", async () => {
    let paid = 0;
    const pay = new FunctionTool({
      name: "pay",
      description: "Pays",
      parameters: z.object({}),
      requireConfirmation: true,
      execute: () => ({ paid: ++paid }),
    });
    const script: Script = ({ results }) =>
      results.some(({ response }) => response?.["paid"]) ? "Paid." : { call: "pay" };
    for (const allowed of [false, true]) {
      const agent = adkAgent(createLlmAgent("payer", script, { tools: [pay] }), {
        runConfig: { allowRemoteToolConfirmation: allowed },
      });
      const task = new TaskHarness(agent);
      await task.send("pay!");
      const call = getPendingCall(task);
      expect(call.data.name).toBe("adk_request_confirmation");
      const turn = await task.send([buildCallResponse(call, { confirmed: true })]);
      expect([paid, turn.states.at(-1)]).toEqual(
        allowed ? [1, "TASK_STATE_COMPLETED"] : [0, "TASK_STATE_INPUT_REQUIRED"],
      );
    }
  });

  it("gives tools their own run, also for a shared session object, until the run ends", async () => {
    class SharingSessionService extends InMemorySessionService {
      readonly #sessions = new Map<string, Session | undefined>();

      override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
        const { sessionId } = request;
        if (!this.#sessions.get(sessionId)) this.#sessions.set(sessionId, await super.getSession(request));
        return this.#sessions.get(sessionId);
      }
    }
    const contexts: Context[] = [];
    const signals: AbortSignal[] = [];
    const look = new FunctionTool({
      name: "look",
      description: "Looks",
      execute: (_args: unknown, context?: Context) => {
        contexts.push(context as Context);
        signals.push(getRunOfToolContext(context as Context).signal);
        return {};
      },
    });
    const script: Script = ({ results }) => (results.length > 0 ? "Done." : { call: "look" });
    const sessionService = new SharingSessionService();
    const agent = adkAgent(createLlmAgent("looker", script, { tools: [look] }), { sessionService });
    const sent: AbortSignal[] = [];
    for (const text of ["one", "two"]) {
      const { signal } = new AbortController();
      sent.push(signal);
      await new TaskHarness(agent).send(text, { signal });
    }
    expect(signals.map((signal) => sent.indexOf(signal))).toEqual([0, 1]);
    for (const context of contexts)
      expect(() => getRunOfToolContext(context)).toThrow("The run of this tool has ended.");
  });

  it("runs in a sequence, in parallel, and in a loop", async () => {
    const say = (name: string): LlmAgent => createLlmAgent(name, [`${name} one two`]);
    const sequence = new TaskHarness(
      adkAgent(new SequentialAgent({ name: "s", subAgents: [say("a"), say("b")] })),
    );
    await sequence.send("go");
    expect(listArtifactTexts(sequence)).toEqual(["a one two", "b one two"]);

    const parallel = new TaskHarness(
      adkAgent(new ParallelAgent({ name: "p", subAgents: [say("a"), say("b"), say("c")] })),
    );
    await parallel.send("go");
    expect(listArtifactTexts(parallel).toSorted()).toEqual(["a one two", "b one two", "c one two"]);
    expect(parallel.task.artifacts?.map(({ metadata }) => metadata?.["adk_branch"])).toEqual([
      "p.a",
      "p.b",
      "p.c",
    ]);

    const body = createLlmAgent(
      "w",
      ({ requestIndex: turn }) => (turn < 2 ? `round ${turn}` : { call: "exit_loop" }),
      {
        tools: [EXIT_LOOP],
      },
    );
    const loop = new TaskHarness(adkAgent(new LoopAgent({ name: "l", subAgents: [body], maxIterations: 9 })));
    await loop.send("go");
    expect(listArtifactTexts(loop)).toEqual(["round 0", "round 1"]);
    expect(loop.task.metadata?.["adk_escalate"]).toBe(true);
    expect(loop.task.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("can be a workflow, whose answers are emitted once", async () => {
    const count = (): object => ({ words: 3 });
    const workflow = new Workflow({
      name: "flow",
      edges: [["START", createLlmAgent("step", ["one two three"]), count]],
    });
    const task = new TaskHarness(adkAgent(workflow));
    const turn = await task.send("go");
    expect(task.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(listArtifactTexts(task)).toEqual(["one two three", '{"words":3}']);
    expect(getText(turn.chunkParts)).toBe('one two three{"words":3}');
  });

  it("can be a workflow that asks its user once and continues with the response", async () => {
    const ask = node(
      async function* () {
        yield new RequestInput({ interruptId: "size", message: "Which size?" });
      },
      { name: "ask", rerunOnResume: false },
    );
    const bake = (size: unknown): string => `A ${JSON.stringify(size)} cake.`;
    const task = new TaskHarness(adkAgent(new Workflow({ name: "bakery", edges: [["START", ask, bake]] })));
    const waitingTurn = await task.send("cake");
    expect(waitingTurn.states.at(-1)).toBe("TASK_STATE_INPUT_REQUIRED");
    const call = getPendingCall(task);
    expect(call.data.name).toBe("adk_request_input");
    expect(task.task.status.message?.parts).toHaveLength(1);
    expect(task.task.artifacts ?? []).toEqual([]);
    const finalTurn = await task.send([buildCallResponse(call, { result: "large" })]);
    expect(finalTurn.states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(getText(finalTurn.chunkParts)).toContain("large");
  });

  it("can be a runner, an app, or a function that returns one", async () => {
    const runner = new InMemoryRunner({ agent: createApprovalAgent(), appName: "office" });
    const app = new App({ name: "office", rootAgent: createApprovalAgent() });
    let createdCount = 0;
    const maker = (): LlmAgent => {
      createdCount++;
      return createApprovalAgent();
    };
    for (const [source, appName] of [
      [runner, "office"],
      [app, "office"],
      [maker, "clerk"],
    ] as const) {
      const agent = adkAgent(source);
      for (const contextId of ["C1", "C2"]) {
        const task = new TaskHarness(agent, { contextId });
        await task.send("go");
        expect(listArtifactTexts(task)).toEqual(["Let me add.", "The sum is 5."]);
        expect(task.task.metadata?.["adk_app_name"]).toBe(appName);
      }
    }
    expect(createdCount).toBe(1);
  });

  it("runs 100 concurrent tasks with separate artifacts [J1]", async () => {
    const agent = adkAgent(createLlmAgent("a", ({ text }) => `${text} and so on for a while`));
    const tasks = Array.from({ length: 100 }, (_, n) => new TaskHarness(agent, { contextId: `C${n}` }));
    const turns = await Promise.all(tasks.map((task, n) => task.send(`task-${n}`)));
    const ids = new Set<string>();
    for (const [n, task] of tasks.entries()) {
      expect(listArtifactTexts(task)).toEqual([`task-${n} and so on for a while`]);
      expect(getText(turns[n]?.chunkParts ?? [])).toBe(`task-${n} and so on for a while`);
      ids.add(task.task.artifacts?.[0]?.artifactId ?? "");
    }
    expect(ids.size).toBe(100);
  });

  it("remembers a conversation only for its caller", async () => {
    const agent = adkAgent(createLlmAgent("a", ({ request }) => String(request.contents.length)));
    const alice = { tenant: "", principal: "alice" };
    const callers = [alice, alice, { tenant: "acme", principal: "alice" }, { tenant: "", principal: "bob" }];
    const lengths: string[] = [];
    for (const caller of callers) {
      const task = new TaskHarness(agent, { caller });
      await task.send("hi");
      lengths.push(...listArtifactTexts(task));
    }
    expect(lengths).toEqual(["1", "3", "1", "1"]);
  });

  it("creates one session when two tasks start a conversation concurrently", async () => {
    const agent = adkAgent(createLlmAgent("a", ["ok"]));
    const tasks = [new TaskHarness(agent), new TaskHarness(agent)];
    await Promise.all(tasks.map((task) => task.send("hi")));
    const third = new TaskHarness(adkAgent(() => createLlmAgent("a", ["ok"])));
    await third.send("hi");
    expect(tasks.map((task) => task.task.status.state)).toEqual([
      "TASK_STATE_COMPLETED",
      "TASK_STATE_COMPLETED",
    ]);
  });

  it("receives the metadata of a request", async () => {
    const sessionService = new InMemorySessionService();
    const task = new TaskHarness(adkAgent(createLlmAgent("a", ["ok"]), { sessionService }));
    await task.send("hi", { metadata: { locale: "pl" } });
    const session = await sessionService.getSession({ appName: "a", userId: "A2A_USER_C", sessionId: "C" });
    expect(session?.events[0]?.customMetadata).toEqual({ a2a_metadata: { locale: "pl" } });
  });

  it("runs its own plugins and the plugins of its app", async () => {
    class UppercasePlugin extends BasePlugin {
      override async onEventCallback({ event }: { event: Event }): Promise<Event | undefined> {
        const parts = event.content?.parts?.map((part) => ({
          ...part,
          text: part.text?.toUpperCase() ?? "",
        }));
        return parts ? { ...event, content: { role: "model", parts } } : undefined;
      }
    }
    const rootAgent = createLlmAgent("a", ["hello there"]);
    const plugins = [new UppercasePlugin("shout")];
    for (const agent of [
      adkAgent(rootAgent, { plugins }),
      adkAgent(new App({ name: "app", rootAgent, plugins })),
    ]) {
      const task = new TaskHarness(agent);
      const turn = await task.send("hi");
      expect(listArtifactTexts(task)).toEqual(["HELLO THERE"]);
      expect(getText(turn.chunkParts)).toBe("HELLO THERE");
    }
  });

  it("waits for a credential that a tool requests, and continues with it [V18]", async () => {
    const tool = new FunctionTool({
      name: "fetch_mail",
      description: "Fetches mail",
      parameters: z.object({}),
      execute: (_, context) => {
        const authScheme = { type: "apiKey", in: "header", name: "x-key" } as const;
        const config = { authScheme, credentialKey: "mail" };
        const credential = context?.getAuthResponse(config);
        if (credential) return { mails: 2, with: credential.apiKey };
        const rawAuthCredential = { authType: AuthCredentialTypes.API_KEY, apiKey: "SECRET" };
        context?.requestCredential({ ...config, rawAuthCredential });
        return { pending: true };
      },
    });
    const script: Script = ({ results }) => {
      const [result] = results;
      if (!result) return { call: "fetch_mail" };
      const { mails, with: key } = (result.response ?? {}) as { mails?: number; with?: string };
      return mails ? `${mails} mails with ${key}.` : "I need a key.";
    };
    const task = new TaskHarness(adkAgent(createLlmAgent("a", script, { tools: [tool] })));
    const waitingTurn = await task.send("mail?");
    expect(waitingTurn.states.at(-1)).toBe("TASK_STATE_AUTH_REQUIRED");
    expect(JSON.stringify(task.task)).not.toContain("SECRET");
    const call = getPendingCall(task);
    expect(call.data.name).toBe("adk_request_credential");
    const exchangedAuthCredential = { authType: "apiKey", apiKey: "mine" };
    const turn = await task.send([buildCallResponse(call, { exchangedAuthCredential })]);
    expect(turn.states.at(-1)).toBe("TASK_STATE_COMPLETED");
    expect(getText(turn.chunkParts)).toBe("2 mails with mine.");
  });
});

describe("an ADK agent with hooks", () => {
  const rejected = {
    status: { state: "TASK_STATE_REJECTED" as const, message: { parts: [{ text: "no" }] } },
  };

  it("may reject a message before the run [V20]", async () => {
    const model = new ScriptedLlm(["never"]);
    const agent = adkAgent(new LlmAgent({ name: "a", model }), {
      beforeRun: (_, { message }) => (getText(message.parts) === "forbidden" ? rejected : undefined),
    });
    const task = new TaskHarness(agent);
    expect((await task.send("forbidden")).states).toEqual(["TASK_STATE_REJECTED"]);
    expect(getText(task.task.status.message?.parts ?? [])).toBe("no");
    const other = new TaskHarness(agent);
    await other.send("allowed");
    expect(listArtifactTexts(other)).toEqual(["never"]);
  });

  it("may change the request and its session", async () => {
    const sessionService = new InMemorySessionService();
    const agent = adkAgent(createLlmAgent("a", ["ok"]), {
      sessionService,
      beforeRun: (request) => ({ ...request, userId: "u", customMetadata: { from: "hook" } }),
    });
    const task = new TaskHarness(agent);
    await task.send("hi");
    expect(task.task.metadata).toMatchObject({ adk_user_id: "u", adk_session_id: "C" });
    const session = await sessionService.getSession({ appName: "a", userId: "u", sessionId: "C" });
    expect(session?.events[0]?.customMetadata).toEqual({ from: "hook" });
  });

  it("may change, drop, and add events, and change the final status [V46]", async () => {
    const authors: unknown[] = [];
    const agent = adkAgent(createLlmAgent("a", ["one two three"]), {
      onEvent: (event, source) => {
        if (!("artifact" in event)) return null;
        authors.push(source?.author);
        const parts = event.artifact.parts.map((part) =>
          "text" in part ? { ...part, text: part.text.toUpperCase() } : part,
        );
        const progress = {
          status: { state: "TASK_STATE_WORKING" as const, message: { parts: [{ text: "…" }] } },
        };
        return event.lastChunk
          ? [{ ...event, artifact: { ...event.artifact, parts } }, progress]
          : { ...event, artifact: { ...event.artifact, parts } };
      },
      afterRun: async ({ status }) => ({ status: { ...status, message: { parts: [{ text: "bye" }] } } }),
    });
    const task = new TaskHarness(agent);
    const turn = await task.send("hi");
    expect(listArtifactTexts(task)).toEqual(["ONE TWO THREE"]);
    const chunk = turn.events.find((event) => "artifact" in event && !event.lastChunk);
    expect(chunk).toMatchObject({
      artifact: { parts: [{ text: expect.stringContaining("ONE") as unknown }] },
    });
    expect(turn.states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(getText(task.task.status.message?.parts ?? [])).toBe("bye");
    expect(new Set(authors)).toEqual(new Set(["a"]));
  });

  it("opens a session once, and retries when another process created the rows of its app or user", async () => {
    let opened = 0;
    let refusals = 2;
    class ContendedSessionService extends InMemorySessionService {
      async init(): Promise<void> {
        opened++;
      }
      override async createSession(
        ...args: Parameters<InMemorySessionService["createSession"]>
      ): ReturnType<InMemorySessionService["createSession"]> {
        if (refusals-- > 0) throw new Error("duplicate key");
        return super.createSession(...args);
      }
    }
    const agent = adkAgent(createApprovalAgent(), { sessionService: new ContendedSessionService() });
    const turns = await Promise.all(
      ["A", "B"].map((contextId) => new TaskHarness(agent, { contextId }).send("hi")),
    );
    expect(turns.map(({ states }) => states.at(-1))).toEqual([
      "TASK_STATE_COMPLETED",
      "TASK_STATE_COMPLETED",
    ]);
    expect(opened).toBe(1);
  });

  it("may change the final status of a run that could not start [V46]", async () => {
    class FailingSessionService extends InMemorySessionService {
      override createSession(): never {
        throw new Error("session creation failed");
      }
    }
    const agent = adkAgent(createApprovalAgent(), {
      sessionService: new FailingSessionService(),
      afterRun: ({ status }) => ({ status: { ...status, message: { parts: [{ text: "sorry" }] } } }),
    });
    const task = new TaskHarness(agent);
    const turn = await task.send("hi");
    expect(turn.states).toEqual(["TASK_STATE_FAILED"]);
    expect(getText(task.task.status.message?.parts ?? [])).toBe("sorry");
  });

  it.each([
    ["before the run", { beforeRun: () => Promise.reject(new Error("abort execution")) }],
    [
      "at an event",
      {
        onEvent: (event: AgentEvent) => {
          if ("artifact" in event) throw new Error("abort execution");
          return undefined;
        },
      },
    ],
    ["after the run", { afterRun: () => Promise.reject(new Error("abort execution")) }],
  ])("fails its task when a hook throws %s, and drops the current event [V46]", async (when, hooks) => {
    const task = new TaskHarness(adkAgent(createLlmAgent("a", ["ok"]), { ...hooks, exposeErrors: true }));
    const { thrownError: thrown } = await task.send("hi");
    expect(task.task.status.state).toBe("TASK_STATE_FAILED");
    expect(getText(task.task.status.message?.parts ?? [])).toBe("processor failed: abort execution");
    expect(listArtifactTexts(task)).toEqual(when === "after the run" ? ["ok"] : []);
    expect(String(thrown)).toContain("abort execution");
  });

  it("calls afterRun once, with the failure, when onEvent throws", async () => {
    const statuses: string[] = [];
    const agent = adkAgent(createLlmAgent("a", ["ok"]), {
      onEvent: () => {
        throw new Error("no");
      },
      afterRun: ({ status }) => {
        statuses.push(status.state);
        return { status: { ...status, message: { parts: [{ text: "sorry" }] } } };
      },
    });
    const task = new TaskHarness(agent);
    const { thrownError } = await task.send("hi");
    expect(statuses).toEqual(["TASK_STATE_FAILED"]);
    expect(getText(task.task.status.message?.parts ?? [])).toBe("sorry");
    expect(String(thrownError)).toContain("no");
  });

  it("ends immediately when it is canceled, even if its run ignores the signal", async () => {
    const abort = new AbortController();
    const model = new ScriptedLlm(["one two three four"], { delayMs: 5 });
    const agent = adkAgent(new LlmAgent({ name: "a", model }), { onEvent: () => undefined });
    const turn = await new TaskHarness(agent).send("hi", {
      signal: abort.signal,
      onEvent: (event) => {
        if ("artifact" in event) abort.abort();
      },
    });
    expect(turn.states).toEqual(["TASK_STATE_WORKING"]);
  });
});

describe("the input and output of an ADK agent", () => {
  it("passes through custom converters", async () => {
    const agent = adkAgent(
      createLlmAgent("a", ({ text }) => `you said ${text}`),
      {
        toGenaiPart: (part) => ("text" in part ? { text: part.text.toUpperCase() } : undefined),
        toA2aPart: (part) =>
          part.text === undefined ? undefined : { text: part.text.replace("you", "You") },
      },
    );
    const task = new TaskHarness(agent);
    await task.send([{ text: "hi" }, { data: { dropped: true } }]);
    expect(listArtifactTexts(task)).toEqual(["You said HI"]);
  });

  it("can be one artifact for each run", async () => {
    const task = new TaskHarness(adkAgent(createApprovalAgent(), { artifacts: "per-run" }));
    const turn = await task.send("What is 2 + 3?");
    expect(task.task.artifacts).toHaveLength(1);
    expect(listArtifactTexts(task)).toEqual(["Let me add.The sum is 5."]);
    expect(getText(turn.chunkParts)).toBe("Let me add.The sum is 5.");
  });
});

describe("an ADK agent that fails", () => {
  it("returns an error id, and throws the error for the server's observer", async () => {
    const task = new TaskHarness(
      adkAgent(createLlmAgent("a", [["half of it", { error: "no credit", code: "402" }]])),
    );
    const { thrownError: thrown } = await task.send("hi");
    expect(task.task.status.state).toBe("TASK_STATE_FAILED");
    const match = /^The agent failed\. The server's log has the cause under error id (\w{8})\.$/.exec(
      getText(task.task.status.message?.parts ?? []),
    );
    expect(String(thrown)).toBe(
      `Error: llm error response (code 402): "no credit" (error_id: ${match?.[1]})`,
    );
    expect(task.task.metadata?.["adk_error_code"]).toBe("402");
    expect(listArtifactTexts(task)).toEqual(["half of it"]);
    expect(task.task.artifacts?.[0]?.metadata?.["adk_partial"]).toBe(true);
  });

  it("fails the task when its session cannot be created [V45, J22]", async () => {
    class Broken extends InMemorySessionService {
      override createSession(): never {
        throw new Error("session creation failed");
      }
    }
    const task = new TaskHarness(
      adkAgent(createApprovalAgent(), { sessionService: new Broken(), exposeErrors: true }),
    );
    const turn = await task.send("hi");
    expect(turn.states).toEqual(["TASK_STATE_FAILED"]);
    expect(getText(task.task.status.message?.parts ?? [])).toBe(
      "failed to create a session: session creation failed",
    );
  });

  it("throws the error that prevents its creation", async () => {
    const agent = adkAgent(() => Promise.reject(new Error("no such file")));
    await expect(new TaskHarness(agent).send("hi")).rejects.toThrow("no such file");
  });

  it("reports the error that its run threw [V40]", async () => {
    class ThrowingAgent extends BaseAgent {
      // oxlint-disable-next-line require-yield
      protected override async *runAsyncImpl(): AsyncGenerator<Event, void, void> {
        throw new Error("OOF");
      }
      protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
    }
    const task = new TaskHarness(adkAgent(new ThrowingAgent({ name: "t" }), { exposeErrors: true }));
    await task.send("hi");
    expect(getText(task.task.status.message?.parts ?? [])).toBe("agent run failed: OOF");
  });
});

describe("an ADK agent that is canceled", () => {
  /** An agent that ignores the abort signal and waits for the test. */
  class AbortIgnoringAgent extends BaseAgent {
    readonly pieces: string[];
    receivedSignal: AbortSignal | undefined;
    release: () => void = () => {};

    constructor(...pieces: string[]) {
      super({ name: "deaf" });
      this.pieces = pieces;
    }

    protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
      this.receivedSignal = context.abortSignal;
      for (const text of this.pieces) {
        yield createEvent({
          invocationId: context.invocationId,
          author: "deaf",
          partial: true,
          content: { role: "model", parts: [{ text }] },
        });
      }
      await new Promise<void>((resolve) => {
        this.release = resolve;
      });
    }

    protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
  }

  it("ends immediately even if it ignores the signal, and keeps its output [J6, J29]", async () => {
    const deaf = new AbortIgnoringAgent("one ", "two ");
    const abort = new AbortController();
    const task = new TaskHarness(adkAgent(deaf));
    const turn = await task.send("hi", {
      signal: abort.signal,
      onEvent: (event: AgentEvent) => {
        if ("artifact" in event) abort.abort();
      },
    });
    expect(deaf.receivedSignal?.aborted).toBe(true);
    expect(turn.states).toEqual(["TASK_STATE_WORKING"]);
    expect(turn.events.at(-1)).toMatchObject({ lastChunk: true });
    expect(listArtifactTexts(task)).toEqual(["one two "]);
    deaf.release();
  });

  it("stops its model", async () => {
    const abort = new AbortController();
    const model = new ScriptedLlm(["one two three four"], { delayMs: 5 });
    const task = new TaskHarness(adkAgent(new LlmAgent({ name: "a", model })));
    const turn = await task.send("hi", {
      signal: abort.signal,
      onEvent: (event) => {
        if ("artifact" in event) abort.abort();
      },
    });
    expect(turn.states).toEqual(["TASK_STATE_WORKING"]);
    expect(getText(turn.chunkParts)).not.toContain("four");
  });

  it("does not run when it is canceled before it starts", async () => {
    const abort = new AbortController();
    abort.abort();
    const turn = await new TaskHarness(adkAgent(createApprovalAgent())).send("hi", { signal: abort.signal });
    expect(turn.events).toEqual([]);
  });

  it("ends while its session is still being opened", async () => {
    const abort = new AbortController();
    class HangingSessionService extends InMemorySessionService {
      override getSession(): Promise<never> {
        abort.abort();
        return new Promise(() => {});
      }
    }
    const agent = adkAgent(createApprovalAgent(), { sessionService: new HangingSessionService() });
    expect((await new TaskHarness(agent).send("hi", { signal: abort.signal })).events).toEqual([]);
  });

  it("emits its text without waiting for more", async () => {
    const deaf = new AbortIgnoringAgent("Fetching page 1…");
    const abort = new AbortController();
    const task = new TaskHarness(adkAgent(deaf));
    const turn = await task.send("hi", {
      signal: abort.signal,
      onEvent: (event) => {
        // No more events follow, so only the idle flush can have emitted this one.
        if ("artifact" in event && !event.lastChunk) abort.abort();
      },
    });
    expect(turn.chunkParts).toEqual([{ text: "Fetching page 1…" }]);
    expect(turn.events.at(-1)).toMatchObject({
      artifact: { parts: [{ text: "Fetching page 1…" }] },
      lastChunk: true,
    });
    deaf.release();
  });
});
