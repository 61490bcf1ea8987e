import { describe, expect, it, onTestFinished } from "vitest";
import { agent, inputRequired, reply, status } from "../../agents/adapters/index.ts";
import type { Agent, Run } from "../../engine/index.ts";
import { createServer } from "../../server/index.ts";
import { assertCalls, type Conversation, converse } from "./index.ts";

/** Asks for approval of amounts above 50 euros, and reports its calls. */
const refunds: Agent = agent({ name: "refunds", description: "Refunds" }, async function* (run) {
  const { text, history } = run;
  if (history.length > 1) yield text === "yes" ? "The money is on its way." : "No refund.";
  else {
    reportCalls(run, Number(/\d+/.exec(text)?.[0]));
    // The generator ends at its question.
    if (/[5-9]\d/.test(text)) yield inputRequired("Is this right?");
    yield status("Refunding …");
    yield "Done.";
  }
});

function reportCalls({ reportCall }: Pick<Run, "reportCall">, euros: number): void {
  reportCall?.({ kind: "model", model: "m", durationMs: 1, inputTokens: 10, outputTokens: 2 });
  reportCall?.({ kind: "tool", tool: "findOrder", arguments: { euros }, result: "o1", durationMs: 1 });
  reportCall?.({ kind: "tool", tool: "checkLimit", arguments: { euros, of: "o1" }, durationMs: 1 });
  reportCall?.({ kind: "model", model: "m", durationMs: 1, inputTokens: 20, outputTokens: 3 });
}

async function start(target: Agent | string): Promise<Conversation> {
  const chat = await converse(target);
  onTestFinished(() => chat.close());
  return chat;
}

describe("a conversation", () => {
  it("continues a task that waits for its user, and starts another task of the context afterwards", async () => {
    const chat = await start(refunds);
    const question = await chat.send("Refund 80 euros");
    expect(question).toMatchObject({
      state: "input-required",
      question: "Is this right?",
      text: "Is this right?",
    });
    const answer = await chat.send("yes");
    expect(answer).toMatchObject({
      state: "completed",
      question: undefined,
      text: "The money is on its way.",
    });
    expect(answer.task?.id).toBe(question.task?.id);
    const next = await chat.send("Refund 20 euros");
    expect(next.text).toBe("Done.");
    expect(next.task?.id).not.toBe(question.task?.id);
    expect(next.task?.contextId).toBe(question.task?.contextId);
  });

  it("contains the calls and the tokens of an agent in the process, turn by turn", async () => {
    const chat = await start(refunds);
    const turn = await chat.send("Refund 80 euros");
    expect(turn.calls?.map(({ kind }) => kind)).toEqual(["model", "tool", "tool", "model"]);
    expect(turn.tokens).toEqual({ inputTokens: 30, outputTokens: 5 });
    const answer = await chat.send("no");
    expect([answer.calls, answer.tokens]).toEqual([[], undefined]);
  });

  it("has an equal transcript in every run", async () => {
    const transcripts = await Promise.all(
      [1, 2].map(async () => {
        const chat = await start(refunds);
        await chat.send("Refund 80 euros");
        await chat.send("yes");
        return chat.transcript;
      }),
    );
    expect(transcripts[0]).toBe(`user: Refund 80 euros
  model m
  tool findOrder({"euros":80}) -> "o1"
  tool checkLimit({"euros":80,"of":"o1"})
  model m
agent asks: Is this right?
  [input-required]

user: yes
agent: The money is on its way.
  [completed]
`);
    expect(transcripts[1]).toBe(transcripts[0]);
  });

  it("reports a failed task with the error that the agent threw", async () => {
    const error = new Error("no database");
    const failing = agent({ name: "failing", description: "Fails" }, async function* () {
      yield "Partly ";
      throw error;
    });
    const turn = await (await start(failing)).send("hi");
    expect(turn).toMatchObject({ state: "failed", error });
    expect(turn.text).toContain("Partly");
  });

  it("contains the reply of an agent that answers without a task", async () => {
    const greeter = agent(
      { name: "greeter", description: "Greets" },
      async function* () {
        yield reply("Hello");
      },
      { respondsWith: "either" },
    );
    const turn = await (await start(greeter)).send("hi");
    expect(turn).toMatchObject({ state: "none", text: "Hello", task: undefined });
  });

  it("with an agent behind a URL has no calls, because A2A does not report them", async () => {
    const server = createServer(refunds, { store: "memory", observer: false });
    onTestFinished(() => server.close());
    const chat = await start((await server.listen()).url);
    const turn = await chat.send("Refund 20 euros");
    expect([turn.state, turn.text, turn.calls]).toEqual(["completed", "Done.", undefined]);
    expect(() => assertCalls(turn, [])).toThrow("The calls of this agent behind a URL are unknown");
  });

  it("passes options to the server of the agent", async () => {
    const hung = agent({ name: "hung", description: "Hangs" }, async function* ({ signal }) {
      yield "…";
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const chat = await converse(hung, { server: { maxSilenceMs: 20 } });
    onTestFinished(() => chat.close());
    expect((await chat.send("hi")).task?.status.message?.parts).toMatchObject([
      { text: expect.stringContaining("maxSilenceMs") as string },
    ]);
  });

  it("refuses a message before the answer to the last one", async () => {
    const chat = await start(refunds);
    const first = chat.send("Refund 20 euros");
    await expect(chat.send("Refund 30 euros")).rejects.toThrow("The last message has no answer yet");
    expect((await first).state).toBe("completed");
  });
});

describe("a simulated user", () => {
  it("answers until it returns undefined", async () => {
    const chat = await start(refunds);
    const last = await chat.simulate("Refund 80 euros", ({ question }) =>
      question === undefined ? undefined : "yes",
    );
    expect(last.text).toBe("The money is on its way.");
    expect(chat.turns).toHaveLength(2);
  });

  it("that never ends is stopped after maxTurns messages", async () => {
    const chat = await start(refunds);
    await expect(chat.simulate("Refund 1 euro", () => "Refund 1 euro", { maxTurns: 3 })).rejects.toThrow(
      "did not end the conversation after 3 messages (maxTurns)",
    );
    expect(chat.turns).toHaveLength(3);
  });
});
