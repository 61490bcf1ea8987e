import type { MessageCard } from "../message-card/index.ts";
import { findSampleId } from "./attempts.ts";
import { selectBestCardLines } from "./best-card-line.ts";
import type { ModelCallLine, CardLine, Recording, RecordLine, ScoreLine } from "./record-lines.ts";

/** What a recording has of one problem. */
export interface RunSample {
  /** `undefined` for what belongs to none. */
  readonly id: string | undefined;
  /** Each once, in the order in which they were sent. */
  readonly cards: readonly MessageCard[];
  /** All lines of its cards: as they were sent, as they arrived, as they were relayed. */
  readonly cardLines: readonly CardLine[];
  readonly calls: readonly ModelCallLine[];
  /** `undefined` when it is not done. */
  readonly score: ScoreLine | undefined;
}

/** The problems of a run in its order, also those that it has not reached; then those that the run does not name. */
export function collectRunSamples(recording: Recording): RunSample[] {
  const { run, scores } = recording;
  const lines = groupBySample(recording.cards);
  const calls = groupBySample(recording.calls);
  const scored = new Map(scores.map((score) => [score.sample_id, score]));
  const ids = new Set([...(run?.sample_ids ?? []), ...lines.keys(), ...calls.keys(), ...scored.keys()]);
  return [...ids].map((id) => ({
    id,
    cards: selectBestCardLines(lines.get(id) ?? []).map(({ card }) => card),
    cardLines: lines.get(id) ?? [],
    calls: calls.get(id) ?? [],
    score: id === undefined ? undefined : scored.get(id),
  }));
}

/** The problems that are done, which a resumed run need not do again. */
export function collectScoredSampleIds(recording: Pick<Recording, "scores">): Set<string> {
  return new Set(recording.scores.map((score) => score.sample_id));
}

function groupBySample<Line extends RecordLine>(lines: readonly Line[]): Map<string | undefined, Line[]> {
  return Map.groupBy(lines, findSampleId);
}
