import { describe, expect, it } from "vitest";
import { type Recording, type RunLine, createRecordingFromCards } from "../recording/index.ts";
import {
  changeLineCards,
  createChangedRecording,
  createScriptedRecording,
} from "../recording/recording.fixture.ts";
import {
  createScriptedSamples,
  type ScriptedCard,
  type ScriptedSample,
} from "../recording/scripted-samples.fixture.ts";
import type { CardTokenUsage } from "../message-card/index.ts";
import { computeCoordinationMetrics, type CoordinationMetrics } from "./comparison-report.ts";
import { buildComparisonReport, computeWilsonInterval } from "./index.ts";

/**
 * Creates a run with `k` chains of thought per problem. `isWrong` selects the problems with a wrong answer.
 */
function createChainOfThoughtRun(
  k: number,
  isWrong: (index: number) => boolean,
  tokens: [number, number] = [86, 200],
  seed?: number,
): Recording {
  const scripts = createScriptedSamples(40).map(
    ({ id, startMs = 0, steps: [task] }, index): ScriptedSample => {
      const steps = Array.from({ length: k }, (_, at) => [
        { from: "controller", to: "solver", name: `q${at}`, content: task?.content ?? "", waitsFor: [] },
        {
          from: "solver",
          to: "controller",
          type: "result",
          inReplyTo: `q${at}`,
          waitsFor: [`q${at}`],
          content: "18",
          workMs: 900,
          tokens,
          metadata: { status: "success" },
        },
      ]).flat();
      return { id, startMs, gold: "18", predicted: isWrong(index) ? "17" : "18", steps };
    },
  );
  const method = k === 1 ? "cot" : `cot-sc@${k}`;
  return createScriptedRecording(scripts, {
    run_id: `chains-${k}`,
    method,
    mode: "",
    context: "",
    ...(seed !== undefined && { seed }),
  });
}

const plannerRun = createScriptedRecording(createScriptedSamples(40), { run_id: "planner" });
const chainOfThoughtRun = createChainOfThoughtRun(1, (index) => index % 4 === 0);

describe("runs that differ only in their seeds", () => {
  it("have one accuracy and one difference, whose intervals regard a problem as one cluster", () => {
    const isWrong = (index: number): boolean => index % 4 === 0;
    const { rows, repeated } = buildComparisonReport([
      createChainOfThoughtRun(1, isWrong, [86, 200], 1),
      createChainOfThoughtRun(1, (index) => isWrong(index) && index < 20, [86, 200], 2),
      createChainOfThoughtRun(3, () => false, [86, 200], 1),
      createChainOfThoughtRun(3, isWrong, [86, 200], 2),
      createChainOfThoughtRun(5, () => false, [86, 200], 1),
    ]);
    expect(rows).toHaveLength(5);
    expect(repeated).toMatchObject([
      { name: "cot", seeds: 2, accuracy: { value: 0.8125 }, difference: undefined },
      { name: "cot-sc@3", seeds: 2, accuracy: { value: 0.875 }, difference: { value: 0.0625 } },
    ]);
    const [{ accuracy } = { accuracy: { low: 0, high: 0 } }] = repeated;
    // 40 problems are more than the problems with independent runs, and less than 80.
    const [clusters, trials] = [computeWilsonInterval(33, 40), computeWilsonInterval(65, 80)];
    expect(accuracy.low).toBeLessThan(trials.low);
    expect(accuracy.low).toBeGreaterThan(clusters.low - 0.02);
  });
});

describe("compared runs", () => {
  it("have accuracy, tokens, turns, and price, each compared with the first run", () => {
    const tariff = { input: 1, output: 5, cached: 0.1 };
    const { rows, ...about } = buildComparisonReport([chainOfThoughtRun, plannerRun], { tariff });
    expect(about).toMatchObject({
      dataset: "gsm8k",
      evidence: "simulated",
      rule: "gsm8k/strict",
      samples: 40,
    });
    expect(rows).toMatchObject([
      {
        name: "cot",
        accuracy: { value: 0.75 },
        tokens: { input: 86, output: 200, cached: 0 },
        turns: undefined,
        against: undefined,
      },
      {
        name: "a2a",
        accuracy: { value: 0.9 },
        tokens: { input: 864, output: 93, cached: 410 },
        turns: 3,
        estimated: false,
        // The baseline fails problems 0, 4, 8, and so on. The planner fails problems 9, 19, 29, and 39.
        against: { onlyThis: 10, onlyOther: 4, tokenRatio: 957 / 286 },
      },
    ]);
    // The planner sends 4 cards to and from the solver for 5 calls. Its 10 % of wrong answers compare to 25 %.
    expect(rows[1]?.coordination.efficiency).toBeCloseTo(0.9 / 0.75 / (957 / 286), 9);
    expect(rows[1]?.coordination.tokenOverhead).toBeCloseTo(957 / 286 - 1, 9);
    expect(rows[1]?.coordination.errorAmplification).toBeCloseTo(0.4, 9);
    expect(rows[0]?.coordination).toMatchObject({
      efficiency: 1,
      tokenOverhead: 0,
      callOverhead: 0,
      redundancy: undefined,
      messageDensity: 0,
    });
    expect(rows[0]?.price).toBeCloseTo((86 + 1_000) / 1e6, 12);
    expect(rows[1]?.price).toBeCloseTo((454 + 41 + 93 * 5) / 1e6, 12);
    expect(rows[1]).toMatchObject({ completed: 40, outcomes: { answered: 40 }, tokensPerCompleted: 957 });
    expect(rows[1]?.tokensPerCorrect).toBeCloseTo(957 / 0.9, 9);
    expect(rows[1]?.against?.difference.value).toBeCloseTo(0.15, 12);
    expect(rows[1]?.against?.p.exact).toBeCloseTo(0.1796, 4);
  });

  it("are rejected if they are not comparable", () => {
    const oracle = createScriptedRecording(createScriptedSamples(40), { evidence: "oracle" });
    expect(() => buildComparisonReport([chainOfThoughtRun, oracle])).toThrow(
      "their evidence differs: simulated and oracle",
    );
    const fewer = createScriptedRecording(createScriptedSamples(39));
    expect(() => buildComparisonReport([chainOfThoughtRun, fewer])).toThrow("only one of them has gsm8k_39");
    expect(() => buildComparisonReport([chainOfThoughtRun, createScriptedRecording([])])).toThrow(
      "only one of them has",
    );
    expect(() => buildComparisonReport([createScriptedRecording([]), createScriptedRecording([])])).toThrow(
      "it has no scored samples",
    );
    expect(() => buildComparisonReport([])).toThrow("name at least two runs");
    expect(() => buildComparisonReport([createRecordingFromCards([])])).toThrow(
      "These cards have no record of the run.",
    );
  });

  it.each<[string, Partial<RunLine>]>([
    ["their dataset differs: gsm8k and hotpotqa", { dataset: "hotpotqa" }],
    ["their rule differs: gsm8k/strict and exact", { rule: "exact" }],
  ])("are rejected: %s", (message, change) => {
    const other = createScriptedRecording(createScriptedSamples(40), { run_id: "other", ...change });
    expect(() => buildComparisonReport([plannerRun, other])).toThrow(message);
    expect(() => buildComparisonReport([plannerRun, chainOfThoughtRun, other])).toThrow(message);
  });

  it.each([
    ["another correct answer", { gold: "3", content: undefined }],
    ["another text", { gold: undefined, content: "How much?" }],
  ])("are rejected if a problem has %s", (_, { gold, content }) => {
    const scripts = createScriptedSamples(40).map(({ steps: [first, ...others], ...script }) => ({
      ...script,
      gold: script.id === "gsm8k_3" ? (gold ?? script.gold) : script.gold,
      steps: [
        { ...(first as ScriptedCard), ...(script.id === "gsm8k_3" && content && { content }) },
        ...others,
      ],
    }));
    expect(() => buildComparisonReport([plannerRun, createScriptedRecording(scripts)])).toThrow(
      "gsm8k_3 is another problem in each of them. To do: run both on the same data.",
    );
  });

  it("are comparable if one of them replays recorded answers of a model", () => {
    const [live, replayed] = (["live-model", "recorded-model"] as const).map((evidence) =>
      createScriptedRecording(createScriptedSamples(40), { run_id: evidence, evidence }),
    );
    expect(live && replayed && buildComparisonReport([live, replayed]).samples).toBe(40);
  });

  it("have a token ratio over the problems that both completed, because failures are cheap", () => {
    const failFirst = (count: number): Recording =>
      createChangedRecording(
        (line) =>
          line.kind === "score" && Number(line.sample_id.replace("gsm8k_", "")) < count
            ? { ...line, correct: false, outcome: "invalid_action" }
            : line,
        createScriptedSamples(40),
        { run_id: "planner" },
      );
    const computeRatio = (count: number): number | undefined =>
      buildComparisonReport([chainOfThoughtRun, failFirst(count)]).rows[1]?.against?.tokenRatio;
    expect(computeRatio(10)).toBeCloseTo(957 / 286, 12);
    expect(computeRatio(40)).toBeUndefined();
  });

  it("have lower bounds for the tokens if a card has unknown tokens, and mark estimates", () => {
    const changeUsage = (
      change: (usage: CardTokenUsage, id: string | undefined) => CardTokenUsage,
    ): Recording =>
      createChangedRecording(
        (line) =>
          changeLineCards(line, (card) => {
            const { usage, card_id } = card.metadata;
            const metadata = { ...card.metadata, ...(usage && { usage: change(usage, card_id) }) };
            return { ...card, metadata };
          }),
        createScriptedSamples(40),
        { run_id: "planner" },
      );
    const id = plannerRun.cards.find(({ metadata }) => metadata.usage)?.metadata.card_id;
    const unknown = changeUsage((usage, cardId) =>
      cardId === id ? { input_tokens: 0, output_tokens: 0, source: "none" } : usage,
    );
    const report = buildComparisonReport([chainOfThoughtRun, unknown], { tariff: { input: 1, output: 1 } });
    const [, row] = report.rows;
    expect(row).toMatchObject({ unknownCards: 1 });
    expect(row?.totalTokens).toBeLessThan(957);
    expect(row?.totalTokens).toBeGreaterThan(957 - 957 / 40);
    expect(row?.against?.tokenRatio).toBeUndefined();
    expect(report.budgets).toEqual([]);
    const guessed = changeUsage((usage) => ({ ...usage, source: "estimated" }));
    expect(buildComparisonReport([guessed]).rows[0]?.estimated).toBe(true);
    const none = changeUsage(() => ({ input_tokens: 0, output_tokens: 0, source: "none" }));
    expect(buildComparisonReport([none]).rows[0]).toMatchObject({ tokens: undefined, price: undefined });
  });

  it("exclude the problems that a run skipped, and count them", () => {
    const skipped = createChangedRecording(
      (line) => {
        if (line.kind !== "score" || !["gsm8k_0", "gsm8k_1"].includes(line.sample_id)) return line;
        const { v, writer, seq, at, mono_ms, run_id, sample_id } = line;
        const error = "The provider answered 400";
        return { v, kind: "skip", writer, seq, at, mono_ms, run_id, sample_id, error };
      },
      createScriptedSamples(40),
      { run_id: "planner" },
    );
    const report = buildComparisonReport([chainOfThoughtRun, skipped]);
    expect(report).toMatchObject({ samples: 38, skipped: 2 });
    expect(report.rows[1]?.accuracy.value).toBeCloseTo(34 / 38, 12);
  });

  it("include the additional measures of the dataset", () => {
    const withF1 = (f1: number): Recording =>
      createScriptedRecording(
        createScriptedSamples(20).map((script) => ({ ...script, measures: { f1, em: 1 } })),
      );
    const [first, second] = buildComparisonReport([withF1(0.5), withF1(0.75)]).rows;
    expect(first?.measures["f1"]).toBeCloseTo(0.5, 12);
    expect(second?.measures).toEqual({ f1: expect.closeTo(0.75, 12), em: 1 });
  });

  it("have names that show their differences", () => {
    const again = createScriptedRecording(createScriptedSamples(40), { run_id: "again", mode: "parallel" });
    expect(
      buildComparisonReport([plannerRun, again, chainOfThoughtRun]).rows.map(({ name }) => name),
    ).toEqual(["a2a chained", "a2a parallel", "cot"]);
    expect(buildComparisonReport([plannerRun, plannerRun]).rows[0]?.name).toContain("planner");
  });
});

describe("with equal token budgets", () => {
  it("a run is compared with chains of thought of the same budget", () => {
    const three = createChainOfThoughtRun(3, (index) => index % 8 === 0);
    expect(buildComparisonReport([chainOfThoughtRun, three, plannerRun]).budgets).toMatchObject([
      { name: "a2a", tokens: 957, other: "cot-sc@3", otherTokens: 858, against: {}, missing: undefined },
    ]);
  });

  it("a missing baseline is named", () => {
    expect(buildComparisonReport([chainOfThoughtRun, plannerRun]).budgets).toEqual([
      { name: "a2a", tokens: 957, other: "cot", otherTokens: 286, against: undefined, missing: "cot-sc@3" },
    ]);
    const expensive = createChainOfThoughtRun(1, () => false, [86, 5_000]);
    expect(buildComparisonReport([expensive, plannerRun]).budgets).toMatchObject([
      { against: undefined, missing: undefined },
    ]);
    expect(buildComparisonReport([plannerRun]).budgets).toEqual([]);
  });
});

it("knows no calls of a run whose roles other processes record", () => {
  const { samples } = createScriptedRecording();
  const elsewhere = createChangedRecording((line) => (line.kind === "model" ? undefined : line)).samples;
  const compute = (run: typeof samples): CoordinationMetrics =>
    computeCoordinationMetrics(
      { samples: run, accuracy: 1, tokens: undefined },
      { samples, accuracy: 1, tokens: undefined },
    );
  expect(compute(elsewhere)).toMatchObject({ callOverhead: undefined, messageDensity: undefined });
  expect(compute(samples).callOverhead).toBe(0);
});
