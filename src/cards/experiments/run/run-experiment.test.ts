import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  generateFlowDiagram,
  getGsm8kSlice,
  buildRunReport,
  type TaskCard,
  computeWilsonInterval,
} from "../../index.ts";
import {
  withFaults,
  createOracleModel,
  type RoleModel,
  createScriptedModel,
  serveRoles,
  createPlanner,
  createSolver,
} from "../../roles/index.ts";
import { createServer } from "../../../server/index.ts";
import { selectDatasetSamples, readDataset } from "../read-dataset.ts";
import {
  type ExperimentOptions,
  type ExperimentOutcome,
  type ExperimentProgress,
  runExperiment,
} from "./run-experiment.ts";
import { countRuns } from "../../../../test/support/count-runs.ts";

const GSM8K = readDataset("gsm8k");
const ORACLE = createOracleModel(getGsm8kSlice());

function createTempFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "colloquy-experiment-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function runTestExperiment(options: Partial<ExperimentOptions> = {}): Promise<ExperimentOutcome> {
  return runExperiment({ dataset: GSM8K, model: ORACLE, outputFolder: createTempFolder(), ...options });
}

const countCorrect = ({ recording }: ExperimentOutcome): number =>
  recording.scores.filter(({ correct }) => correct).length;

describe("an experiment", () => {
  it("solves all problems over HTTP and records every card", async () => {
    const outcome = await runTestExperiment();
    expect(outcome).toMatchObject({ status: "completed", failureReason: undefined, isDegraded: false });
    expect(countCorrect(outcome)).toBe(20);
    const report = buildRunReport(outcome.recording);
    expect(report).toMatchObject({ broken: [], samples: { total: 20, done: 20 } });
    const [janet] = outcome.recording.samples.filter(({ id }) => id === "gsm8k_0");
    expect(generateFlowDiagram(janet?.cards ?? [])).toBe(
      [
        "1. CONTROLLER    → [TASK]    PLANNER",
        "2. PLANNER       → [TASK]    SOLVER",
        "3. SOLVER        ← [RESULT]  PLANNER",
        "4. PLANNER       → [TASK]    SOLVER",
        "5. SOLVER        ← [RESULT]  PLANNER",
        "6. PLANNER       ← [RESULT]  CONTROLLER",
      ].join("\n"),
    );
    const seed = JSON.parse(readFileSync(outcome.specificationFile ?? "", "utf8")) as object[];
    expect(seed).toEqual(outcome.recording.cards);
    expect(seed).toHaveLength(120);
  });

  it.each(["direct", "cot", "cot-sc@3"])("runs the method %s with cards, too", async (method) => {
    const outcome = await runTestExperiment({ dataset: selectDatasetSamples(GSM8K, { count: 5 }), method });
    expect(countCorrect(outcome)).toBe(5);
    expect(outcome.recording.run?.method).toBe(method);
    expect(outcome.recording.calls).toHaveLength(method === "cot-sc@3" ? 15 : 5);
    expect(outcome.recording.cards.map(({ sender }) => sender).toSorted()).toEqual([
      ...Array<string>(5).fill("controller"),
      ...Array<string>(5).fill("solver"),
    ]);
  });

  it("is only as wrong as its solvers: (1 − p)² of the problems with two calls are correct", async () => {
    let correct = 0;
    let all = 0;
    const seedCount = countRuns(4, 20);
    for (let seed = 1; seed <= seedCount; seed++) {
      const outcome = await runTestExperiment({ model: withFaults(ORACLE, { wrong: 0.2, seed }) });
      expect(outcome.recording.run?.evidence).toBe("simulated");
      correct += countCorrect(outcome);
      all += outcome.recording.scores.length;
    }
    // The seeds make the result deterministic. The interval has a confidence of 99 %.
    const { low, high } = computeWilsonInterval(correct, all, 2.576);
    expect(all).toBe(20 * seedCount);
    expect(low).toBeLessThan(0.64);
    expect(high).toBeGreaterThan(0.64);
  });

  it("routes paragraphs to solvers and scores the selection", async () => {
    const paragraphs = [
      { title: "Inception", sentences: ["Inception was directed by Christopher Nolan."] },
      { title: "Christopher Nolan", sentences: ["He was born in Westminster, London, England."] },
      { title: "Westminster", sentences: ["Westminster is a city."] },
    ];
    const question = "What is the birthplace of the director of Inception?";
    const model = {
      planner: createScriptedModel([
        JSON.stringify({ action: "call_solver", subtask: "Who directed it?", documents: ["Inception"] }),
        JSON.stringify({ action: "call_solver", subtask: "Where?", documents: ["Christopher Nolan"] }),
        JSON.stringify({ action: "final_answer", answer: "Westminster, London, England" }),
      ]),
      solver: createScriptedModel(["Christopher Nolan", "Westminster, London, England"]),
    };
    const outcome = await runTestExperiment({
      model,
      dataset: {
        name: "hotpotqa",
        split: "made up",
        samples: [
          {
            dataset: "hotpotqa",
            id: "hotpotqa_1",
            question,
            gold: "Westminster, London",
            paragraphs,
          },
        ],
      },
    });
    expect(outcome.recording.scores).toMatchObject([
      {
        rule: "f1",
        correct: false,
        predicted: "Westminster, London, England",
        measures: { em: 0, f1: 0.8 },
      },
    ]);
    const shown = outcome.recording.cards
      .filter((card): card is TaskCard => card.sender === "planner" && card.message_type === "task")
      .map(({ metadata }) =>
        JSON.stringify(metadata.context?.["documents"]).includes("Westminster is a city"),
      );
    expect(shown).toEqual([false, false]);
  });

  it("accepts an agent without card support, also as a baseline", async () => {
    const server = createServer(
      {
        describe: () => ({ name: "plain", description: "Answers", version: "1", skills: [] }),
        async *execute() {
          yield {
            artifact: {
              artifactId: "answer",
              parts: [{ text: "16 - 3 - 4 = 9, and 9 * 2 = 18.\nAnswer: 18" }],
            },
          };
        },
      },
      { store: "memory" },
    );
    onTestFinished(() => server.close({ graceMs: 0 }));
    const { url } = await server.listen();
    const dataset = selectDatasetSamples(GSM8K, { count: 1 });
    const outcome = await runTestExperiment({ dataset, method: "cot", roleUrls: { solver: url } });
    expect(outcome.recording.scores).toMatchObject([{ correct: true, predicted: "18" }]);
  });

  it("reports unknown figures for a remote planner", async () => {
    const roles = {
      planner: { role: createPlanner(), model: ORACLE },
      solver: { role: createSolver(), model: ORACLE },
    };
    const there = await serveRoles({ roles });
    onTestFinished(() => there.close({ graceMs: 0 }));
    const links = { planner: there.urls["planner"] ?? "" };
    const { recording } = await runTestExperiment({
      dataset: selectDatasetSamples(GSM8K, { count: 2 }),
      roleUrls: links,
      planner: { maxTurns: 3 },
    });
    expect(recording.run).toMatchObject({ evidence: "simulated", limits: { deadline_ms: 120_000 } });
    expect(recording.run).not.toHaveProperty("mode");
    const report = buildRunReport(recording);
    expect(report).toMatchObject({ accuracy: { value: 1 }, broken: [], findings: [] });
    expect(report.figures?.solverTasks).toBeUndefined();
    expect(report.unknown).toContain(
      "delegations of the planner: another process recorded them (name its .cards.jsonl, too)",
    );
  });

  it("records the URLs of roles without credentials", async () => {
    const { file, recording } = await runTestExperiment({
      signal: AbortSignal.abort(),
      model: { planner: ORACLE },
      roleUrls: { solver: "https://me:secret@agents.example/solver?key=secret#secret" },
    });
    expect(recording.run?.model["solver"]).toBe("https://agents.example/solver");
    expect(file + readFileSync(file, "utf8")).not.toContain("secret");
  });

  it("accepts remote roles", async () => {
    const solver = await serveRoles({ roles: { solver: { role: createSolver(), model: ORACLE } } });
    onTestFinished(() => solver.close({ graceMs: 0 }));
    const outcome = await runTestExperiment({
      dataset: selectDatasetSamples(GSM8K, { count: 2 }),
      model: { planner: ORACLE },
      roleUrls: { solver: solver.urls["solver"] ?? "" },
    });
    expect(countCorrect(outcome)).toBe(2);
    expect(outcome.recording.run?.model["solver"]).toBe(solver.urls["solver"]);
  });
});

describe("an experiment that is interrupted", () => {
  it("resumes with the open problems only", async () => {
    const out = createTempFolder();
    const stop = new AbortController();
    const seen: ExperimentProgress[] = [];
    const first = await runTestExperiment({
      outputFolder: out,
      concurrency: 2,
      signal: stop.signal,
      onProgress: (progress) => {
        seen.push(progress);
        if (progress.done === 7) stop.abort();
      },
    });
    expect(first.status).toBe("interrupted");
    expect(first.specificationFile).toBeUndefined();
    expect(first.recording.scores).toHaveLength(7);
    // A killed process can leave an incomplete line.
    appendFileSync(first.file, '{"v":1,"kind":"ca');

    await expect(runTestExperiment({ outputFolder: out })).rejects.toThrow("--resume");
    const again = await runTestExperiment({
      outputFolder: out,
      resume: true,
      onProgress: (progress) => seen.push(progress),
    });
    expect(again.status).toBe("completed");
    expect(again.recording.scores.map(({ sample_id }) => sample_id).toSorted()).toEqual(
      GSM8K.samples.map(({ id }) => id).toSorted(),
    );
    expect(again.recording.cards).toHaveLength(120);
    expect(buildRunReport(again.recording).broken).toEqual([]);
    expect(seen.at(-1)).toEqual({ done: 20, total: 20, scored: 13, correct: 13, failed: 0 });
  });

  it("is completed when no problem was left", async () => {
    const stop = new AbortController();
    const dataset = selectDatasetSamples(GSM8K, { count: 2 });
    const onProgress = ({ done }: ExperimentProgress): void => {
      if (done === 2) stop.abort();
    };
    const outcome = await runTestExperiment({ dataset, signal: stop.signal, onProgress });
    expect(outcome.status).toBe("completed");
    expect(outcome.specificationFile).toBeDefined();
  });

  it("resumes only with the same recorded options", async () => {
    const out = createTempFolder();
    const options = { outputFolder: out, dataset: selectDatasetSamples(GSM8K, { count: 2 }) };
    const signal = AbortSignal.abort();
    const first = await runTestExperiment({ ...options, signal, planner: { transcript: "history" } });
    expect(first.status).toBe("interrupted");
    expect(first.recording.run?.options).toEqual({ planner: { transcript: "history" } });
    const resume = (more: Partial<ExperimentOptions>): Promise<ExperimentOutcome> =>
      runTestExperiment({ ...options, resume: true, ...more });
    await expect(resume({})).rejects.toThrow('its options is {"planner":{"transcript":"history"}}');
    await expect(
      resume({ planner: { transcript: "history" }, solver: { maxAnswerTokens: 9 } }),
    ).rejects.toThrow('but this run has {"planner":{"transcript":"history"},"solver":{"maxAnswerTokens":9}}');
    const again = await resume({ planner: { transcript: "history" }, solver: {} });
    expect(again.status).toBe("completed");
  });

  it("by an unreachable model has no scores, stops, and can resume", async () => {
    const out = createTempFolder();
    const asked: string[] = [];
    const gone: RoleModel = {
      id: "oracle",
      evidenceKind: "oracle",
      complete: ({ input }) => {
        asked.push(input.task.metadata.sample_id ?? "");
        return Promise.reject(new Error("connect ECONNREFUSED"));
      },
    };
    const first = await runTestExperiment({
      outputFolder: out,
      model: gone,
      concurrency: 1,
      maxConsecutiveFailures: 3,
    });
    expect(first).toMatchObject({
      status: "failed",
      failureReason: expect.stringContaining("ECONNREFUSED") as string,
      recording: { scores: [] },
    });
    expect(new Set(asked).size).toBe(3);
    const again = await runTestExperiment({ outputFolder: out, resume: true });
    expect(again.status).toBe("completed");
    expect(countCorrect(again)).toBe(20);
  });

  it("by an unreachable solver has no scores, even when the planner answers", async () => {
    const out = createTempFolder();
    const gone = createScriptedModel(() => Promise.reject(new Error("429 Too Many Requests")), {
      id: "oracle",
    });
    const options = {
      outputFolder: out,
      dataset: selectDatasetSamples(GSM8K, { count: 6 }),
      maxConsecutiveFailures: 3,
      concurrency: 1,
    };
    const first = await runTestExperiment({
      ...options,
      model: { planner: ORACLE, solver: { ...gone, evidenceKind: "oracle" } },
    });
    expect(first).toMatchObject({
      status: "failed",
      failureReason: expect.stringContaining("429") as string,
      specificationFile: undefined,
      recording: { scores: [] },
    });
    expect(new Set(first.recording.cards.map(({ metadata }) => metadata.sample_id)).size).toBe(3);
    const again = await runTestExperiment({ ...options, resume: true });
    expect(again.status).toBe("completed");
    expect(countCorrect(again)).toBe(6);
  });

  it("by a temporarily unreachable solver has scores", async () => {
    let calls = 0;
    const flaky: RoleModel = {
      ...ORACLE,
      complete: (request) =>
        request.role === "solver" && ++calls % 2 === 1
          ? Promise.reject(new Error("429 Too Many Requests"))
          : ORACLE.complete(request),
    };
    const outcome = await runTestExperiment({
      dataset: selectDatasetSamples(GSM8K, { count: 5 }),
      model: flaky,
      concurrency: 1,
    });
    expect(outcome.status).toBe("completed");
    expect(countCorrect(outcome)).toBe(5);
  });

  it("by a remote planner whose server stops has no score for the open problem", async () => {
    const solved = Promise.withResolvers<void>();
    const solver = await serveRoles({ roles: { solver: { role: createSolver(), model: ORACLE } } });
    onTestFinished(() => solver.close({ graceMs: 0 }));
    const slow: RoleModel = {
      ...ORACLE,
      complete: async (request) => {
        if (request.input.kind === "plan" && request.input.turn === 2) {
          solved.resolve();
          await new Promise((_, reject) =>
            request.signal.addEventListener("abort", () => reject(request.signal.reason as Error)),
          );
        }
        return ORACLE.complete(request);
      },
    };
    const planner = await serveRoles({
      roles: { planner: { role: createPlanner(), model: slow } },
      roleTargets: solver.urls,
    });
    void solved.promise.then(() => planner.close());
    const outcome = await runTestExperiment({
      dataset: selectDatasetSamples(GSM8K, { count: 1 }),
      roleUrls: { planner: planner.urls["planner"] ?? "", solver: solver.urls["solver"] ?? "" },
    });
    expect(outcome).toMatchObject({ status: "failed", recording: { scores: [] } });
  });

  it("scores a problem at the turn limit as wrong and reports the outcome", async () => {
    const model = withFaults(ORACLE, { loop: true });
    const outcome = await runTestExperiment({ model, dataset: selectDatasetSamples(GSM8K, { count: 2 }) });
    expect(countCorrect(outcome)).toBe(0);
    expect(outcome.status).toBe("completed");
    expect(buildRunReport(outcome.recording).samples.outcomes).toEqual({ turn_limit: 2 });
  });
});
