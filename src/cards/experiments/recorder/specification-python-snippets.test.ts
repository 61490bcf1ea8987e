import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeMessageCardArray, computeSpecificationFormulaStatistics } from "../../index.ts";
import { createScriptedRecording } from "../../recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  createScriptedSamples,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../../recording/scripted-samples.fixture.ts";
import { writeMessageCardListFile } from "./index.ts";
import {
  PYTHON_CARD_STATISTICS_SNIPPET,
  PYTHON_SUCCESS_RATE_SNIPPET,
} from "./specification-python-snippets.fixture.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** 200 problems, as the snippets expect. Most succeed, and some fail in each possible way. */
const SAMPLE_SCRIPTS = createScriptedSamples(200).map((script, index) => ({
  ...([
    SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    SCRIPTED_PARALLEL_TASKS_SAMPLE,
    SCRIPTED_TURN_LIMIT_SAMPLE,
    SCRIPTED_TIMEOUT_SAMPLE,
  ][index % 7] ?? SCRIPTED_SEQUENTIAL_TASKS_SAMPLE),
  id: script.id,
}));

describe("the analysis code of the specification", () => {
  it("runs unchanged on our files and computes our figures", ({ skip }) => {
    skip(!hasPython, "python3 is not installed");
    const cwd = mkdtempSync(join(tmpdir(), "colloquy-seed-"));
    try {
      const recording = createScriptedRecording(SAMPLE_SCRIPTS, {
        run_id: "gsm8k_a2a_claude",
      });
      const file = writeMessageCardListFile(recording, join(cwd, "results"));
      expect(file).toBe(join(cwd, "results/gsm8k_a2a_claude_cards.json"));
      const printed = execFileSync(
        "python3",
        ["-c", PYTHON_CARD_STATISTICS_SNIPPET + PYTHON_SUCCESS_RATE_SNIPPET],
        {
          cwd,
          encoding: "utf8",
        },
      );

      const figures = computeSpecificationFormulaStatistics(
        decodeMessageCardArray(readFileSync(file, "utf8"), file),
      );
      const [types, ...rest] = printed.trimEnd().split("\n");
      const counter = (types ?? "").slice("Counter(".length, -1).replaceAll("'", '"');
      expect(JSON.parse(counter)).toEqual({ ...figures.card_types });
      expect(rest).toEqual([
        `Average turns per problem: ${figures.avg_turns.toFixed(2)}`,
        `Solver success rate: ${(figures.solver_success_rate * 100).toFixed(2)}%`,
        `Overall completion rate: ${(figures.overall_completion_rate * 100).toFixed(2)}%`,
      ]);
      // Some results fail, so that the figures are not round numbers.
      expect(figures.overall_completion_rate).toBeCloseTo(0.71, 2);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});
