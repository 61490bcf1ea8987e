import type { MessageCard } from "../message-card/index.ts";
import { findRecordLineSampleId } from "./run-attempt-selection.ts";
import { selectMostReliableCardLines } from "./most-reliable-card-line.ts";
import type {
  ModelCallLine,
  CardLine,
  Recording,
  RecordLine,
  ScoreLine,
  SkipLine,
} from "./record-line-types.ts";

/** A problem of a recording with its message cards, model calls, and score. */
export interface RecordedSample {
  /** ID of the problem, or `undefined` for message cards and model calls that belong to no problem. */
  readonly id: string | undefined;
  /** Message cards of the problem without duplicates, in the order they were sent. */
  readonly cards: readonly MessageCard[];
  /** All card lines of the problem, including received and relayed message cards. */
  readonly cardLines: readonly CardLine[];
  readonly calls: readonly ModelCallLine[];
  /** Score of the problem, or `undefined` if the problem is not finished. */
  readonly score: ScoreLine | undefined;
  /** Reason why the run skipped the problem, or `undefined` if the run did not skip the problem. */
  readonly skip: SkipLine | undefined;
}

/**
 * Returns all problems in the order of the run line, followed by recorded problems that the run line does not
 * list.
 */
export function collectRecordedSamples(recording: Recording): RecordedSample[] {
  const { run, scores, skips } = recording;
  const lines = groupBySample(recording.cards);
  const calls = groupBySample(recording.calls);
  const scored = new Map(scores.map((score) => [score.sample_id, score]));
  const skipped = new Map(skips.map((skip) => [skip.sample_id, skip]));
  const ids = new Set([
    ...(run?.sample_ids ?? []),
    ...lines.keys(),
    ...calls.keys(),
    ...scored.keys(),
    ...skipped.keys(),
  ]);
  return [...ids].map((id) => ({
    id,
    cards: selectMostReliableCardLines(lines.get(id) ?? []).map(({ card }) => card),
    cardLines: lines.get(id) ?? [],
    calls: calls.get(id) ?? [],
    score: id === undefined ? undefined : scored.get(id),
    skip: id === undefined ? undefined : skipped.get(id),
  }));
}

/** Returns the IDs of the scored and skipped problems, which a resumed run does not repeat. */
export function collectFinishedSampleIds({
  scores,
  skips,
}: Pick<Recording, "scores" | "skips">): Set<string> {
  return new Set([...scores, ...skips].map(({ sample_id }) => sample_id));
}

function groupBySample<Line extends RecordLine>(lines: readonly Line[]): Map<string | undefined, Line[]> {
  return Map.groupBy(lines, findRecordLineSampleId);
}
