import type { Card } from "../card/index.ts";
import { sampleOf } from "./attempts.ts";
import { linesOfCards } from "./cards-of.ts";
import type { CallLine, CardLine, Recording, RecordLine, ScoreLine } from "./lines.ts";

/** What a recording has of one problem. */
export interface RunSample {
  /** `undefined` for what belongs to none. */
  readonly id: string | undefined;
  /** Each once, in the order in which they were sent. */
  readonly cards: readonly Card[];
  /** All lines of its cards: as they were sent, as they arrived, as they were relayed. */
  readonly lines: readonly CardLine[];
  readonly calls: readonly CallLine[];
  /** `undefined` when it is not done. */
  readonly score: ScoreLine | undefined;
}

/** The problems of a run in its order, also those that it has not reached; then those that the run does not name. */
export function samplesOf(recording: Recording): RunSample[] {
  const { run, scores } = recording;
  const lines = bySample(recording.cards);
  const calls = bySample(recording.calls);
  const scored = new Map(scores.map((score) => [score.sample_id, score]));
  const ids = new Set([...(run?.sample_ids ?? []), ...lines.keys(), ...calls.keys(), ...scored.keys()]);
  return [...ids].map((id) => ({
    id,
    cards: linesOfCards(lines.get(id) ?? []).map(({ card }) => card),
    lines: lines.get(id) ?? [],
    calls: calls.get(id) ?? [],
    score: id === undefined ? undefined : scored.get(id),
  }));
}

/** The problems that are done, which a resumed run need not do again. */
export function doneSamples(recording: Pick<Recording, "scores">): Set<string> {
  return new Set(recording.scores.map((score) => score.sample_id));
}

function bySample<Line extends RecordLine>(lines: readonly Line[]): Map<string | undefined, Line[]> {
  return Map.groupBy(lines, sampleOf);
}
