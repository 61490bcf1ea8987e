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
import { connect } from "../../client/index.ts";
import type { Run } from "../../engine/index.ts";
import { textOf } from "../../protocol/index.ts";
import { adkAgent } from "../executor.ts";
import type { AdkEvent } from "../types.ts";
import { Conversation, kept, llm, peer, remote, serve } from "./conversation.fixture.ts";

describe("a remote agent", () => {
  it("streams what its peer says and keeps the whole [R01, J14]", async () => {
    const url = await serve(adkAgent(llm("far", ({ text }) => `You said ${text}, I hear.`)));
    const events = await new Conversation(remote(url)).say("hello");
    const partials = events.filter(({ partial }) => partial);
    expect(partials.length).toBeGreaterThan(0);
    expect(partials.map(({ content }) => content?.parts?.[0]?.text).join("")).toBe("You said hello, I hear.");
    expect(kept(events)).toEqual(["remote: You said hello, I hear."]);
    expect(events.at(-1)?.turnComplete).toBe(true);
  });

  it("shows only what is kept to those who do not stream", async () => {
    const url = await serve(adkAgent(llm("far", ["one two three"])));
    const events = await new Conversation(remote(url), { streamingMode: "none" }).say("hello");
    expect(events.some(({ partial }) => partial)).toBe(false);
    expect(kept(events)).toEqual(["remote: one two three"]);
  });

  it("keeps one conversation for a session, and tells only what is new [R03]", async () => {
    const heard: string[] = [];
    const contexts = new Set<string>();
    const url = await serve(
      peer(async function* ({ message, contextId }: Run) {
        heard.push(textOf(message.parts));
        contexts.add(contextId);
        yield { artifact: { artifactId: "a", parts: [{ text: `answer ${heard.length}` }] } };
      }),
    );
    const conversation = new Conversation(remote(url));
    await conversation.say("one");
    expect(kept(await conversation.say("two"))).toEqual(["remote: answer 2"]);
    expect(heard).toEqual(["one", "two"]);
    expect(contexts.size).toBe(1);
  });

  it("waits for its user when its peer does, and the answer goes to the task that asked [R04, J18]", async () => {
    const approval = new LongRunningFunctionTool({
      name: "request_approval",
      description: "Asks",
      parameters: z.object({}),
      execute: () => ({ status: "pending" }),
    });
    const far = llm(
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
    const conversation = new Conversation(remote(await serve(adkAgent(far))));
    const asked = await conversation.say("approve");
    const waiting = asked.filter(({ longRunningToolIds }) => longRunningToolIds?.length);
    expect(waiting).toHaveLength(1);
    const [id] = waiting[0]?.longRunningToolIds ?? [];
    const response = { id, name: "request_approval", response: { status: "approved" } };
    const done = await conversation.say([{ functionResponse: response }]);

    expect(kept(done)).toEqual(["remote: It was approved."]);
    const taskId = (event: Event | undefined): unknown => event?.customMetadata?.["a2a:task_id"];
    expect(taskId(done.at(-1))).toBe(taskId(waiting[0]));
  });

  it("lets a peer that only asks in words be answered in words [W24]", async () => {
    const url = await serve(
      peer(async function* ({ message, task }: Run) {
        if (task.history?.length === 1) {
          const parts = [{ text: "Which city?" }];
          yield { status: { state: "TASK_STATE_INPUT_REQUIRED" as const, message: { parts } } };
        } else
          yield { artifact: { artifactId: "a", parts: [{ text: `Sunny in ${textOf(message.parts)}.` }] } };
      }),
    );
    const conversation = new Conversation(remote(url));
    const asked = (await conversation.say("weather?")).at(-1);
    const call = asked?.content?.parts?.[0]?.functionCall;
    expect(call).toMatchObject({
      name: "mock_function_call_for_required_user_input",
      args: { input_required: "Which city?" },
    });
    const response = { id: call?.id, name: call?.name, response: { result: "Warsaw" } };
    expect(kept(await conversation.say([{ functionResponse: response }]))).toEqual([
      "remote: Sunny in Warsaw.",
    ]);
  });

  it("does not wait behind a stream that stays open for authorization", async () => {
    const url = await serve(
      peer(async function* () {
        const parts = [{ text: "Sign in." }];
        yield { status: { state: "TASK_STATE_AUTH_REQUIRED" as const, message: { parts } } };
      }),
    );
    const events = await new Conversation(remote(url)).say("hello");
    expect(events.at(-1)?.content?.parts?.[0]?.functionCall?.args).toEqual({ auth_required: "Sign in." });
  });

  it("ends a loop when its peer escalates, and asks nothing when there is nothing to say [J13, R09]", async () => {
    let asked = 0;
    const url = await serve(
      peer(async function* () {
        asked++;
        yield { artifact: { artifactId: "a", parts: [{ text: `round ${asked}` }] } };
        yield { status: { state: "TASK_STATE_COMPLETED" as const }, metadata: { adk_escalate: asked === 2 } };
      }),
    );
    const nag = llm("nag", ["Again."]);
    const loop = new LoopAgent({ name: "loop", subAgents: [remote(url), nag], maxIterations: 5 });
    expect(kept(await new Conversation(loop).say("go"))).toEqual([
      "remote: round 1",
      "nag: Again.",
      "remote: round 2",
    ]);
    asked = 0;
    const alone = new LoopAgent({ name: "loop", subAgents: [remote(url)], maxIterations: 3 });
    expect(kept(await new Conversation(alone).say("go"))).toEqual(["remote: round 1"]);
    expect(asked).toBe(1);
  });

  it("can be a step of a sequence, a sub-agent and a tool", async () => {
    const url = await serve(adkAgent(llm("far", ({ text }) => `far heard ${text}`)));
    const sequence = new SequentialAgent({ name: "s", subAgents: [llm("near", ["near"]), remote(url)] });
    expect(kept(await new Conversation(sequence).say("go"))).toEqual([
      "near: near",
      "remote: far heard goFor context:[near] said: near",
    ]);

    const boss = llm(
      "boss",
      ({ turn }) => (turn === 0 ? { call: "transfer_to_agent", args: { agentName: "remote" } } : "no"),
      { subAgents: [remote(url)] },
    );
    expect(kept(await new Conversation(boss).say("go")).at(-1)).toMatch(/^remote: far heard/);

    const user = llm(
      "user_of_tools",
      ({ results }) =>
        results[0]
          ? `tool: ${JSON.stringify(results[0].response)}`
          : { call: "remote", args: { request: "hi" } },
      { tools: [new AgentTool({ agent: remote(url) })] },
    );
    expect(kept(await new Conversation(user).say("go")).at(-1)).toContain("far heard hi");
  });

  it("fails with an event when its peer fails, cannot be found or breaks off [J17, J21]", async () => {
    const url = await serve(
      peer(async function* () {
        yield { artifact: { artifactId: "a", parts: [{ text: "half" }] }, append: false };
        throw new Error("secret");
      }),
    );
    const failed = await new Conversation(remote(url)).say("go");
    expect(kept(failed)[0]).toBe("remote: half");
    expect(failed.at(-1)).toMatchObject({
      errorCode: "A2A_TASK_FAILED",
      turnComplete: true,
      author: "remote",
    });

    const nowhere = await new Conversation(
      remote("http://127.0.0.1:1", { connect: { retry: { tries: 0 } } }),
    ).say("go");
    expect(nowhere).toMatchObject([{ errorCode: "A2A_UNAVAILABLE", turnComplete: true, author: "remote" }]);
  });

  it("cancels the task of its peer when its run is aborted [J20]", async () => {
    let cancelled = (): void => {};
    const told = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const url = await serve(
      peer(async function* ({ signal }: Run) {
        yield { artifact: { artifactId: "a", parts: [{ text: "one" }] } };
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
        cancelled();
      }),
    );
    const abort = new AbortController();
    await new Conversation(remote(url)).say("go", abort, ({ partial }) => {
      if (partial) abort.abort();
    });
    await told;
    const { tasks } = await (await connect(url)).task.list();
    expect(tasks).toMatchObject([{ status: { state: "TASK_STATE_CANCELED" } }]);
  });

  it("gives up a peer that takes too long, and cancels its task", async () => {
    const url = await serve(
      peer(async function* ({ signal }: Run) {
        yield { artifact: { artifactId: "a", parts: [{ text: "one" }] } };
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      }),
    );
    const events = await new Conversation(remote(url, { timeoutMs: 200 })).say("go");
    expect(events.at(-1)?.errorMessage).toContain("has said nothing for 200 ms");
    expect(kept(events)).toEqual(["remote: one"]);
  });

  it("shows its user's credentials with each request", async () => {
    const principals: string[] = [];
    const url = await serve(
      peer(async function* ({ caller }: Run) {
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
    const agent = remote(url, { headers: ({ userId }) => ({ authorization: `Bearer ${userId}` }) });
    await new Conversation(agent).say("go");
    expect(principals).toEqual(["u"]);
  });

  it("lets its owner change what is asked and what is said", async () => {
    const url = await serve(adkAgent(llm("far", ({ text }) => `far heard ${text}`)));
    const changed = remote(url, {
      beforeRequest: (request) => ({ ...request, parts: [{ text: "other" }] }),
      onEvent: (event) => {
        if (event.partial) return null;
        const said = (event as AdkEvent).content?.parts?.[0]?.text;
        return said
          ? createEvent({ ...event, content: { role: "model", parts: [{ text: said.toUpperCase() }] } })
          : undefined;
      },
    });
    expect(kept(await new Conversation(changed).say("go"))).toEqual(["remote: FAR HEARD OTHER"]);

    const short = remote("http://127.0.0.1:1", {
      beforeRequest: () =>
        createEvent({ author: "remote", content: { role: "model", parts: [{ text: "cached" }] } }),
    });
    expect(kept(await new Conversation(short).say("go"))).toEqual(["remote: cached"]);
  });
});
