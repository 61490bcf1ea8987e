import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { agent } from "../../../agents/adapters/index.ts";
import {
  decodeTrafficLines,
  loadTrafficModel,
  SharedTextDecoder,
  toTrafficOtlpTraces,
} from "../../../observe/trace/index.ts";
import { SharedTextEncoder } from "../../../observe/trace/recording/index.ts";
import { createServer } from "../../../server/index.ts";
import { getGsm8kSlice } from "../../index.ts";
import { createOracleModel, createScriptedModel, type Role } from "../../roles/index.ts";
import { runExperiment, type ExperimentOptions, type ExperimentOutcome } from "./index.ts";

const SAMPLES = getGsm8kSlice();

async function runTestExperiment(
  options: Partial<ExperimentOptions> = {},
): Promise<{ outcome: ExperimentOutcome; lines: string[] }> {
  const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-record-"));
  onTestFinished(() => rmSync(outputFolder, { recursive: true }));
  const outcome = await runExperiment({
    dataset: { name: "gsm8k", split: "test", samples: SAMPLES },
    model: createOracleModel(SAMPLES),
    outputFolder,
    ...options,
  });
  const texts = new SharedTextDecoder();
  const stored = readFileSync(outcome.file, "utf8").split("\n").slice(0, -1);
  return { outcome, lines: stored.flatMap((line) => texts.decode(line) ?? []) };
}

it("a run of the oracle takes at most 12 KB for each problem of GSM8K, without prompts", async () => {
  const { outcome, lines } = await runTestExperiment();
  expect(outcome.recording.cards).toHaveLength(6 * SAMPLES.length);
  const texts = new SharedTextEncoder();
  const withoutPrompts = lines
    .map((line) => JSON.stringify({ ...(JSON.parse(line) as object), prompt: undefined }))
    .map((line) => `${texts.encode(line)}\n`)
    .join("");
  const bytesPerProblem = Buffer.byteLength(withoutPrompts) / SAMPLES.length;
  expect(bytesPerProblem).toBeGreaterThan(8 * 1_024);
  expect(bytesPerProblem).toBeLessThanOrEqual(12 * 1_024);
});

it("a run is a traffic record with the tasks of its roles, and with prompts and replies", async () => {
  const [sample] = SAMPLES;
  if (!sample) throw new Error("The dataset has no sample.");
  const { outcome, lines } = await runTestExperiment({
    dataset: { name: "gsm8k", split: "test", samples: [sample] },
  });
  const traffic = decodeTrafficLines(lines.join("\n"));
  expect(traffic).toHaveLength(lines.length);
  const { model } = loadTrafficModel(traffic.map((line) => ({ type: "traffic", line })));
  expect([...model.tasks.values()].map(({ agent, state }) => `${agent} ${state}`).toSorted()).toEqual([
    "planner TASK_STATE_COMPLETED",
    "solver TASK_STATE_COMPLETED",
    "solver TASK_STATE_COMPLETED",
  ]);
  expect(model.exchanges.map(({ from, to }) => `${from} → ${to}`)).toEqual([
    "controller → planner",
    "planner → solver",
    "planner → solver",
  ]);
  const [call] = outcome.recording.calls;
  expect(call?.line.prompt).toMatchObject({ messages: [{ role: "system" }, { role: "user" }] });
  expect(call?.line.reply).toContain("call_solver");
  // Each message card is in a message.
  expect(traffic.filter(({ kind }) => kind === "card" || kind === "frame")).toEqual([]);
});

it("the line of each model call has its task, and its price by the tariff", async () => {
  const [sample] = SAMPLES;
  if (!sample) throw new Error("The dataset has no sample.");
  const replies = [
    '{"action":"call_solver","subtask":"9 * 2"}',
    "18",
    '{"action":"final_answer","answer":"18"}',
  ];
  const usage = { input_tokens: 100, output_tokens: 10, source: "reported" as const };
  const model = createScriptedModel(replies.map((text) => ({ text, finish: "stop", usage })));
  const dataset = { name: "gsm8k", split: "test", samples: [sample] };
  const tariff = { input: 3, output: 15 };
  const { lines } = await runTestExperiment({ dataset, model, tariff });
  const traffic = decodeTrafficLines(lines.join("\n"));
  const { model: traced } = loadTrafficModel(traffic.map((line) => ({ type: "traffic", line })));
  const calls = traffic.filter((line) => line.kind === "model");
  expect(calls.map(({ agent, price }) => [agent, price])).toEqual([
    ["planner", 0.00045],
    ["solver", 0.00045],
    ["planner", 0.00045],
  ]);
  const traces = JSON.stringify(toTrafficOtlpTraces(traced));
  expect(traces.match(/"name":"chat /g)).toHaveLength(3);
  for (const { task_id = "", agent } of calls) expect(traced.tasks.get(task_id)).toMatchObject({ agent });
});

it("a run can use a role of your own as its method", async () => {
  const role: Role = {
    name: "guesser",
    description: "Guesses",
    performTask: async () => ({ result: "Answer: 18", status: "completed" }),
  };
  const dataset = { name: "gsm8k", split: "test", samples: SAMPLES.slice(0, 2) };
  const { outcome } = await runTestExperiment({ dataset, method: { kind: "role", name: "guess", role } });
  expect(outcome.recording.run?.method).toBe("guess");
  expect(outcome.recording.scores.map(({ correct }) => correct)).toEqual([true, false]);
});

it("a run whose budget is spent stops, and continues with a larger budget", async () => {
  const samples = SAMPLES.slice(0, 4);
  const usage = { input_tokens: 90, output_tokens: 10, source: "reported" as const };
  const model = createScriptedModel(() => ({ text: "Answer: 18", finish: "stop", usage }));
  const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-budget-"));
  onTestFinished(() => rmSync(outputFolder, { recursive: true }));
  const options = {
    dataset: { name: "gsm8k", split: "test", samples },
    method: "cot",
    concurrency: 1,
    model,
    outputFolder,
  };
  const stopped = await runExperiment({ ...options, budget: { tokens: 200 } });
  expect(stopped).toMatchObject({
    status: "failed",
    failureReason: "the run has spent its budget: 200 of 200 tokens",
  });
  expect(stopped.recording.scores).toHaveLength(1);
  const tariff = { input: 1, output: 1 };
  const again = await runExperiment({ ...options, resume: true, tariff, budget: { cost: 0.0002 } });
  expect(again.failureReason).toBe("the run has spent its budget: cost 0.0002 of 0.0002");
  // The second call spent the budget, so its problem has no score.
  expect(again.recording.calls).toHaveLength(2);
  expect(await runExperiment({ ...options, resume: true, budget: { tokens: 1_000 } })).toMatchObject({
    status: "completed",
  });
  await expect(runExperiment({ ...options, budget: { cost: 1 } })).rejects.toThrow(
    "requires the option tariff",
  );
});

it("a run contains the cards for a solver that reads plain text", async () => {
  const [sample] = SAMPLES;
  if (!sample) throw new Error("The dataset has no sample.");
  const server = createServer(
    agent({ name: "plain", description: "Answers" }, async function* () {
      yield "18";
    }),
    { store: "memory", observer: false },
  );
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { url } = await server.listen();
  const { outcome, lines } = await runTestExperiment({
    dataset: { name: "gsm8k", split: "test", samples: [sample] },
    roleUrls: { solver: url },
  });
  const { cards } = outcome.recording;
  expect(cards.filter(({ sender }) => sender === "solver").length).toBeGreaterThan(0);
  expect(cards.filter(({ recipient }) => recipient === "solver")).toHaveLength(
    cards.filter(({ sender }) => sender === "solver").length,
  );
  const reported = decodeTrafficLines(lines.join("\n")).filter(({ kind }) => kind === "card");
  expect(reported).toHaveLength(
    cards.filter((card) => [card.sender, card.recipient].includes("solver")).length,
  );
});
