import type { MessageCard } from "../message-card/index.ts";
import { findRecordLineSampleId } from "./run-attempt-selection.ts";
import { selectMostReliableCardLines } from "./most-reliable-card-line.ts";
import type { ModelCallLine, CardLine, Recording, RecordLine, ScoreLine } from "./record-line-types.ts";

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
}

/**
 * Returns all problems in the order of the run line, followed by recorded problems that the run line does not
 * list.
 */
export function collectRecordedSamples(recording: Recording): RecordedSample[] {
  const { run, scores } = recording;
  const lines = groupBySample(recording.cards);
  const calls = groupBySample(recording.calls);
  const scored = new Map(scores.map((score) => [score.sample_id, score]));
  const ids = new Set([...(run?.sample_ids ?? []), ...lines.keys(), ...calls.keys(), ...scored.keys()]);
  return [...ids].map((id) => ({
    id,
    cards: selectMostReliableCardLines(lines.get(id) ?? []).map(({ card }) => card),
    cardLines: lines.get(id) ?? [],
    calls: calls.get(id) ?? [],
    score: id === undefined ? undefined : scored.get(id),
  }));
}

/** Returns the IDs of the finished problems, which a resumed run skips. */
export function collectScoredSampleIds(recording: Pick<Recording, "scores">): Set<string> {
  return new Set(recording.scores.map((score) => score.sample_id));
}

function groupBySample<Line extends RecordLine>(lines: readonly Line[]): Map<string | undefined, Line[]> {
  return Map.groupBy(lines, findRecordLineSampleId);
}
