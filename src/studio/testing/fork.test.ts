import { FunctionTool, LlmAgent } from "@google/adk";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { agent, chunk, inputRequired, status } from "../../agents/adapters/index.ts";
import { adkAgent } from "../../agents/adk/index.ts";
import { ScriptedLlm } from "../../agents/adk/models/index.ts";
import { getText, type Message, type StreamResponse } from "../../protocol/index.ts";
import { type Conversation, converse, type PrefixMessage, toStableSnapshot } from "./index.ts";

const listTexts = (messages: readonly Message[]): string[] => messages.map(({ parts }) => getText(parts));

/** Asks with the texts of all earlier messages. */
const historian = agent(
  { name: "historian", description: "Repeats the history" },
  async function* ({ history }) {
    yield inputRequired(listTexts(history).join("|"));
  },
);

const prefix: PrefixMessage[] = [
  { role: "ROLE_USER", parts: [{ text: "Book a table" }] },
  { role: "ROLE_AGENT", parts: [{ text: "For how many?" }] },
];

/** An ADK agent that answers with the contents that its model receives. */
function createEchoAgent(): LlmAgent {
  const model = new ScriptedLlm(({ request }) =>
    request.contents.map(({ role, parts }) => `${role}: ${parts?.[0]?.text}`).join("|"),
  );
  return new LlmAgent({ name: "echo", description: "Repeats its session", model });
}

async function start(...options: Parameters<typeof converse>): Promise<Conversation> {
  const chat = await converse(...options);
  onTestFinished(() => chat.close());
  return chat;
}

describe("a conversation with a prefix", () => {
  it("continues the task of the prefix, whose messages the agent reads", async () => {
    const chat = await start(historian, { prefix });
    expect((await chat.send("Four")).question).toBe("Book a table|For how many?|Four");
    expect(chat.turns).toHaveLength(2);
  });

  it("is refused if the agent does not have the last word, and behind a URL", async () => {
    await expect(converse(historian, { prefix: prefix.slice(0, 1) })).rejects.toThrow(/ends with a message/);
    await expect(converse("http://127.0.0.1:1", { prefix })).rejects.toThrow(/accepts no prefix/);
  });

  it("is the session of an ADK agent", async () => {
    const chat = await start(adkAgent(createEchoAgent()), { prefix });
    expect((await chat.send("Four")).text).toBe("user: Book a table|model: For how many?|user: Four");
  });
});

describe("the fork of a conversation", () => {
  it("has new ids, and continues without effect on the original", async () => {
    const chat = await start(historian);
    await chat.send("one");
    await chat.send("two");
    const fork = await chat.fork(1);
    expect((await fork.send("other")).question).toBe("one|one|other");
    expect((await chat.send("three")).question).toContain("one|two");
    const [original, copy] = [chat.turns[0]?.task, fork.turns[0]?.task];
    expect(copy?.id).not.toBe(original?.id);
    expect(copy?.contextId).not.toBe(original?.contextId);
    expect(toStableSnapshot(copy)).toEqual(toStableSnapshot(original));
  });

  it("of an ADK agent with a prefix has a copy of the prefix", async () => {
    const slow = adkAgent(createEchoAgent());
    const prepareContext = slow.prepareContext?.bind(slow);
    // The session service needs some milliseconds for a new session.
    const prepared = Object.assign(slow, {
      async prepareContext(...[contextId, caller, source]: Parameters<NonNullable<typeof prepareContext>>) {
        const startedAt = Date.now();
        await expect.poll(() => Date.now() - startedAt, { interval: 1 }).toBeGreaterThan(2);
        await prepareContext?.(contextId, caller, source);
      },
    });
    const chat = await start(prepared, { prefix });
    const fork = await chat.fork();
    expect((await fork.send("Four")).text).toBe("user: Book a table|model: For how many?|user: Four");
  });

  it("of an ADK agent has a copy of the session up to its turn", async () => {
    const chat = await start(adkAgent(createEchoAgent()));
    await chat.send("one");
    await chat.send("two");
    const fork = await chat.fork(1);
    expect((await fork.send("other")).text).toBe("user: one|model: user: one|user: other");
  });
});

/** Returns a condition for the event with a text in one of its parts. */
const contains =
  (text: string) =>
  (event: StreamResponse): boolean =>
    JSON.stringify(event).includes(text);

describe("the fork of a conversation inside a turn", () => {
  const worker = agent(
    { name: "worker", description: "Works in steps" },
    async function* ({ text, history }) {
      if (text === "ask") yield inputRequired("Which one?");
      yield status("Step one");
      yield chunk({ id: "first" }, "one");
      yield status("Step two");
      yield chunk({ id: "second" }, listTexts(history).join("|"));
    },
  );

  it("contains the events until one, is canceled there, and continues with a new task of the context", async () => {
    const chat = await start(worker);
    await chat.send("go");
    const fork = await chat.fork(1, { until: contains("Step two") });
    const [turn] = fork.turns;
    expect(turn).toMatchObject({ input: "go", state: "canceled", text: "one", calls: undefined });
    expect(turn?.states).toEqual(["submitted", "working", "canceled"]);
    expect(listTexts(turn?.task?.history ?? [])).toEqual(["go", "Step one", "Step two"]);
    const next = await fork.send("again");
    expect(next).toMatchObject({ state: "completed", text: "one\nagain" });
    expect(next.task?.contextId).toBe(turn?.task?.contextId);
    expect(next.task?.contextId).not.toBe(chat.turns[0]?.task?.contextId);
    expect(chat.turns[0]).toMatchObject({ state: "completed", text: "one\ngo" });
  });

  it("of a task with an answered question keeps the earlier turn, and cuts only the last one", async () => {
    const chat = await start(worker);
    await chat.send("ask");
    await chat.send("this");
    const fork = await chat.fork(2, { until: contains("Step one") });
    expect(fork.turns.map(({ state }) => state)).toEqual(["input-required", "canceled"]);
    expect(listTexts(fork.turns[1]?.task?.history ?? [])).toEqual(["ask", "Which one?", "this", "Step one"]);
    expect((await fork.send("next")).text).toBe("one\nnext");
  });

  it("at the last event of the turn is a fork after the turn", async () => {
    const chat = await start(worker);
    await chat.send("ask");
    const fork = await chat.fork(1, { until: contains("Which one?") });
    expect(fork.turns[0]).toMatchObject({ state: "input-required", question: "Which one?" });
    expect((await fork.send("this")).text).toBe("one\nask|Which one?|this");
  });

  it("is refused if no event matches, and for a turn that is a copy", async () => {
    const chat = await start(worker);
    await chat.send("go");
    await expect(chat.fork(1, { until: () => false })).rejects.toThrow("for no event of the turn");
    const fork = await chat.fork(1);
    await expect(fork.fork(1, { until: contains("Step") })).rejects.toThrow("the turn is a copy");
    await expect(chat.fork(0, { until: () => true })).rejects.toThrow("has no task");
    await expect(chat.fork(1, { upto: 1 } as never)).rejects.toThrow("upto");
  });

  it("of an ADK agent has the events of the session up to that event", async () => {
    const look = new FunctionTool({
      name: "look",
      description: "Looks",
      parameters: z.object({ at: z.string() }),
      execute: ({ at }) => `result of ${at}`,
    });
    const seen: string[] = [];
    const model = new ScriptedLlm(({ text, request, requestIndex }) => {
      seen.push(JSON.stringify(request.contents));
      if (text === "other") return "continued";
      const call = { call: "look", args: { at: "sky" } };
      return [call, { ...call, args: { at: "sea" } }, "done"][requestIndex % 3] ?? "";
    });
    const root = new LlmAgent({ name: "seer", description: "Sees", model, tools: [look] });
    const chat = await start(adkAgent(root));
    await chat.send("first");
    expect((await chat.send("second")).text).toBe("done");
    const fork = await chat.fork(2, { until: contains("result of sky") });
    expect(fork.turns[1]?.toolCalls).toMatchObject([
      { tool: "look", arguments: { at: "sky" }, result: { result: "result of sky" } },
    ]);
    expect((await fork.send("other")).text).toBe("continued");
    const contents = seen.at(-1) ?? "";
    const [, ofSecondTurn = ""] = contents.split("second");
    expect(contents).toContain("done");
    expect(ofSecondTurn).toContain("result of sky");
    expect(ofSecondTurn).not.toContain("sea");
    expect(ofSecondTurn).not.toContain("done");
  });

  it("of an ADK agent at a tool call answers the call before the next message", async () => {
    const wait = new FunctionTool({
      name: "wait",
      description: "Waits",
      parameters: z.object({}),
      execute: () => "waited",
    });
    const seen: string[] = [];
    const model = new ScriptedLlm(({ request, results }) => {
      seen.push(JSON.stringify(request.contents));
      return results.length > 0 || seen.length > 1 ? "done" : { call: "wait" };
    });
    const chat = await start(
      adkAgent(new LlmAgent({ name: "waiter", description: "Waits", model, tools: [wait] })),
    );
    await chat.send("go");
    const fork = await chat.fork(1, { until: contains('"wait"') });
    expect((await fork.send("other")).state).toBe("completed");
    expect(seen.at(-1)).toContain("functionResponse");
    expect(seen.at(-1)).not.toContain("waited");
    // The session answers the interrupted call before the message of the second turn.
    const second = await fork.fork(2, { until: contains("TASK_STATE_WORKING") });
    await second.send("third");
    expect(seen.at(-1)).toContain("other");
    expect(seen.at(-1)).not.toContain("done");
  });
});

it("a stable snapshot names ids by their order, and leaves out times", () => {
  const task = {
    id: "4f1",
    contextId: "9c2",
    status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00.000Z" },
    history: [{ messageId: "m7", taskId: "4f1", parts: [{ text: "about 4f1" }] }],
    artifacts: [{ artifactId: "answer", parts: [] }],
  };
  expect(toStableSnapshot(task)).toEqual({
    id: "task-1",
    contextId: "context-1",
    status: { state: "TASK_STATE_WORKING" },
    history: [{ messageId: "message-1", taskId: "task-1", parts: [{ text: "about 4f1" }] }],
    artifacts: [{ artifactId: "answer", parts: [] }],
  });
});
