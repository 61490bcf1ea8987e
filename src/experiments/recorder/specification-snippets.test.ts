import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeCards, computeSpecificationStatistics } from "../../cards/index.ts";
import {
  JANET_SCRIPT,
  createScripts,
  TURN_LIMIT_SCRIPT,
  PARALLEL_SCRIPT,
  createScriptedRecording,
  TIMEOUT_SCRIPT,
} from "../../cards/recording/recording.fixture.ts";
import { writeSpecificationFile } from "./index.ts";
import { CARD_LOG_SNIPPET, PERFORMANCE_SNIPPET } from "./specification-snippets.fixture.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** 200 problems, as the snippets expect. Most succeed, and some fail in each possible way. */
const SAMPLE_SCRIPTS = createScripts(200).map((script, index) => ({
  ...([JANET_SCRIPT, PARALLEL_SCRIPT, TURN_LIMIT_SCRIPT, TIMEOUT_SCRIPT][index % 7] ?? JANET_SCRIPT),
  id: script.id,
}));

describe("the analysis code of the specification", () => {
  it("runs unchanged on our files and computes our figures", ({ skip }) => {
    skip(!hasPython, "python3 is not installed");
    const cwd = mkdtempSync(join(tmpdir(), "colloquy-seed-"));
    try {
      const recording = createScriptedRecording(SAMPLE_SCRIPTS, {
        model: { planner: "claude", solver: "claude" },
      });
      const file = writeSpecificationFile(recording, join(cwd, "results"));
      expect(file).toBe(join(cwd, "results/gsm8k_a2a_claude_cards.json"));
      const printed = execFileSync("python3", ["-c", CARD_LOG_SNIPPET + PERFORMANCE_SNIPPET], {
        cwd,
        encoding: "utf8",
      });

      const figures = computeSpecificationStatistics(decodeCards(readFileSync(file, "utf8"), file));
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
