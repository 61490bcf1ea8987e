import { findRecordLineSampleId, selectFirstLinePerSample } from "./run-attempt-selection.ts";
import type { ModelCallLine, CardLine, Recording } from "./record-line-types.ts";
import { compareByTime, findWallToMonotonicOffset } from "./record-line-clocks.ts";

/** A recording and the name of its record file. */
export interface NamedRecording {
  readonly file: string;
  readonly recording: Recording;
}

/**
 * Merges the recordings that several processes wrote for the roles of one experiment run. The merged
 * recording uses the clock of the first file with a run line, or of the first file if no file has a run line.
 * The times of the other files are aligned by the wall clocks of their processes. If one file shows that an
 * attempt was interrupted, the lines of this attempt count as abandoned in all files.
 */
export function mergeRecordings(files: readonly NamedRecording[]): Recording {
  const first = files.find(({ recording }) => recording.run !== undefined) ?? files[0];
  if (!first) throw new TypeError("No recordings to merge. Pass at least one recording.");
  const origin = findWallToMonotonicOffset(first.recording.cards) ?? 0;
  const recordings = [
    first.recording,
    ...files
      .filter((file) => file !== first)
      .map(({ recording }) =>
        shiftRecording(recording, (findWallToMonotonicOffset(recording.cards) ?? origin) - origin),
      ),
  ];
  const all = separateAbandonedAttemptLines(recordings);
  return {
    run: first.recording.run,
    cards: all.cards.kept.toSorted(compareByTime),
    calls: all.calls.kept.toSorted(compareByTime),
    scores: selectFirstLinePerSample(recordings.flatMap(({ scores }) => scores)),
    skips: selectFirstLinePerSample(recordings.flatMap(({ skips }) => skips)),
    ends: recordings.flatMap(({ ends }) => ends),
    abandoned: { cards: all.cards.abandoned, calls: all.calls.abandoned },
    torn: recordings.flatMap(({ torn }) => torn),
  };
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

interface KeptAndAbandonedLines<Line> {
  readonly kept: Line[];
  readonly abandoned: Line[];
}

/**
 * Separates the record lines of abandoned attempts from all other record lines. If a role kept running while
 * the run restarted, one part of its file contains the lines of both attempts. The `in_reply_to` references
 * between message cards show which lines belong to the abandoned attempt.
 */
function separateAbandonedAttemptLines(recordings: readonly Recording[]): {
  cards: KeptAndAbandonedLines<CardLine>;
  calls: KeptAndAbandonedLines<ModelCallLine>;
} {
  const parents = new Map<string, string>();
  for (const { cards, abandoned } of recordings)
    for (const { card } of [...cards, ...abandoned.cards]) {
      const { card_id, in_reply_to } = card.metadata;
      if (card_id !== undefined && in_reply_to !== undefined) parents.set(card_id, in_reply_to);
    }
  const abandonedIds = new Set(
    recordings.flatMap(({ abandoned }) => abandoned.cards.flatMap(({ card }) => card.metadata.card_id ?? [])),
  );
  const keptIds = new Set(
    recordings.flatMap(({ run, cards }) =>
      run ? cards.flatMap(({ card }) => card.metadata.card_id ?? []) : [],
    ),
  );
  /**
   * Finds the nearest ancestor of a message card that is known to be kept or abandoned, and returns whether
   * this ancestor is abandoned. The result is `undefined` if no such ancestor exists.
   */
  const findIsAbandoned = (id: string | undefined): boolean | undefined => {
    const seen = new Set<string>();
    for (let at = id; at !== undefined && !seen.has(at); at = parents.get(at)) {
      if (keptIds.has(at)) return false;
      if (abandonedIds.has(at)) return true;
      seen.add(at);
    }
    return undefined;
  };

  const cards: KeptAndAbandonedLines<CardLine> = { kept: [], abandoned: [] };
  const calls: KeptAndAbandonedLines<ModelCallLine> = { kept: [], abandoned: [] };
  for (const recording of recordings) {
    // A card without ancestors, such as a notice, belongs to the current attempt of its writer.
    const currentBySample = new Map<string | undefined, boolean>();
    for (const line of recording.cards) {
      const sample = findRecordLineSampleId(line);
      const isAbandoned = findIsAbandoned(line.card.metadata.card_id) ?? currentBySample.get(sample) ?? false;
      currentBySample.set(sample, isAbandoned);
      (isAbandoned ? cards.abandoned : cards.kept).push(line);
    }
    for (const line of recording.calls)
      (findIsAbandoned(line.card_id) ? calls.abandoned : calls.kept).push(line);
    cards.abandoned.push(...recording.abandoned.cards);
    calls.abandoned.push(...recording.abandoned.calls);
  }
  return { cards, calls };
}
