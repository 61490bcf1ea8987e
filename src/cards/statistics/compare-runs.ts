import { A2AError } from "../../protocol/index.ts";
import type { EvidenceKind } from "../recording/index.ts";
import { computePairedBootstrap, type BootstrapOptions } from "./paired-bootstrap.ts";
import { computeMcNemarTest, type McNemarResult } from "./mcnemar.ts";
import { computeWilsonInterval, type IntervalEstimate } from "./wilson-interval.ts";

/** A run, scored. */
export interface ScoredRun {
  /** Its method, as it is called in tables. */
  readonly name: string;
  readonly dataset: string;
  readonly evidence: EvidenceKind;
  /** The rule that scored it, for example `gsm8k/strict`. */
  readonly rule: string;
  /** By sample id. */
  readonly samples: ReadonlyMap<string, ScoredSample>;
}

export interface ScoredSample {
  readonly correct: boolean;
  /** Of all its model calls, input and output; `undefined` where a call told none. */
  readonly tokens: number | undefined;
}

export interface RunComparison {
  readonly samples: number;
  readonly first: IntervalEstimate;
  readonly second: IntervalEstimate;
  /** Samples that only one of the two solved. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  readonly p: McNemarResult;
  /** Accuracy of the second minus that of the first. */
  readonly difference: IntervalEstimate;
  /** Tokens of the second by those of the first; `undefined` unless both know them for every sample. */
  readonly tokenRatio: IntervalEstimate | undefined;
}

/**
 * Two runs, problem by problem. Refuses runs of different evidence, datasets, rules or problems: such numbers beside
 * each other look like a result and are none.
 */
export function compareRuns(
  first: ScoredRun,
  second: ScoredRun,
  options: BootstrapOptions = {},
): RunComparison {
  assertComparableRuns([first, second]);
  const pairs = [...first.samples].flatMap(([id, sample]) => {
    const other = second.samples.get(id);
    return other ? [[sample, other] as const] : [];
  });
  const onlyFirst = pairs.filter(([a, b]) => a.correct && !b.correct).length;
  const onlySecond = pairs.filter(([a, b]) => !a.correct && b.correct).length;
  const right = pairs.map(([a, b]) => [Number(a.correct), Number(b.correct)] as const);
  return {
    samples: pairs.length,
    first: computeWilsonInterval(right.filter(([a]) => a === 1).length, pairs.length),
    second: computeWilsonInterval(right.filter(([, b]) => b === 1).length, pairs.length),
    onlyFirst,
    onlySecond,
    p: computeMcNemarTest(onlyFirst, onlySecond),
    difference: computePairedBootstrap(right, (a, b, count) => (b - a) / count, options),
    tokenRatio: computeTokenRatio(pairs, options),
  };
}

/** Refuses runs that no table may have beside each other, and says which and why. */
export function assertComparableRuns(runs: readonly ScoredRun[]): void {
  const [first, ...others] = runs;
  if (!first) return;
  if (first.samples.size === 0)
    throw createIncomparableError(first, first, "there are no scored samples", "score it first");
  for (const other of others) {
    for (const aspect of ["evidence", "dataset", "rule"] as const)
      if (first[aspect] !== other[aspect])
        throw createIncomparableError(
          first,
          other,
          `their ${aspect} differs: ${first[aspect]} and ${other[aspect]}`,
          `compare runs of one ${aspect}`,
        );
    const missing =
      [...first.samples.keys()].find((id) => !other.samples.has(id)) ??
      [...other.samples.keys()].find((id) => !first.samples.has(id));
    if (missing !== undefined)
      throw createIncomparableError(
        first,
        other,
        `only one of them has ${missing}`,
        "run both on the same samples",
      );
  }
}

function computeTokenRatio(
  pairs: readonly (readonly [ScoredSample, ScoredSample])[],
  options: BootstrapOptions,
): IntervalEstimate | undefined {
  const known = pairs.flatMap(([{ tokens: a }, { tokens: b }]) =>
    a === undefined || b === undefined ? [] : [[a, b] as const],
  );
  // A problem that cost the first nothing at all may be all that is drawn: no ratio then.
  if (known.length < pairs.length || known.some(([a]) => a <= 0)) return undefined;
  return computePairedBootstrap(known, (a, b) => b / a, options);
}

function createIncomparableError(first: ScoredRun, other: ScoredRun, why: string, action: string): A2AError {
  const names = first === other ? first.name : `${first.name} and ${other.name}`;
  return new A2AError("INVALID_PARAMS", `Cannot compare ${names}: ${why}. To do: ${action}.`);
}
