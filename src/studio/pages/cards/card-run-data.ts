import type {
  RecordedCard,
  RecordedCall,
  Recording,
  RunEndLine,
  RunLine,
  ScoreLine,
  SkipLine,
} from "../../../cards/index.ts";
import { packJsonObjects, type PackedJsonObjects, unpackJsonObjects } from "./json-object-packing.ts";

/** The message cards of a run, as the page contains them. */
export interface CardRunData {
  readonly title: string;
  readonly run?: RunLine;
  /** Message cards with their times. */
  readonly cards: PackedJsonObjects;
  /** Lines of the model calls, with prompts and replies. */
  readonly calls: PackedJsonObjects;
  readonly scores: PackedJsonObjects;
  readonly skips: readonly SkipLine[];
  readonly ends: readonly RunEndLine[];
  /** Number of message cards from attempts that were interrupted and later repeated. */
  readonly abandoned: number;
  /** Number of record lines that could not be decoded. */
  readonly torn: number;
}

export function buildCardRunData(recording: Recording, title: string): CardRunData {
  const { run, samples, calls, scores, skips, ends, abandoned, torn } = recording;
  return {
    title,
    ...(run && { run }),
    cards: packJsonObjects(
      samples.flatMap(({ timedCards }) => timedCards).toSorted((a, b) => a.sentMs - b.sentMs),
    ),
    calls: packJsonObjects(calls.map(({ line }) => line)),
    scores: packJsonObjects(scores),
    skips,
    ends,
    abandoned: abandoned.cards.length,
    torn: torn.length,
  };
}

/** Unpacks the message cards and the lines of a run. */
export function unpackPageLines(data: CardRunData): {
  cards: RecordedCard[];
  calls: RecordedCall["line"][];
  scores: ScoreLine[];
  skips: readonly SkipLine[];
} {
  return {
    cards: unpackJsonObjects<RecordedCard>(data.cards),
    calls: unpackJsonObjects<RecordedCall["line"]>(data.calls),
    scores: unpackJsonObjects<ScoreLine>(data.scores),
    skips: data.skips,
  };
}
