import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHangingModel } from "../../roles/models/hanging-model.fixture.ts";
import { decodeRecordLine } from "../../index.ts";
import { encodeTrafficLine, type TrafficLine } from "../../../observe/trace/index.ts";
import { type ModelRequest, createScriptedModel, type RoleModel } from "../../roles/index.ts";
import { readDataset, selectDatasetSamples } from "../read-dataset.ts";
import { rescoreRecordLines } from "./score-reply.ts";
import { type ExperimentOptions, type ExperimentOutcome, runExperiment } from "./run-experiment.ts";

const DATASET = selectDatasetSamples(readDataset("gsm8k"), { count: 2 });

async function runTestExperiment(options: Partial<ExperimentOptions>): Promise<ExperimentOutcome> {
  const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-fair-"));
  onTestFinished(() => rmSync(outputFolder, { recursive: true, force: true }));
  const model = createScriptedModel([]);
  return runExperiment({ dataset: DATASET, model, outputFolder, serverLayout: "together", ...options });
}

/** Creates a model that always knows the answer, and writes it in one format in every role. */
function createAlwaysRightModel(format: (answer: string) => string, prefix = ""): RoleModel {
  const golds = new Map(DATASET.samples.map(({ id, gold }) => [id, gold]));
  return createScriptedModel(({ input }: ModelRequest) => {
    const answer = format(golds.get(input.task.metadata.sample_id ?? "") ?? "");
    if (input.kind !== "plan") return prefix + answer;
    const action =
      input.turn === 1
        ? { action: "call_solver", subtask: "Solve the problem" }
        : { action: "final_answer", answer };
    return prefix + JSON.stringify(action);
  });
}

const listOutcomes = ({ recording }: ExperimentOutcome): unknown[] =>
  recording.scores.map(({ outcome }) => outcome);

it("a dataset with an unknown name is an error, and not another dataset", () => {
  expect(() => readDataset("triviaqa" as "gsm8k")).toThrow('"triviaqa" is not a known dataset');
});

describe("a model that is always right", () => {
  const toFullWidth = (answer: string): string =>
    answer.replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
  const formats: Record<string, (answer: string) => string> = {
    "a sentence": (answer) => `The answer is ${answer}.`,
    "a marker": (answer) => `9 * 2 = 18\n**Answer:** $${answer}`,
    "the marker of GSM8K": (answer) => `We add 3.\n#### ${answer}`,
    LaTeX: (answer) => `$\\boxed{${answer}}$`,
    Korean: (answer) => `정답은 ${answer}달러입니다.`,
    "full-width digits": (answer) => `${toFullWidth(answer)}元`,
    "only a number": (answer) => answer,
    "no marker": (answer) => `After 7 days, she makes $${answer}`,
  };
  const thoughts = ["", '<think>{"action":"final_answer","answer":"999"} Answer: 999</think>\n'];

  it("scores the same under every method, in any format", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(formats)),
        fc.constantFrom(...thoughts),
        async (format, thought) => {
          const model = createAlwaysRightModel(formats[format] ?? String, thought);
          for (const method of ["direct", "cot", "cot-sc@3", "a2a"]) {
            const { recording } = await runTestExperiment({ model, method });
            expect(recording.scores.map(({ correct }) => [method, correct])).toEqual([
              [method, true],
              [method, true],
            ]);
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  it("has answers without a marker counted, under every method", async () => {
    const model = createAlwaysRightModel(formats["no marker"] ?? String);
    for (const method of ["direct", "cot", "a2a"])
      expect(listOutcomes(await runTestExperiment({ model, method }))).toEqual(["unmarked", "unmarked"]);
  });

  it("does not show its thoughts to other roles", async () => {
    const model = createAlwaysRightModel(String, thoughts[1]);
    const { recording } = await runTestExperiment({ model });
    for (const { content } of recording.cards) expect(content).not.toContain("999");
  });
});

describe("the outcome of a problem", () => {
  const createModel = (text: string, finish = "stop"): RoleModel =>
    createScriptedModel(() => ({ text, finish }));
  const action = (value: object): string => JSON.stringify(value);

  it.each([
    [
      "placeholder",
      "a subtask that repeats the prompt",
      action({ action: "call_solver", subtask: "…" }),
      "stop",
    ],
    ["truncated", "an action that is cut off", '{"action":"call_solver","subtask":"000', "length"],
    ["filtered", "a rejected reply", "", "content_filter"],
    ["invalid_action", "a reply without an action", "The answer is 2.", "stop"],
  ])("is %s for %s, after two calls", async (outcome, _, text, finish) => {
    const run = await runTestExperiment({ model: createModel(text, finish) });
    expect(listOutcomes(run)).toEqual([outcome, outcome]);
    expect(run.recording.calls).toHaveLength(4);
    const errors = run.recording.cards.filter(({ message_type }) => message_type === "error");
    expect(errors.map(({ metadata }) => [metadata["error_type"], metadata.turn])).toEqual([
      [outcome, 1],
      [outcome, 1],
    ]);
  });

  it.each([
    ["no_answer", "I do not know", "stop"],
    ["truncated", "First, 16 - 3 is 13", "length"],
    ["placeholder", "Answer: …", "stop"],
  ])("is %s for the chain of thought %j", async (outcome, text, finish) => {
    const run = await runTestExperiment({ method: "cot", model: createModel(text, finish) });
    expect(listOutcomes(run)).toEqual([outcome, outcome]);
    expect(run.recording.scores.map(({ correct }) => correct)).toEqual([false, false]);
  });

  it("is timeout if the deadline passes, which --on-error treats like other failures", async () => {
    const model = createHangingModel();
    const failed = await runTestExperiment({ model, method: "cot", deadlineMs: 50 });
    expect(failed).toMatchObject({
      status: "failed",
      failureReason: "no answer within the deadline of 0.05 s",
      recording: { scores: [] },
    });
    const wrong = await runTestExperiment({ model, method: "cot", deadlineMs: 50, onError: "wrong" });
    expect(wrong.recording.scores).toMatchObject([
      { correct: false, outcome: "timeout", error: "no answer within the deadline of 0.05 s" },
      { correct: false, outcome: "timeout" },
    ]);
  });
});

describe("the description of a run", () => {
  it("contains the server of the model without credentials, and a hash of the prompts", async () => {
    const model = { ...createAlwaysRightModel(String), server: "https://key@example.com/v1?key=1" };
    const { recording } = await runTestExperiment({ model, method: "direct" });
    expect(recording.run).toMatchObject({
      servers: { solver: "https://example.com/v1" },
      prompts_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it("prevents that another server continues the run", async () => {
    const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-fair-"));
    onTestFinished(() => rmSync(outputFolder, { recursive: true }));
    const run = (server: string): Promise<ExperimentOutcome> =>
      runTestExperiment({
        model: { ...createAlwaysRightModel(String), server },
        method: "direct",
        outputFolder,
        resume: true,
      });
    await run("http://127.0.0.1:8000/v1");
    await expect(run("http://127.0.0.1:9000/v1")).rejects.toThrow("its servers is");
    expect((await run("http://127.0.0.1:8000/v1")).status).toBe("completed");
  });
});

describe("recorded replies", () => {
  it("are scored with another scorer, without a model", async () => {
    const { recording } = await runTestExperiment({
      method: "cot",
      model: createAlwaysRightModel((answer) => `Answer: ${answer} dollars`),
    });
    const lines: TrafficLine[] = [
      ...(recording.run ? [recording.run] : []),
      ...recording.calls.map(({ line }) => line),
      ...recording.scores,
    ];
    const rescored = await rescoreRecordLines(lines, recording, "exact");
    for (const line of rescored) expect(decodeRecordLine(encodeTrafficLine(line))).toEqual(line);
    expect(rescored.filter(({ kind }) => kind === "run")).toMatchObject([{ rule: "exact" }]);
    expect(new Set(rescored.map((line) => "run_id" in line && line.run_id))).toEqual(
      new Set([`${recording.run?.run_id}-exact`]),
    );
    expect(rescored.filter(({ kind }) => kind === "score")).toMatchObject([
      { correct: false, predicted: "18 dollars", gold: "18", rule: "exact" },
      { correct: false, predicted: "3 dollars", gold: "3", rule: "exact" },
    ]);
    expect(
      (await rescoreRecordLines(lines, recording, "number")).filter(({ kind }) => kind === "score"),
    ).toEqual(recording.scores.map((line) => ({ ...line, run_id: `${line.run_id}-number` })));
  });
});
