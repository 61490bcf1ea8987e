import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { agent } from "../../../agents/adapters/index.ts";
import { decodeTrafficLines, loadTrafficModel, SharedTextDecoder } from "../../../observe/trace/index.ts";
import { SharedTextEncoder } from "../../../observe/trace/recording/index.ts";
import { createServer } from "../../../server/index.ts";
import { getGsm8kSlice } from "../../index.ts";
import { createOracleModel } from "../../roles/index.ts";
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
