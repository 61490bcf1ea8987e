import { LlmAgent } from "@google/adk";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent, inputRequired } from "../../agents/adapters/index.ts";
import { adkAgent } from "../../agents/adk/index.ts";
import { ScriptedLlm } from "../../agents/adk/models/index.ts";
import { getText, type Message } from "../../protocol/index.ts";
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
