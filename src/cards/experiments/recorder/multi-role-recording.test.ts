import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../../client/index.ts";
import {
  buildRunReport,
  createCardProtocol,
  decodeRecordFiles,
  decodeRecording,
  getGsm8kSlice,
  MESSAGE_CARD_EXTENSION_URI,
  PLANNER,
  SOLVER,
  toCardParts,
} from "../../index.ts";
import {
  createController,
  createPlanner,
  createSolver,
  createOracleModel,
  createScriptedModel,
  serveRoles,
} from "../../roles/index.ts";
import { createMemorySink, createRunRecorder, openFileSink, openRunFile } from "./index.ts";
import { EXAMPLE_RUN } from "./example-run.fixture.ts";
import { getScriptArguments } from "../../../../test/support/fork-script.ts";

/**
 * Three problems, solved by roles on separate servers with their own files, and the controller's file of the
 * run.
 */
async function recordSolvedRun(): Promise<{ files: string[] }> {
  const out = mkdtempSync(join(tmpdir(), "colloquy-a2a-"));
  onTestFinished(() => rmSync(out, { recursive: true }));
  const samples = getGsm8kSlice().slice(0, 3);
  const model = createOracleModel(samples);
  const sinks = {
    planner: openFileSink(join(out, "planner.jsonl")),
    solver: openFileSink(join(out, "solver.jsonl")),
  };
  const recorders = {
    planner: createRunRecorder(sinks.planner),
    solver: createRunRecorder(sinks.solver),
  };
  const served = await serveRoles({
    roles: {
      planner: {
        role: createPlanner(),
        model,
        recorder: recorders.planner,
        connectOptions: { record: recorders.planner.writer },
      },
      solver: { role: createSolver(), model, recorder: recorders.solver },
    },
  });
  const record = openRunFile(
    { ...EXAMPLE_RUN, sample_ids: samples.map(({ id }) => id), evidence: "oracle" },
    { outputFolder: out },
  );
  try {
    const controller = createController({
      roleTargets: served.urls,
      recorder: record,
      connectOptions: { record: record.writer },
    });
    await Promise.all(
      samples.map(async ({ id, question, gold }) => {
        const { run_id, dataset, rule } = EXAMPLE_RUN;
        const problem = { task: question, runId: run_id, sampleId: id, dataset, relay: "full" } as const;
        const { reply } = await controller.solve(problem);
        const predicted = reply.content;
        record.recordSampleScore({
          run_id,
          sample_id: id,
          predicted,
          gold,
          correct: predicted === gold,
          rule,
        });
      }),
    );
  } finally {
    await served.close();
    record.endRun("completed");
    for (const sink of Object.values(sinks)) sink.close();
  }
  return { files: [record.path, join(out, "planner.jsonl"), join(out, "solver.jsonl")] };
}

describe("a run over A2A, recorded by three roles in three files", () => {
  it("merges into one valid and complete recording", async () => {
    const { files } = await recordSolvedRun();
    const merged = decodeRecordFiles(files.map((file) => ({ file, source: readFileSync(file, "utf8") })));
    const report = buildRunReport(merged);
    expect(report).toMatchObject({ unknown: [], broken: [], samples: { total: 3, done: 3, open: 0 } });
    expect(report.accuracy?.value).toBe(1);
    expect(report.figures?.completion?.value).toBe(1);
    expect(report.degraded).toBe(false);

    for (const { cards } of merged.samples) {
      expect(cards[0]).toMatchObject({ sender: "controller", message_type: "task" });
      expect(cards.at(-1)).toMatchObject({ recipient: "controller", metadata: { status: "completed" } });
    }
    // The controller's recording alone contains the same cards, because they were relayed to it.
    const ids = (recording: typeof merged): unknown[] =>
      recording.cards.map(({ metadata }) => metadata.card_id);
    const [first = ""] = files;
    expect(new Set(ids(decodeRecording(readFileSync(first, "utf8"), first)))).toEqual(new Set(ids(merged)));
  });
});

describe("a controller that is killed repeatedly while the roles keep running in another process", () => {
  it("scores every problem once and counts interrupted attempts separately", async () => {
    const out = mkdtempSync(join(tmpdir(), "colloquy-killed-"));
    onTestFinished(() => rmSync(out, { recursive: true }));
    const model = createOracleModel(getGsm8kSlice());
    const sink = openFileSink(join(out, "roles.jsonl"));
    const recorder = createRunRecorder(sink);
    const served = await serveRoles({
      recorder,
      connectOptions: { record: recorder.writer },
      roles: {
        planner: { role: createPlanner(), model },
        solver: { role: createSolver(), model },
      },
    });
    const program = getScriptArguments(new URL("self-killing-experiment.fixture.ts", import.meta.url));
    const run = async (problems: number): Promise<unknown> => {
      const words = [...program, out, JSON.stringify(served.urls), String(problems)];
      const [code, signal] = await once(spawn(process.execPath, words, { stdio: "inherit" }), "close");
      return signal ?? code;
    };
    try {
      for (const problems of [3, 9, 14]) expect(await run(problems)).toBe("SIGKILL");
      expect(await run(99)).toBe(0);
    } finally {
      // Work for a controller that was killed finishes first.
      await served.close();
      sink.close();
    }

    const files = [join(out, "killed.cards.jsonl"), join(out, "roles.jsonl")];
    const merged = decodeRecordFiles(files.map((file) => ({ file, source: readFileSync(file, "utf8") })));
    expect(merged.abandoned.cards.length).toBeGreaterThan(0);
    expect(merged.samples.map(({ cards }) => cards.length)).toEqual(Array.from({ length: 20 }, () => 6));
    expect(merged.samples.map(({ calls }) => calls.length)).toEqual(Array.from({ length: 20 }, () => 5));
    expect(buildRunReport(merged)).toMatchObject({
      broken: [],
      found: {},
      samples: { total: 20, done: 20, open: 0 },
      ends: ["completed"],
    });
  });
});

it("messages of others to a recorded role, such as health checks, lose no line of the run", async () => {
  const sink = createMemorySink();
  const recorder = createRunRecorder(sink);
  recorder.startRun({ ...EXAMPLE_RUN, sample_ids: ["gsm8k_0"] });
  const { urls, close } = await serveRoles({
    roles: { solver: { role: createSolver(), model: createScriptedModel(["4"]) } },
    recorder,
  });
  onTestFinished(() => close());
  const client = await connect(urls["solver"] ?? "");
  const protocol = createCardProtocol({
    routes: [{ from: PLANNER, to: SOLVER, types: ["error"] }],
  });
  const error = protocol.createErrorCard({ from: PLANNER, to: SOLVER, error: "no", errorType: "timeout" });
  const task = protocol.createTaskCard({ from: PLANNER, to: SOLVER, task: "2 + 2" });
  await client.send("Are you there?");
  for (const card of [error, task])
    await client.send({ parts: toCardParts(card), extensions: [MESSAGE_CARD_EXTENSION_URI] });
  recorder.endRun("completed");
  const { ends, cards, torn } = decodeRecording(sink.text(), "run.cards.jsonl");
  expect(ends.map(({ status }) => status)).toEqual(["completed"]);
  expect([recorder.isDegraded, cards, torn]).toEqual([false, [], []]);
});
