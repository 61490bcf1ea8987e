import { CONTROLLER } from "../message-card/index.ts";
import type { RecordedSample } from "../recording/index.ts";
import { computeMean } from "./intervals.ts";

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
