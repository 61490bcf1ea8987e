import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createScriptedRecordFileText } from "../../cards/recording/recording.fixture.ts";
import { runCliInTestProcess } from "../cli-test-process.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "trace-task-"));
const record = join(folder, "record.jsonl");
const PLANNER_TASK = "task-of-the-planner-1";
const SOLVER_TASK = "task-of-the-solver-1";
const OTHER_TASK = "task-of-a-stranger-1";

/** Writes a task of a planner that calls a solver, a task of another agent, and the cards of both tasks' samples. */
function createRecordText(): string {
  let seq = 0;
  const write = (line: object): string =>
    `${JSON.stringify({ v: 1, writer: "w", seq: ++seq, at: "2026-01-01T00:00:00.000Z", mono_ms: seq, ...line })}\n`;
  const start = (to: string, task_id: string, parent?: string): string =>
    write({
      kind: "request",
      call: `c${task_id}`,
      to,
      task_id,
      binding: "JSONRPC",
      operation: "SendMessage",
      ...(parent !== undefined && { parent: { task_id: parent } }),
    });
  const complete = (agent: string, task_id: string): string =>
    write({
      kind: "event",
      agent,
      task_id,
      log_seq: 1,
      event: { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
    });
  return [
    start("planner", PLANNER_TASK),
    start("solver", SOLVER_TASK, PLANNER_TASK),
    complete("solver", SOLVER_TASK),
    start("stranger", OTHER_TASK),
    complete("stranger", OTHER_TASK),
    complete("planner", PLANNER_TASK),
    createCardLines(),
  ].join("");
}

/** Returns the lines of a run, whose first sample belongs to the planner's task. */
function createCardLines(): string {
  return createScriptedRecordFileText()
    .trimEnd()
    .split("\n")
    .map((text) => {
      const line = { ...(JSON.parse(text) as { kind: string }), writer: "run" };
      const task_id = text.includes(`"sample_id":"${OWN_SAMPLE}"`) ? PLANNER_TASK : OTHER_TASK;
      return `${JSON.stringify(/request|response/.test(line.kind) ? { ...line, task_id } : line)}\n`;
    })
    .join("");
}

const [OWN_SAMPLE = "", OTHER_SAMPLE = ""] = new Set(
  [...createScriptedRecordFileText().matchAll(/"sample_id":"([^"]+)"/g)].map(([, id]) => id),
);

const run = async (...words: string[]): Promise<string> => {
  const { code, out, err } = await runCliInTestProcess(["trace", ...words]);
  return code === 0 ? out : err;
};

beforeAll(() => writeFileSync(record, createRecordText()));

describe("colloquy trace export --task", () => {
  it.each(["otlp", "perfetto", "jsonl", "mermaid"])(
    "exports as %s only the task and the tasks that its agent started",
    async (format) => {
      const words = ["export", record, "--format", format];
      expect(await run(...words)).toContain("stranger");
      const out = await run(...words, "--task", PLANNER_TASK);
      expect(out).toContain("planner");
      expect(out).toContain("solver");
      expect(out).not.toContain("stranger");
      expect(await run(...words, "--task", "unknown-task")).toContain(
        "The record contains no task unknown-task.",
      );
    },
  );

  it("exports lines that show the same task, with the cards of its sample", async () => {
    const one = join(folder, "one.jsonl");
    const text = await run("export", record, "--format", "jsonl", "--task", PLANNER_TASK);
    writeFileSync(one, text);
    expect(text).toContain(`"sample_id":"${OWN_SAMPLE}"`);
    expect(text).not.toContain(`"sample_id":"${OTHER_SAMPLE}"`);
    expect(await run("show", one, "--task", PLANNER_TASK)).toBe(
      await run("show", record, "--task", PLANNER_TASK),
    );
  });
});

describe("colloquy trace html --task", () => {
  it("renders a page without the tasks and cards of others", async () => {
    const out = await run("html", record, "--task", PLANNER_TASK, "-o", "-");
    expect(out).toContain(SOLVER_TASK);
    expect(out).toContain("gsm8k");
    expect(out).not.toContain(OTHER_TASK);
  });
});
