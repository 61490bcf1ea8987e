import {
  type CardLine,
  type ModelCallLine,
  type RunEndLine,
  getCardDeduplicationKey,
  mapMostReliableLinesByCardKey,
  type Recording,
  type RunLine,
  type ScoreLine,
  type SkipLine,
} from "../../../cards/index.ts";
import { packJsonObjects, type PackedJsonObjects, unpackJsonObjects } from "./json-object-packing.ts";

/** The message cards of a run, as the page contains them. */
export interface CardRunData {
  readonly title: string;
  readonly run?: RunLine;
  /** Most reliable record line of each message card. */
  readonly cards: PackedJsonObjects;
  /**
   * Arrival time of each message card on the recording's clock, or `null` if the arrival was not recorded.
   */
  readonly arrived: readonly (number | null)[];
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
  const arrivals = new Map(
    // The first arrival of a card counts, so the lines are visited from the end.
    recording.cards
      .toReversed()
      .flatMap(({ dir, card, mono_ms }) =>
        dir === "in" ? [[getCardDeduplicationKey(card), mono_ms] as const] : [],
      ),
  );
  const cards = [...mapMostReliableLinesByCardKey(recording.cards).values()].toSorted(
    (a, b) => a.mono_ms - b.mono_ms,
  );
  return {
    title,
    ...(recording.run && { run: recording.run }),
    cards: packJsonObjects(cards),
    arrived: cards.map((line) => arrivals.get(getCardDeduplicationKey(line.card)) ?? null),
    calls: packJsonObjects(recording.calls),
    scores: packJsonObjects(recording.scores),
    skips: recording.skips,
    ends: recording.ends,
    abandoned: recording.abandoned.cards.length,
    torn: recording.torn.length,
  };
}

/** Creates the data of a run without record lines, for a page to which a server streams the lines. */
export function createEmptyCardRunData(title: string): CardRunData {
  const noRows = packJsonObjects([]);
  return {
    title,
    cards: noRows,
    arrived: [],
    calls: noRows,
    scores: noRows,
    skips: [],
    ends: [],
    abandoned: 0,
    torn: 0,
  };
}

/** Unpacks the record lines of a run. `arrived` is the arrival time of the message card. */
export function unpackPageLines(data: CardRunData): {
  cards: { line: CardLine; arrived: number | undefined }[];
  calls: ModelCallLine[];
  scores: ScoreLine[];
  skips: readonly SkipLine[];
} {
  return {
    cards: unpackJsonObjects<CardLine>(data.cards).map((line, at) => ({
      line,
      arrived: data.arrived[at] ?? undefined,
    })),
    calls: unpackJsonObjects<ModelCallLine>(data.calls),
    scores: unpackJsonObjects<ScoreLine>(data.scores),
    skips: data.skips,
  };
}
