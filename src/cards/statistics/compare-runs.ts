import { A2AError } from "../../protocol/index.ts";
import type { AnswerSourceKind } from "../recording/index.ts";
import { computeNewcombeInterval } from "./newcombe-interval.ts";
import { computePairedBootstrap } from "./paired-bootstrap.ts";
import { computeMcNemarTest, type McNemarResult } from "./mcnemar.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** Run with the scores and token counts of its problems. */
export interface ScoredRun {
  /** Name of the run's method, as shown in tables. */
  readonly name: string;
  readonly dataset: string;
  readonly evidence: AnswerSourceKind;
  /** Name of the scorer, for example `number`. */
  readonly rule: string;
  /** Scored problems by problem ID. */
  readonly samples: ReadonlyMap<string, SampleScoreAndTokens>;
  /**
   * IDs of the problems that the run skipped because of an error. A comparison excludes problems that any of
   * its runs skipped. Default: none.
   */
  readonly skipped?: ReadonlySet<string>;
}

/** Score and token count of a problem. */
interface SampleScoreAndTokens {
  readonly correct: boolean;
  /** Correct answer of the dataset. */
  readonly gold: string;
  /** Text of the problem, or `undefined` if the record does not contain the problem. */
  readonly question: string | undefined;
  /** Whether the method gave an answer, which may be wrong. */
  readonly isCompleted: boolean;
  /**
   * Number of input and output tokens of all message cards, or `undefined` if the tokens of a message card
   * are unknown.
   */
  readonly tokens: number | undefined;
}

/** Comparison of two runs on the same problems. */
export interface RunComparison {
  readonly samples: number;
  readonly first: IntervalEstimate;
  readonly second: IntervalEstimate;
  /** Number of problems that only the first run solved. */
  readonly onlyFirst: number;
  /** Number of problems that only the second run solved. */
  readonly onlySecond: number;
  readonly p: McNemarResult;
  /** Accuracy of the second run minus accuracy of the first run. */
  readonly difference: IntervalEstimate;
  /**
   * Token count of the second run divided by the token count of the first run, over the problems that both
   * runs completed. Otherwise, a method that fails early would look cheap. The ratio is `undefined` if no such
   * problem exists or if the token count of such a problem is missing.
   */
  readonly tokenRatio: IntervalEstimate | undefined;
}

/**
 * Compares two runs problem by problem. Problems that one of the runs skipped are excluded.
 * Throws INVALID_PARAMS if the runs differ in evidence, dataset, scorer, or problems, because comparing
 * such runs is misleading.
 */
export function compareRuns(firstRun: ScoredRun, secondRun: ScoredRun): RunComparison {
  const [first = firstRun, second = secondRun] = excludeSkippedSamples([firstRun, secondRun]);
  assertComparableRuns([first, second]);
  const pairs = [...first.samples].flatMap(([id, sample]) => {
    const other = second.samples.get(id);
    return other ? [[sample, other] as const] : [];
  });
  const onlyFirst = pairs.filter(([a, b]) => a.correct && !b.correct).length;
  const onlySecond = pairs.filter(([a, b]) => !a.correct && b.correct).length;
  return {
    samples: pairs.length,
    first: computeWilsonInterval(pairs.filter(([a]) => a.correct).length, pairs.length),
    second: computeWilsonInterval(pairs.filter(([, b]) => b.correct).length, pairs.length),
    onlyFirst,
    onlySecond,
    p: computeMcNemarTest(onlyFirst, onlySecond),
    difference: computeNewcombeInterval(pairs.map(([a, b]) => [a.correct, b.correct])),
    tokenRatio: computeRunTokenRatio(pairs),
  };
}

/** Returns the runs without the problems that any of the runs skipped. */
export function excludeSkippedSamples(runs: readonly ScoredRun[]): ScoredRun[] {
  const skipped = new Set(runs.flatMap((run) => [...(run.skipped ?? [])]));
  if (skipped.size === 0) return [...runs];
  return runs.map((run) => ({
    ...run,
    samples: new Map([...run.samples].filter(([id]) => !skipped.has(id))),
  }));
}

const MODEL_EVIDENCE: ReadonlySet<string> = new Set<AnswerSourceKind>(["live-model", "recorded-model"]);

/** Throws INVALID_PARAMS with the reason if the runs are not comparable. */
export function assertComparableRuns(runs: readonly ScoredRun[]): void {
  const [first, ...others] = runs;
  if (!first) return;
  if (first.samples.size === 0)
    throw createIncomparableRunsError(first, first, "it has no scored samples", "score the run first");
  for (const other of others) {
    for (const aspect of ["evidence", "dataset", "rule"] as const)
      // The recorded answers of a model are answers of a model, too.
      if (
        first[aspect] !== other[aspect] &&
        !(aspect === "evidence" && [first, other].every(({ evidence }) => MODEL_EVIDENCE.has(evidence)))
      )
        throw createIncomparableRunsError(
          first,
          other,
          `their ${aspect} differs: ${first[aspect]} and ${other[aspect]}`,
          `compare runs of one ${aspect}`,
        );
    const missing =
      [...first.samples.keys()].find((id) => !other.samples.has(id)) ??
      [...other.samples.keys()].find((id) => !first.samples.has(id));
    if (missing !== undefined)
      throw createIncomparableRunsError(
        first,
        other,
        `only one of them has ${missing}`,
        "run both on the same samples",
      );
    for (const [id, { gold, question }] of first.samples) {
      const sample = other.samples.get(id);
      const isOther =
        sample &&
        (sample.gold !== gold ||
          (question !== undefined && sample.question !== undefined && sample.question !== question));
      if (isOther)
        throw createIncomparableRunsError(
          first,
          other,
          `${id} is another problem in each of them`,
          "run both on the same data",
        );
    }
  }
}

function computeRunTokenRatio(
  pairs: readonly (readonly [SampleScoreAndTokens, SampleScoreAndTokens])[],
): IntervalEstimate | undefined {
  const completed = pairs.filter(([a, b]) => a.isCompleted && b.isCompleted);
  const known = completed.flatMap(([{ tokens: a }, { tokens: b }]) =>
    a === undefined || b === undefined ? [] : [[a, b] as const],
  );
  // A resample could contain only problems without tokens, which would make the ratio infinite.
  if (known.length === 0 || known.length < completed.length || known.some(([a]) => a <= 0)) return undefined;
  return computePairedBootstrap(known, (a, b) => b / a);
}

function createIncomparableRunsError(
  first: ScoredRun,
  other: ScoredRun,
  why: string,
  action: string,
): A2AError {
  const names = first === other ? first.name : `${first.name} and ${other.name}`;
  return new A2AError("INVALID_PARAMS", `Cannot compare ${names}: ${why}. To do: ${action}.`);
}
