import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentTool, type Event, LongRunningFunctionTool, ParallelAgent, Workflow } from "@google/adk";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { connect } from "../../client/index.ts";
import { type Agent, type Run } from "../../engine/index.ts";
import { type Part, type Task, textOf } from "../../protocol/index.ts";
import { adkAgent } from "../executor.ts";
import { SqliteSessionService } from "../sessions/sqlite.ts";
import { toA2a } from "../to-a2a.ts";
import { Conversation, kept, llm, open, peer, remote, serve } from "./conversation.fixture.ts";

/** Asks for what it needs in words, and tells which task it was asked in. */
function asking(
  question: string,
  state: "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED" = "TASK_STATE_INPUT_REQUIRED",
): Agent & { readonly tasks: Set<string> } {
  const tasks = new Set<string>();
  const agent = peer(async function* ({ message, task, taskId }: Run) {
    tasks.add(taskId);
    if (task.history?.length === 1) yield { status: { state, message: { parts: [{ text: question }] } } };
    else yield { artifact: { artifactId: "a", parts: [{ text: `Sunny in ${textOf(message.parts)}.` }] } };
  });
  return { ...agent, tasks };
}

/** An ADK agent that has a person approve. */
function clerk(): Agent {
  const approval = new LongRunningFunctionTool({
    name: "request_approval",
    description: "Asks",
    parameters: z.object({}),
    execute: () => ({ status: "pending" }),
  });
  return adkAgent(
    llm(
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

const handsOver = (agent: ReturnType<typeof remote>): ReturnType<typeof llm> =>
  llm("boss", [{ call: "transfer_to_agent", args: { agentName: "remote" } }], { subAgents: [agent] });

const waitingIn = (events: readonly Event[]): string[] => [
  ...new Set(events.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds)),
];
const approved = (id: string | undefined): object => ({
  functionResponse: { id, name: "request_approval", response: { status: "approved" } },
});

describe("a peer that asks in words", () => {
  it.each([
    ["as the root", (agent: ReturnType<typeof remote>) => agent],
    ["as a sub-agent", handsOver],
  ])("is answered in words, in the task that asked: %s [W24]", async (_, rootOf) => {
    const far = asking("Which city?");
    const conversation = new Conversation(rootOf(remote(await serve(far))));
    expect(waitingIn(await conversation.say("weather?"))).toHaveLength(1);
    expect(kept(await conversation.say("Warsaw"))).toEqual(["remote: Sunny in Warsaw."]);
    expect(far.tasks.size).toBe(1);
    // What is said after that is something else.
    await conversation.say("And tomorrow?");
    expect(far.tasks.size).toBe(2);
  });

  it("is a node of a workflow, which goes on with the answer", async () => {
    const far = asking("Which city?");
    function note(_: unknown, said: unknown): object {
      return { noted: said };
    }
    const flow = new Workflow({ name: "flow", edges: [["START", remote(await serve(far)), note]] });
    const conversation = new Conversation(flow);
    expect(waitingIn(await conversation.say("weather?"))).toHaveLength(1);
    expect((await conversation.say("Warsaw")).at(-1)?.output).toEqual({ noted: "Sunny in Warsaw." });
  });

  it("is answered in words also when it asks for authorization", async () => {
    const far = asking("Who are you?", "TASK_STATE_AUTH_REQUIRED");
    const conversation = new Conversation(remote(await serve(far)));
    const [id] = waitingIn(await conversation.say("weather?"));
    const response = { id, name: "mock_function_call_for_required_user_auth", response: { result: "Ada" } };
    expect(kept(await conversation.say([{ functionResponse: response }]))).toEqual(["remote: Sunny in Ada."]);
    expect(far.tasks.size).toBe(1);
  });

  it("is heard and answered by a model that uses it as a tool", async () => {
    const far = asking("Which city?");
    const tool = new AgentTool({ agent: remote(await serve(far)) });
    const user = llm(
      "user_of_tools",
      ({ text, results: [result] }) =>
        result ? JSON.stringify(result.response) : { call: "remote", args: { request: text } },
      { tools: [tool] },
    );
    const conversation = new Conversation(user, { streamingMode: "none" });
    expect(kept(await conversation.say("weather?")).join()).toContain("Which city?");
    expect(kept(await conversation.say("Warsaw")).join()).toContain("Sunny in Warsaw.");
    expect(far.tasks.size).toBe(1);
  });

  it("has its question passed on by an agent that is served itself, and the answer passed back", async () => {
    const far = asking("Which city?");
    const url = await open(toA2a(handsOver(remote(await serve(far))), { store: "memory" }));
    const client = await connect(url);
    const { task } = (await client.send("weather?")) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const asked = task.status.message?.parts[0] as { data: { id: string; args: object } };
    expect(asked.data.args).toEqual({ input_required: "Which city?" });
    const answer: Part = { data: { id: asked.data.id, response: { result: "Warsaw" } } };
    const done = (await client.send([answer], { taskId: task.id })) as { task: Task };
    expect(done.task.artifacts?.map(({ parts }) => textOf(parts)).at(-1)).toBe("Sunny in Warsaw.");
    expect(far.tasks.size).toBe(1);
  });
});

describe("a peer of ADK that waits for a call", () => {
  it("is talked to about something else meanwhile, and gets its answer after that [R04]", async () => {
    const conversation = new Conversation(remote(await serve(clerk())));
    const ids = waitingIn(await conversation.say("approve"));
    expect(ids).toHaveLength(1);
    expect(kept(await conversation.say("hello"))).toEqual(["remote: You said hello."]);
    expect(kept(await conversation.say([approved(ids[0])]))).toEqual(["remote: It was approved."]);
  });

  it("gets its answer also from another process [R04]", async () => {
    const url = await serve(clerk());
    const directory = await mkdtemp(join(tmpdir(), "colloquy-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    const path = join(directory, "sessions.db");
    const before = new SqliteSessionService(path);
    const asked = await new Conversation(remote(url), { sessionService: before }).say("approve");
    before.close();
    const after = new SqliteSessionService(path);
    const answered = await new Conversation(remote(url), { sessionService: after }).say([
      approved(waitingIn(asked)[0]),
    ]);
    after.close();
    expect(kept(answered)).toEqual(["remote: It was approved."]);
  });

  it("gets its own answer when two have asked", async () => {
    const url = await serve(clerk());
    const both = new ParallelAgent({
      name: "both",
      subAgents: [remote(url, { name: "one" }), remote(url, { name: "two" })],
    });
    // A runner that is resumable goes on with one of them only.
    const conversation = new Conversation(both, { isResumable: false });
    const asked = await conversation.say("approve");
    const ids = waitingIn(asked);
    expect(ids).toHaveLength(2);
    const answered = kept(await conversation.say(ids.map(approved)));
    expect(answered.filter((text) => /^(one|two): It was approved\.$/.test(text))).toHaveLength(2);
  });

  it("gets the answers to all that it has asked, each in its task", async () => {
    const conversation = new Conversation(remote(await serve(clerk())));
    const first = waitingIn(await conversation.say("approve"));
    const second = waitingIn(await conversation.say("approve"));
    expect(kept(await conversation.say([...second, ...first].map(approved)))).toEqual([
      "remote: It was approved.",
      "remote: It was approved.",
    ]);
  });

  it.each([0, 1])("gets all answers in the end when sending one of them fails: %i", async (failing) => {
    let shutFor: string | undefined;
    const fetchOrFail: typeof fetch = async (input, init) => {
      if (shutFor !== undefined && JSON.stringify(init?.body)?.includes(shutFor))
        throw new TypeError("fetch failed");
      return fetch(input, init);
    };
    const conversation = new Conversation(
      remote(await serve(clerk()), {
        connect: { fetch: fetchOrFail, retry: { tries: 0 }, reconnect: { tries: 0 } },
      }),
    );
    const ids = [
      ...waitingIn(await conversation.say("approve")),
      ...waitingIn(await conversation.say("approve")),
    ];
    shutFor = ids[failing];
    const first = await conversation.say(ids.map(approved));
    expect(first.map(({ errorCode }) => errorCode)).toContain("A2A_UNAVAILABLE");
    shutFor = undefined;
    const second = await conversation.say("hello?");
    const done = kept([...first, ...second]).filter((text) => text === "remote: It was approved.");
    expect(done).toHaveLength(2);
  });

  it("is not told for ever what its task does not take any more", async () => {
    const url = await serve(clerk());
    const conversation = new Conversation(remote(url));
    const asked = await conversation.say("approve");
    const taskId = asked.at(-1)?.customMetadata?.["a2a:task_id"] as string;
    await (await connect(url)).task.cancel(taskId);
    const refused = await conversation.say(waitingIn(asked).map(approved));
    expect(refused.at(-1)?.errorCode).toBe("A2A_UNSUPPORTED_OPERATION");
    expect(kept(await conversation.say("hello"))).toEqual(["remote: You said hello."]);
  });
});
