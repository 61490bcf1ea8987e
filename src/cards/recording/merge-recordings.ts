import { findSampleId, selectFirstScores } from "./attempts.ts";
import { computeClockShiftBounds } from "./clock-shift.ts";
import type { ModelCallLine, CardLine, ClockAdjustment, Recording } from "./record-lines.ts";
import { compareByTime, findWallClockOffset } from "./line-time.ts";

/** A recording, and the name of the file that it came from. */
export interface NamedRecording {
  readonly file: string;
  readonly recording: Recording;
}

/**
 * One run that several processes recorded, each for its roles, as one recording. The clock is that of the first file that
 * knows the run, else of the first; `clocks` tells how the others were moved. What belongs to an attempt that one of the
 * files knows as interrupted is put aside in all of them.
 */
export function mergeRecordings(files: readonly NamedRecording[]): Recording {
  const first = files.find(({ recording }) => recording.run !== undefined) ?? files[0];
  if (!first) throw new TypeError("No recordings to merge; give at least one.");
  const others = files.filter((file) => file !== first);
  const aligned = alignRecordingClocks(first, others);
  const recordings = [first.recording, ...aligned.map(({ recording }) => recording)];

  const all = separateAbandonedLines(recordings);
  return {
    run: first.recording.run,
    cards: all.cards.kept.toSorted(compareByTime),
    calls: all.calls.kept.toSorted(compareByTime),
    scores: selectFirstScores(recordings.flatMap(({ scores }) => scores)),
    ends: recordings.flatMap(({ ends }) => ends),
    abandoned: { cards: all.cards.abandoned, calls: all.calls.abandoned },
    clocks: [
      ...first.recording.clocks,
      ...aligned.flatMap(({ clock, recording }) => [...recording.clocks, clock]),
    ],
    torn: recordings.flatMap(({ torn }) => torn),
  };
}

interface AlignedRecording {
  readonly recording: Recording;
  readonly clock: ClockAdjustment;
}

/** Places one file after the other: next, always one that shares cards with those that have a place. */
function alignRecordingClocks(first: NamedRecording, others: readonly NamedRecording[]): AlignedRecording[] {
  const origin = findWallClockOffset(first.recording.cards) ?? 0;
  let known = first.recording.cards;
  const placed: AlignedRecording[] = [];
  let waiting = others.map(({ file, recording }) => ({
    file,
    recording: shiftRecording(recording, (findWallClockOffset(recording.cards) ?? origin) - origin),
  }));
  while (waiting.length > 0) {
    const ids = new Set(known.map(({ card }) => card.metadata.card_id));
    const shares = ({ recording }: NamedRecording): boolean =>
      recording.cards.some(({ card }) => ids.has(card.metadata.card_id));
    const next = waiting.find(shares) ?? waiting[0];
    if (!next) break;
    waiting = waiting.filter((file) => file !== next);
    const { low, high } = computeClockShiftBounds(known, next.recording.cards);
    const shift = chooseClockShift(low, high);
    const recording = shiftRecording(next.recording, shift);
    placed.push({ recording, clock: { file: next.file, moved_ms: shift, low_ms: low, high_ms: high } });
    known = [...known, ...recording.cards];
  }
  return placed;
}

/** Not at all, when the cards allow it; else to the middle of what they allow, which is wrong by half of it at most. */
function chooseClockShift(low: number, high: number): number {
  if (low <= 0 && high >= 0) return 0;
  if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
  return Number.isFinite(low) ? low : high;
}

function shiftRecording(recording: Recording, ms: number): Recording {
  if (ms === 0) return recording;
  const move = <Line extends CardLine | ModelCallLine>(line: Line): Line => ({
    ...line,
    mono_ms: line.mono_ms + ms,
  });
  const { cards, calls, abandoned } = recording;
  return {
    ...recording,
    cards: cards.map(move),
    calls: calls.map(move),
    abandoned: { cards: abandoned.cards.map(move), calls: abandoned.calls.map(move) },
  };
}

interface SeparatedLines<Line> {
  readonly kept: Line[];
  readonly abandoned: Line[];
}

/**
 * A role that went on while the run was begun again has both attempts in one part of its file. They are told apart by the
 * cards that they descend from.
 */
function separateAbandonedLines(recordings: readonly Recording[]): {
  cards: SeparatedLines<CardLine>;
  calls: SeparatedLines<ModelCallLine>;
} {
  const parents = new Map<string, string>();
  for (const { cards, abandoned } of recordings)
    for (const { card } of [...cards, ...abandoned.cards]) {
      const { card_id, in_reply_to } = card.metadata;
      if (card_id !== undefined && in_reply_to !== undefined) parents.set(card_id, in_reply_to);
    }
  const gone = new Set(
    recordings.flatMap(({ abandoned }) => abandoned.cards.flatMap(({ card }) => card.metadata.card_id ?? [])),
  );
  const kept = new Set(
    recordings.flatMap(({ run, cards }) =>
      run ? cards.flatMap(({ card }) => card.metadata.card_id ?? []) : [],
    ),
  );
  /** Whether the nearest of its ancestors that a file with the run knows was put aside; `undefined` when there is none. */
  const isGone = (id: string | undefined): boolean | undefined => {
    const seen = new Set<string>();
    for (let at = id; at !== undefined && !seen.has(at); at = parents.get(at)) {
      if (kept.has(at)) return false;
      if (gone.has(at)) return true;
      seen.add(at);
    }
    return undefined;
  };

  const cards: SeparatedLines<CardLine> = { kept: [], abandoned: [] };
  const calls: SeparatedLines<ModelCallLine> = { kept: [], abandoned: [] };
  for (const recording of recordings) {
    // What descends from nothing, a notice, belongs to the attempt that its writer was at.
    const present = new Map<string | undefined, boolean>();
    for (const line of recording.cards) {
      const sample = findSampleId(line);
      const found = isGone(line.card.metadata.card_id) ?? present.get(sample) ?? false;
      present.set(sample, found);
      (found ? cards.abandoned : cards.kept).push(line);
    }
    for (const line of recording.calls) (isGone(line.card_id) ? calls.abandoned : calls.kept).push(line);
    cards.abandoned.push(...recording.abandoned.cards);
    calls.abandoned.push(...recording.abandoned.calls);
  }
  return { cards, calls };
}
