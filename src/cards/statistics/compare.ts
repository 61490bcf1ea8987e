import { A2AError } from "../../protocol/index.ts";
import { pairedBootstrap, type BootstrapOptions } from "./bootstrap.ts";
import { mcnemar, type McNemar } from "./mcnemar.ts";
import { wilson, type Estimate } from "./wilson.ts";

/** What stands behind the answers of a run. An oracle proves machinery, a model its own accuracy; no table has both. */
export type Evidence = "live-model" | "recorded-model" | "oracle" | "simulated" | "heuristic";

/** A run, scored. */
export interface ScoredRun {
  /** Its method, as it is called in tables. */
  readonly name: string;
  readonly dataset: string;
  readonly evidence: Evidence;
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

export interface Comparison {
  readonly samples: number;
  readonly first: Estimate;
  readonly second: Estimate;
  /** Samples that only one of the two solved. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  readonly p: McNemar;
  /** Accuracy of the second minus that of the first. */
  readonly difference: Estimate;
  /** Tokens of the second by those of the first; `undefined` unless both know them for every sample. */
  readonly tokenRatio: Estimate | undefined;
}

/**
 * Two runs, problem by problem. Refuses runs of different evidence, datasets, rules or problems: such numbers beside
 * each other look like a result and are none.
 */
export function compareRuns(first: ScoredRun, second: ScoredRun, options: BootstrapOptions = {}): Comparison {
  requireComparable([first, second]);
  const pairs = [...first.samples].flatMap(([id, sample]) => {
    const other = second.samples.get(id);
    return other ? [[sample, other] as const] : [];
  });
  const onlyFirst = pairs.filter(([a, b]) => a.correct && !b.correct).length;
  const onlySecond = pairs.filter(([a, b]) => !a.correct && b.correct).length;
  const right = pairs.map(([a, b]) => [Number(a.correct), Number(b.correct)] as const);
  return {
    samples: pairs.length,
    first: wilson(right.filter(([a]) => a === 1).length, pairs.length),
    second: wilson(right.filter(([, b]) => b === 1).length, pairs.length),
    onlyFirst,
    onlySecond,
    p: mcnemar(onlyFirst, onlySecond),
    difference: pairedBootstrap(right, (a, b, count) => (b - a) / count, options),
    tokenRatio: tokenRatioOf(pairs, options),
  };
}

/** Refuses runs that no table may have beside each other, and says which and why. */
export function requireComparable(runs: readonly ScoredRun[]): void {
  const [first, ...others] = runs;
  if (!first) return;
  if (first.samples.size === 0) throw apart(first, first, "there are no scored samples", "score it first");
  for (const other of others) {
    for (const aspect of ["evidence", "dataset", "rule"] as const)
      if (first[aspect] !== other[aspect])
        throw apart(
          first,
          other,
          `their ${aspect} differs: ${first[aspect]} and ${other[aspect]}`,
          `compare runs of one ${aspect}`,
        );
    const missing =
      [...first.samples.keys()].find((id) => !other.samples.has(id)) ??
      [...other.samples.keys()].find((id) => !first.samples.has(id));
    if (missing !== undefined)
      throw apart(first, other, `only one of them has ${missing}`, "run both on the same samples");
  }
}

function tokenRatioOf(
  pairs: readonly (readonly [ScoredSample, ScoredSample])[],
  options: BootstrapOptions,
): Estimate | undefined {
  const known = pairs.flatMap(([{ tokens: a }, { tokens: b }]) =>
    a === undefined || b === undefined ? [] : [[a, b] as const],
  );
  // A problem that cost the first nothing at all may be all that is drawn: no ratio then.
  if (known.length < pairs.length || known.some(([a]) => a <= 0)) return undefined;
  return pairedBootstrap(known, (a, b) => b / a, options);
}

function apart(first: ScoredRun, other: ScoredRun, why: string, action: string): A2AError {
  const names = first === other ? first.name : `${first.name} and ${other.name}`;
  return new A2AError("INVALID_PARAMS", `Cannot compare ${names}: ${why}. To do: ${action}.`);
}
