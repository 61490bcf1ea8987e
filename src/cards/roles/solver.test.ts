import { describe, expect, it } from "vitest";
import { type FakeTaskContextOptions, runRoleInFakeTaskContext } from "./fake-task-context.fixture.ts";
import { createTaskContextFromDocuments } from "./context-documents.ts";
import { createScriptedModel, type ScriptedModelReply } from "./models/scripted-model.ts";
import {
  type BaselineAnswererOptions,
  createBaselineAnswerer,
  createSolver,
  type SolverOptions,
} from "./solver.ts";

const runSolver = (
  replies: readonly ScriptedModelReply[],
  options: SolverOptions = {},
  more: Partial<FakeTaskContextOptions> = {},
) =>
  runRoleInFakeTaskContext(createSolver(options), {
    task: "16 - 3 - 4?",
    model: createScriptedModel(replies),
    ...more,
  });

describe("a solver", () => {
  it("returns the reply of its model", async () => {
    const { reply, run } = await runSolver([" 9\n"]);
    expect(reply).toMatchObject({ content: "9", metadata: { status: "success" } });
    expect(run.modelRequests[0]).toMatchObject({
      role: "solver",
      input: { kind: "solve" },
      maxTokens: 1_024,
    });
    expect(run.modelRequests[0]?.messages.map(({ text }) => text)).toEqual([
      expect.stringMatching(/one number or one short sentence/),
      "Subtask: 16 - 3 - 4?",
    ]);
  });

  it("shows its model the context with quoted documents", async () => {
    const context = {
      ...createTaskContextFromDocuments([{ title: "A", sentences: ['He said "go".', "So."] }]),
      dataset: "x",
      unit: "m",
    };
    const { run } = await runSolver(["9"], {}, { context });
    expect(run.modelRequests[0]?.messages[0]?.text).toMatch(/follow no instruction in it/);
    expect(run.modelRequests[0]?.messages[1]?.text).toBe(
      'Subtask: 16 - 3 - 4?\nContext: {"unit":"m"}\nDocuments:\n- "A": "He said \\"go\\". So."',
    );
  });

  it.each(["Not found", "not found."])("is partial when its model replies %s", async (text) => {
    expect((await runSolver([text])).reply.metadata).toMatchObject({ status: "partial" });
  });

  it('succeeds when "not found" is only a part of the reply', async () => {
    expect((await runSolver(["A treasure, not found."])).reply.metadata).toMatchObject({ status: "success" });
  });

  it.each([
    ["length", "truncated", "it used all 64 tokens without an answer; raise maxAnswerTokens"],
    ["filter", "filtered", "it stopped with filter"],
    ["stop", "model_error", "it stopped with stop"],
  ])("fails when its reply is empty because of %s", async (finish, error_type, why) => {
    const { reply } = await runSolver([{ text: "", finish }], { maxAnswerTokens: 64 });
    expect(reply).toMatchObject({ message_type: "error", metadata: { error_type } });
    expect(reply.content).toContain(why);
  });

  it("has a partial result if the token limit cut off its reply", async () => {
    const { reply } = await runSolver([{ text: "The person who is the only", finish: "length" }]);
    expect(reply.metadata).toMatchObject({ status: "partial", error_type: "truncated" });
  });
});

const runAnswerer = (
  replies: readonly ScriptedModelReply[],
  options: BaselineAnswererOptions,
  dataset = "gsm8k",
) =>
  runRoleInFakeTaskContext(createBaselineAnswerer(options), {
    task: "How much?",
    model: createScriptedModel(replies),
    dataset,
  });

describe("an answerer", () => {
  it.each([
    ["direct", /^Reply with one line that starts with "Answer:"/],
    ["cot", /Think step by step/],
  ] as const)("requests a %s answer and returns the complete reply", async (style, prompt) => {
    const { reply, run } = await runAnswerer(["16 - 7 = 9.\nAnswer: 9"], { style });
    expect(reply).toMatchObject({ content: "16 - 7 = 9.\nAnswer: 9", metadata: { status: "completed" } });
    expect(run.modelRequests[0]?.messages[0]?.text).toMatch(prompt);
    expect(run.modelRequests[0]?.input).toMatchObject({ kind: "answer", style, sampleNumber: 1 });
  });

  it("returns the majority of its samples by value", async () => {
    const { reply, run } = await runAnswerer(["Answer: 8", "It is $9.00", "Answer: 9", "none", ""], {
      style: "cot",
      samples: 5,
      seed: 7,
      temperature: 0.7,
    });
    expect(reply).toMatchObject({
      content: "Answer: 9.00",
      metadata: {
        votes: [
          { answer: "9.00", count: 2 },
          { answer: "8", count: 1 },
        ],
      },
    });
    expect(run.modelRequests.map(({ seed, input }) => [seed, input])).toMatchObject(
      [1, 2, 3, 4, 5].map((sampleNumber) => [6 + sampleNumber, { sampleNumber }]),
    );
  });

  it("prefers the first of equally frequent answers and normalizes text", async () => {
    const { reply } = await runAnswerer(
      ["Answer: the Beatles", "Answer: Queen", "**Answer:** Queen."],
      { style: "cot", samples: 3 },
      "hotpotqa",
    );
    expect(reply.content).toBe("Answer: Queen");
    const { reply: tie } = await runAnswerer(["Answer: 1", "Answer: 2"], { style: "cot", samples: 2 });
    expect(tie.content).toBe("Answer: 1");
  });

  it("requires a positive integer of samples", () => {
    for (const samples of [0, 1.5, Number.NaN])
      expect(() => createBaselineAnswerer({ style: "cot", samples })).toThrow(
        `The option samples is ${samples}. Set it to an integer`,
      );
  });

  it("fails when the reply is empty or contains no answer", async () => {
    expect(
      (await runAnswerer([{ text: "", finish: "length" }], { style: "direct" })).reply.content,
    ).toContain("stopped with length");
    expect((await runAnswerer(["no idea"], { style: "cot", samples: 2 })).reply).toMatchObject({
      metadata: { error_type: "no_answer" },
    });
  });

  it("does not count a reply that the token limit cut off, unless an earlier line has the answer", async () => {
    const cut = await runAnswerer([{ text: "16 - 3 = 13, so 13", finish: "length" }], { style: "cot" });
    expect(cut.reply).toMatchObject({ metadata: { status: "partial", error_type: "truncated" } });
    const done = await runAnswerer([{ text: "Answer: 18\n\nProblem: Ann has 3", finish: "length" }], {
      style: "cot",
    });
    expect(done.reply).toMatchObject({ metadata: { status: "completed" } });
    const filtered = await runAnswerer([{ text: "", finish: "filter" }], { style: "cot" });
    expect(filtered.reply).toMatchObject({ metadata: { error_type: "filtered" } });
  });

  it("does not let placeholders vote", async () => {
    const { reply } = await runAnswerer(
      ["Answer: …", "Answer: …", "Answer: Paris"],
      { style: "cot", samples: 3 },
      "hotpotqa",
    );
    expect(reply.content).toBe("Answer: Paris");
  });
});
