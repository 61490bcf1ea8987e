/**
 * `npm run lab -- inspect` solves four problems with a planner and a solver, exports the run for Inspect AI, and
 * compares what Inspect AI reads with the recording. The exit code is 1 if they differ.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { getGsm8kSlice, runExperiment, withFaults, createOracleModel } from "../../src/entries/cards.ts";
import { renderInspectLog } from "../../src/cli/cards/render-inspect-log.ts";
import { installPythonPackages } from "../interop/install-programs.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const report = (line: string): void => void process.stderr.write(`${line}\n`);
const python = await installPythonPackages("inspect", here("requirements.txt"), report);
if ("reason" in python) {
  report(`Inspect AI cannot be installed: ${python.reason}.`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "colloquy-inspect-"));
try {
  const samples = getGsm8kSlice().slice(0, 4);
  const { recording } = await runExperiment({
    dataset: { name: "gsm8k", split: "test", samples },
    model: withFaults(createOracleModel(samples), { wrong: 0.3 }),
    outputFolder: folder,
  });
  const file = join(folder, "log.json");
  writeFileSync(file, renderInspectLog(recording));
  const read = spawnSync(python.program, [here("read_log.py"), file], { encoding: "utf8" });
  if (read.status !== 0) throw new Error(`Inspect AI cannot read the log:\n${read.stderr}`);
  const { calls, scores } = recording;
  const solved = recording.samples.filter(({ score }) => score !== undefined);
  assert.deepEqual(JSON.parse(read.stdout), {
    status: "success",
    total: samples.length,
    completed: scores.length,
    accuracy: scores.filter(({ correct }) => correct).length / scores.length,
    scores: toObject(scores.map(({ sample_id, correct }) => [sample_id, correct ? "C" : "I"])),
    messages: toObject(solved.map(({ id, cards }) => [id, cards.map(({ content }) => content)])),
    prompts: solved.flatMap((sample) => sample.calls.map(({ line }) => listPromptTexts(line.prompt))),
    replies: solved.flatMap((sample) => sample.calls.map(({ line }) => line.reply)),
    tokens: calls.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0),
  });
  report(
    `Inspect AI reads ${solved.length} samples, ${recording.cards.length} messages, and ${calls.length} calls.`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

function toObject<T>(list: readonly (readonly [string | undefined, T])[]): Record<string, T> {
  return Object.fromEntries(list) as Record<string, T>;
}

function listPromptTexts(prompt: unknown): string[] {
  return (prompt as { messages: { text: string }[] }).messages.map(({ text }) => text);
}
