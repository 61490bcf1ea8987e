import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { CONTROLLER } from "../message-card/index.ts";
import type { AnswerSourceKind, Recording, RecordedSample, RunLine, ScoreLine } from "../recording/index.ts";
import {
  computeMean,
  computeMeasureMeans,
  countBy,
  sumBy,
  computeClusteredDifference,
  computeClusteredInterval,
  computeMcNemarTest,
  computeNewcombeInterval,
  computeWilsonInterval,
  type IntervalEstimate,
  type McNemarResult,
  getScoreOutcome,
  isAnsweredOutcome,
} from "./intervals.ts";
import { summarizeTokens, computeTokenPrice, type TokenTariff, type TokenCounts } from "./card-statistics.ts";

/** Comparison of several runs on the same problems. */
export interface ComparisonReport {
  readonly dataset: string;
  readonly evidence: string;
  readonly rule: string;
  /** Number of problems that every run scored. */
  readonly samples: number;
  /** Number of problems that the comparison excludes, because a run skipped them after an error. */
  readonly skipped: number;
  readonly rows: readonly ComparedRunStatistics[];
  readonly budgets: readonly EqualTokenBudgetComparison[];
  /** Runs that differ only in their seeds. The first entry with the method of the first row is the baseline. */
  readonly repeated: readonly RepeatedRunStatistics[];
}

/** Statistics of runs that differ only in their seeds. Intervals regard the runs of a problem as one cluster. */
interface RepeatedRunStatistics {
  readonly name: string;
  readonly seeds: number;
  readonly accuracy: IntervalEstimate;
  /** Difference from the runs of the first row, or `undefined` for them or if they have another number of seeds. */
  readonly difference: IntervalEstimate | undefined;
}

/** Statistics of one run in a comparison. */
interface ComparedRunStatistics {
  /**
   * Unique name of the run. If several runs have the same method, the name also contains the mode, context,
   * models, or run ID.
   */
  readonly name: string;
  readonly run_id: string;
  readonly accuracy: IntervalEstimate;
  /** Mean of each additional dataset measure. */
  readonly measures: Readonly<Record<string, number>>;
  /** Number of problems by outcome, such as `answered`, `no_answer`, `timeout`, or `truncated`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Number of problems with an answer, which may be wrong. */
  readonly completed: number;
  /**
   * Mean token counts per problem, or `undefined` if no message card reports tokens. If `unknownCards` is
   * greater than 0, the token counts and all figures that depend on them are lower bounds.
   */
  readonly tokens: TokenCounts | undefined;
  /** Mean number of input and output tokens per problem. */
  readonly totalTokens: number | undefined;
  /** Number of message cards with unknown tokens. */
  readonly unknownCards: number;
  /** Whether some token counts are estimates. */
  readonly estimated: boolean;
  /** Mean number of planner turns, over the problems with recorded turns. */
  readonly turns: number | undefined;
  /** Mean price per problem according to the tariff. */
  readonly price: number | undefined;
  /** All tokens of the run divided by the number of problems with an answer. */
  readonly tokensPerCompleted: number | undefined;
  /** All tokens of the run divided by the number of correct answers. */
  readonly tokensPerCorrect: number | undefined;
  /** Coordination of the roles, relative to the run of the first row. */
  readonly coordination: CoordinationMetrics;
  /** Comparison with the run of the first row, or `undefined` for the first row. */
  readonly against: BaselineComparison | undefined;
}

/** Comparison of a run with a baseline run, problem by problem. */
export interface BaselineComparison {
  /** Accuracy of the run minus accuracy of the baseline. */
  readonly difference: IntervalEstimate;
  /** Number of problems that the run solved and the baseline did not. */
  readonly onlyThis: number;
  /** Number of problems that the baseline solved and the run did not. */
  readonly onlyOther: number;
  readonly p: McNemarResult;
  /**
   * Token count of the run divided by the token count of the baseline, over the problems that both completed. Otherwise,
   * a method that fails early would look cheap. `undefined` if no such problem exists, or if its tokens are unknown.
   */
  readonly tokenRatio: number | undefined;
}

/**
 * Comparison of a run with a majority vote over chains of thought. Both runs have about the same token
 * budget. A larger token budget alone can increase accuracy, so a comparison with a single chain of thought
 * is not sufficient.
 */
interface EqualTokenBudgetComparison {
  readonly name: string;
  /** Mean number of tokens per problem. */
  readonly tokens: number;
  /**
   * Name of the chain-of-thought run with the most similar token budget. Token budgets that differ by at most
   * 25 % are treated as equal.
   */
  readonly other: string;
  readonly otherTokens: number;
  /** Comparison with the chain-of-thought run, or `undefined` if the token budgets are not equal. */
  readonly against: BaselineComparison | undefined;
  /** Chain-of-thought method whose run would have an equal token budget, for example `cot-sc@7`. */
  readonly missing: string | undefined;
}

/** Options of `buildComparisonReport`. */
export interface ComparisonReportOptions {
  /** Prices of tokens. The report contains no price if `tariff` is absent. */
  readonly tariff?: TokenTariff;
}

const assertKnownOptions = defineOptionNames<ComparisonReportOptions>()("buildComparisonReport", "tariff");

/** A run with its scored problems by their IDs. */
interface ScoredRun {
  readonly name: string;
  readonly run: RunLine;
  readonly samples: ReadonlyMap<string, ScoredSample>;
}

type ScoredSample = RecordedSample & { readonly score: ScoreLine };

interface ComparedRun extends ScoredRun {
  readonly row: Omit<ComparedRunStatistics, "against" | "coordination">;
  /** Mean number of tokens per problem, or `undefined` if it is 0 or only a lower bound. */
  readonly tokens: number | undefined;
}

/**
 * Compares each run with the first run. Problems that one of the runs skipped are excluded. Throws INVALID_PARAMS if the
 * runs differ in evidence, dataset, scorer, or problems, because comparing such runs is misleading, or if a recording
 * has no run line.
 */
export function buildComparisonReport(
  recordings: readonly Recording[],
  options: ComparisonReportOptions = {},
): ComparisonReport {
  assertKnownOptions(options);
  const names = createUniqueRunNames(recordings);
  const skipped = new Set(recordings.flatMap(({ skips }) => skips.map(({ sample_id }) => sample_id)));
  const scored = recordings.map((recording, index) => toScoredRun(recording, names[index] ?? "", skipped));
  assertComparableRuns(scored);
  const runs = scored.map((run) => toComparedRun(run, options.tariff));
  const [first] = runs;
  if (!first) throw new A2AError("INVALID_PARAMS", "Nothing to compare. To do: name at least two runs.");
  const { dataset, evidence, rule } = first.run;
  return {
    dataset,
    evidence,
    rule,
    samples: first.samples.size,
    skipped: skipped.size,
    rows: runs.map((run) => ({
      ...run.row,
      coordination: computeCoordinationMetrics(toCoordinatedRun(run), toCoordinatedRun(first)),
      against: run === first ? undefined : compareWithBaseline(first, run),
    })),
    budgets: runs.flatMap((run) => findEqualTokenBudgetComparison(run, runs) ?? []),
    repeated: summarizeRepeatedRuns(runs),
  };
}

function toScoredRun(
  { run, samples }: Recording,
  name: string,
  skipped: ReadonlySet<string | undefined>,
): ScoredRun {
  if (!run)
    throw new A2AError(
      "INVALID_PARAMS",
      "These cards have no record of the run. To do: name the file in which the run was recorded.",
    );
  const scored = samples.filter(
    (sample): sample is ScoredSample => sample.score !== undefined && !skipped.has(sample.id),
  );
  return { name, run, samples: new Map(scored.map((sample) => [sample.id ?? "", sample])) };
}

function toComparedRun(run: ScoredRun, tariff: TokenTariff | undefined): ComparedRun {
  const samples = [...run.samples.values()];
  const scores = samples.map(({ score }) => score);
  const count = samples.length;
  const { sum, total, estimated, unknownCards, isReported } = summarizeTokens(
    samples.flatMap(({ cards }) => cards),
  );
  const tokens = isReported
    ? {
        input: sum.input / count,
        output: sum.output / count,
        cached: sum.cached / count,
        reasoning: sum.reasoning / count,
      }
    : undefined;
  const completed = samples.filter(isCompleted).length;
  const correct = scores.filter((score) => score.correct).length;
  const turns = scores.flatMap((score) => score.turns ?? []);
  return {
    ...run,
    tokens: !isReported || total === 0 || unknownCards > 0 ? undefined : total / count,
    row: {
      name: run.name,
      run_id: run.run.run_id,
      accuracy: computeWilsonInterval(correct, count),
      measures: computeMeasureMeans(scores),
      outcomes: countBy(scores, getScoreOutcome),
      completed,
      tokens,
      totalTokens: isReported ? total / count : undefined,
      unknownCards,
      estimated: estimated > 0,
      turns: turns.length > 0 ? computeMean(turns) : undefined,
      price: tokens && tariff && computeTokenPrice(tokens, tariff),
      tokensPerCompleted: isReported && completed > 0 ? total / completed : undefined,
      tokensPerCorrect: isReported && correct > 0 ? total / correct : undefined,
    },
  };
}

function summarizeRepeatedRuns(runs: readonly ScoredRun[]): RepeatedRunStatistics[] {
  const groups = [...Map.groupBy(runs, ({ run }) => describeWithoutSeed(run)).values()];
  const ids = [...(runs[0]?.samples.keys() ?? [])];
  const summaries = groups.map((group) => ({
    name: joinWords([group[0]?.run.method ?? "", group[0]?.run.mode ?? ""], 2),
    seeds: group.length,
    shares: ids.map((id) =>
      computeMean(group.map(({ samples }) => (samples.get(id)?.score.correct ? 1 : 0))),
    ),
  }));
  const [baseline] = summaries;
  return summaries.flatMap(({ shares, ...summary }) => {
    if (summary.seeds < 2) return [];
    const isComparable =
      baseline !== undefined && baseline.shares !== shares && baseline.seeds === summary.seeds;
    return {
      ...summary,
      accuracy: computeClusteredInterval(shares, summary.seeds),
      difference: isComparable
        ? computeClusteredDifference(baseline.shares, shares, summary.seeds)
        : undefined,
    };
  });
}

/** Returns the description of an experiment, which is equal for runs with other seeds. */
function describeWithoutSeed(run: RunLine): string {
  return JSON.stringify({ ...run, run_id: "", at: "", writer: "", seq: 0, mono_ms: 0, code: "", seed: 0 });
}

function isCompleted({ score }: ScoredSample): boolean {
  return isAnsweredOutcome(getScoreOutcome(score));
}

function toCoordinatedRun({
  samples,
  row,
  tokens,
}: ComparedRun): Parameters<typeof computeCoordinationMetrics>[0] {
  return { samples: [...samples.values()], accuracy: row.accuracy.value, tokens };
}

function compareWithBaseline(baseline: ScoredRun, run: ScoredRun): BaselineComparison {
  const pairs = [...run.samples].flatMap(([id, sample]) => {
    const other = baseline.samples.get(id);
    return other ? [[other, sample] as const] : [];
  });
  const correct = pairs.map(([other, sample]) => [other.score.correct, sample.score.correct] as const);
  const onlyThis = correct.filter(([other, own]) => own && !other).length;
  const onlyOther = correct.filter(([other, own]) => other && !own).length;
  const completed = pairs.filter((pair) => pair.every(isCompleted));
  const [otherTokens, tokens] = [0, 1].map((side) => sumKnownTokens(completed.map((pair) => pair[side]!)));
  return {
    difference: computeNewcombeInterval(correct),
    onlyThis,
    onlyOther,
    p: computeMcNemarTest(onlyThis, onlyOther),
    tokenRatio: otherTokens === undefined || tokens === undefined ? undefined : tokens / otherTokens,
  };
}

/** Returns the tokens of several problems, or `undefined` if they are 0 or if the tokens of a problem are unknown. */
function sumKnownTokens(samples: readonly RecordedSample[]): number | undefined {
  const summaries = samples.map(({ cards }) => summarizeTokens(cards));
  const isKnown = summaries.every(({ isReported, unknownCards }) => isReported && unknownCards === 0);
  return (isKnown && sumBy(summaries, ({ total }) => total)) || undefined;
}

const MODEL_EVIDENCE: ReadonlySet<string> = new Set<AnswerSourceKind>(["live-model", "recorded-model"]);

/** Throws INVALID_PARAMS with the reason if the runs are not comparable. */
function assertComparableRuns(runs: readonly ScoredRun[]): void {
  const [first, ...others] = runs;
  if (!first) return;
  if (first.samples.size === 0)
    throw createIncomparableRunsError([first], "it has no scored samples", "score the run first");
  for (const other of others) {
    const fail = (why: string, action: string): never => {
      throw createIncomparableRunsError([first, other], why, action);
    };
    for (const aspect of ["evidence", "dataset", "rule"] as const) {
      const values = [first.run[aspect], other.run[aspect]];
      // The recorded answers of a model are answers of a model, too.
      if (values[0] === values[1] || values.every((value) => MODEL_EVIDENCE.has(value))) continue;
      fail(`their ${aspect} differs: ${values.join(" and ")}`, `compare runs of one ${aspect}`);
    }
    const missing =
      [...first.samples.keys()].find((id) => !other.samples.has(id)) ??
      [...other.samples.keys()].find((id) => !first.samples.has(id));
    if (missing !== undefined) fail(`only one of them has ${missing}`, "run both on the same samples");
    for (const [id, sample] of first.samples)
      if (!isSameProblem(sample, other.samples.get(id) as ScoredSample))
        fail(`${id} is another problem in each of them`, "run both on the same data");
  }
}

/** A record without the cards of a problem lacks its text. */
function isSameProblem(a: ScoredSample, b: ScoredSample): boolean {
  const [first, second] = [a, b].map(
    ({ cards }) => cards.find(({ sender }) => sender === CONTROLLER)?.content,
  );
  return a.score.gold === b.score.gold && (first === undefined || second === undefined || first === second);
}

function createIncomparableRunsError(runs: readonly ScoredRun[], why: string, action: string): A2AError {
  const names = runs.map(({ name }) => name).join(" and ");
  return new A2AError("INVALID_PARAMS", `Cannot compare ${names}: ${why}. To do: ${action}.`);
}

/** Maximum ratio of two token budgets that are treated as equal. */
const MAX_EQUAL_TOKEN_BUDGET_RATIO = 1.25;

function findEqualTokenBudgetComparison(
  run: ComparedRun,
  runs: readonly ComparedRun[],
): EqualTokenBudgetComparison | undefined {
  const { tokens } = run;
  const chains = runs.flatMap((other) => {
    const voters = parseVoterCount(other);
    return voters === undefined || other.tokens === undefined ? [] : { other, voters, total: other.tokens };
  });
  if (tokens === undefined || parseVoterCount(run) !== undefined || chains.length === 0) return undefined;
  const getDistance = (total: number): number => Math.abs(Math.log(total / tokens));
  const nearest = chains.reduce((best, chain) =>
    getDistance(chain.total) < getDistance(best.total) ? chain : best,
  );
  const isEqual = getDistance(nearest.total) <= Math.log(MAX_EQUAL_TOKEN_BUDGET_RATIO);
  const fitting = Math.round(tokens / (nearest.total / nearest.voters));
  return {
    name: run.name,
    tokens,
    other: nearest.other.name,
    otherTokens: nearest.total,
    against: isEqual ? compareWithBaseline(nearest.other, run) : undefined,
    missing: isEqual || fitting <= 1 ? undefined : `cot-sc@${fitting}`,
  };
}

/** Returns the number of chains of thought in a `cot` or `cot-sc@k` method, or `undefined` for other methods. */
function parseVoterCount({ run }: ScoredRun): number | undefined {
  const found = /^cot(?:-sc@([1-9]\d{0,4}))?$/.exec(run.method);
  return found ? Number(found[1] ?? 1) : undefined;
}

/**
 * Returns a unique name for each run. The name contains the method and, if necessary, the mode, context,
 * models, and run ID.
 */
function createUniqueRunNames(recordings: readonly Recording[]): string[] {
  const words = recordings.map(({ run }) => [
    run?.method ?? "cards",
    run?.mode ?? "",
    run?.context ?? "",
    [...new Set(Object.values(run?.model ?? {}))].join("+"),
    run?.run_id ?? "",
  ]);
  return words.map((parts) => {
    const size = [1, 2, 3, 4].find(
      (size) => words.filter((other) => joinWords(other, size) === joinWords(parts, size)).length === 1,
    );
    return joinWords(parts, size ?? parts.length);
  });
}

function joinWords(words: readonly string[], count: number): string {
  return words
    .slice(0, count)
    .filter((word) => word !== "")
    .join(" ");
}

/**
 * Costs and gains of the coordination of several roles, relative to a baseline run on the same problems. The
 * definitions are our own. `undefined` means that the figure cannot be computed.
 */
export interface CoordinationMetrics {
  /** Accuracy for each token, divided by that of the baseline. Above 1, coordination pays for its tokens. */
  readonly efficiency: number | undefined;
  /** Additional tokens for each problem, as a fraction of the tokens of the baseline. */
  readonly tokenOverhead: number | undefined;
  /** Additional model calls for each problem, as a fraction of the calls of the baseline. */
  readonly callOverhead: number | undefined;
  /** Fraction of wrong answers, divided by that of the baseline. Above 1, coordination adds errors. */
  readonly errorAmplification: number | undefined;
  /**
   * Mean similarity of each subtask to the most similar earlier subtask of the same problem: the common words divided
   * by all words of both. A problem with one subtask is not counted.
   */
  readonly redundancy: number | undefined;
  /** Number of message cards between roles, without those of the controller, for each model call. */
  readonly messageDensity: number | undefined;
}

/** The figures of a run that the metrics need. */
interface CoordinatedRun {
  readonly samples: readonly RecordedSample[];
  readonly accuracy: number;
  /** Mean tokens of a problem, or `undefined` if they are unknown or only a lower bound. */
  readonly tokens: number | undefined;
}

export function computeCoordinationMetrics(
  run: CoordinatedRun,
  baseline: CoordinatedRun,
): CoordinationMetrics {
  const tokenRatio = divide(run.tokens, baseline.tokens);
  const callsPerProblem = countCallsPerProblem(run);
  const callRatio = divide(callsPerProblem, countCallsPerProblem(baseline));
  const similarities = run.samples.flatMap(({ cards }) =>
    computeTaskSimilarities(cards.filter(isSubtask).map(({ content }) => content)),
  );
  const between = run.samples.flatMap(({ cards }) => cards.filter(isBetweenRoles)).length;
  const cardsPerProblem = divide(between, run.samples.length);
  return {
    efficiency: divide(divide(run.accuracy, baseline.accuracy), tokenRatio),
    tokenOverhead: tokenRatio === undefined ? undefined : tokenRatio - 1,
    callOverhead: callRatio === undefined ? undefined : callRatio - 1,
    errorAmplification: divide(1 - run.accuracy, 1 - baseline.accuracy),
    redundancy: similarities.length > 0 ? computeMean(similarities) : undefined,
    messageDensity: divide(cardsPerProblem, callsPerProblem),
  };
}

function isBetweenRoles({ sender, recipient }: RecordedSample["cards"][number]): boolean {
  return sender !== CONTROLLER && recipient !== CONTROLLER;
}

/** Returns whether a card is a subtask in its first attempt. */
function isSubtask(card: RecordedSample["cards"][number]): boolean {
  return card.message_type === "task" && isBetweenRoles(card) && (card.metadata.attempt ?? 1) === 1;
}

/** Returns the similarity of each text, except for the first, to the most similar earlier text. */
function computeTaskSimilarities(texts: readonly string[]): number[] {
  const words = texts.map((text) => new Set(tokenizeWords(text)));
  return words.slice(1).map((current, index) =>
    Math.max(
      ...words.slice(0, index + 1).map((earlier) => {
        const common = [...current].filter((word) => earlier.has(word)).length;
        const all = current.size + earlier.size - common;
        return all === 0 ? 1 : common / all;
      }),
    ),
  );
}

/** Returns the number of model calls of a problem, or `undefined` if another process records the calls of a role. */
function countCallsPerProblem({ samples }: CoordinatedRun): number | undefined {
  const calls = samples.flatMap((sample) => sample.calls);
  const recorded = new Set([CONTROLLER, ...calls.map(({ role }) => role)]);
  const isRecorded = samples.every(({ cards }) => cards.every(({ sender }) => recorded.has(sender)));
  return isRecorded ? divide(calls.length, samples.length) : undefined;
}

function divide(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || b === 0 ? undefined : a / b;
}

/** Returns the words of a text in lower case and without English stop words. */
function tokenizeWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word));
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a also an and are as at be been being but by did do does for from had has have how in is it its not of on or " +
    "than that the these this those to was were what when where which who whom whose with"
  ).split(" "),
);
