import {
  type CardLine,
  type ModelCallLine,
  type EndLine,
  getCardKey,
  type Recording,
  type RunLine,
  type ScoreLine,
  selectBestCardLines,
} from "../recording/index.ts";
import { packRows, type PackedRows, unpackRows } from "./row-packing.ts";

/** What stands in the page, between `<script type="application/json">` and its end. */
export interface PageData {
  readonly title: string;
  readonly run?: RunLine;
  /** Each card once, by the line that tells most of it. */
  readonly cards: PackedRows;
  /** When each of them arrived, by the recording's clock; null where nobody saw it. */
  readonly arrived: readonly (number | null)[];
  readonly calls: PackedRows;
  readonly scores: PackedRows;
  readonly ends: readonly EndLine[];
  /** Cards of attempts that were interrupted and begun again. */
  readonly abandoned: number;
  /** Lines that could not be read. */
  readonly torn: number;
  /** Of a run that several processes wrote: how many files, and how far the clock of one was moved at most, in milliseconds. */
  readonly clocks?: { readonly files: number; readonly moved: number };
  /** Where further lines come from, when the run is watched: an address on the same server. */
  readonly live?: string;
}

export function buildPageData(recording: Recording, title: string): PageData {
  const arrivals = new Map(
    // The first arrival of a card counts, so the lines are visited from the end.
    recording.cards
      .toReversed()
      .flatMap(({ dir, card, mono_ms }) => (dir === "in" ? [[getCardKey(card), mono_ms] as const] : [])),
  );
  const cards = selectBestCardLines(recording.cards).toSorted((a, b) => a.mono_ms - b.mono_ms);
  return {
    title,
    ...(recording.run && { run: recording.run }),
    cards: packRows(cards),
    arrived: cards.map((line) => arrivals.get(getCardKey(line.card)) ?? null),
    calls: packRows(recording.calls),
    scores: packRows(recording.scores),
    ends: recording.ends,
    abandoned: recording.abandoned.cards.length,
    torn: recording.torn.length,
    ...(recording.clocks.length > 0 && {
      clocks: {
        // That of the first is the one that the others are brought to.
        files: recording.clocks.length + 1,
        moved: Math.max(...recording.clocks.map(({ moved_ms }) => Math.abs(moved_ms))),
      },
    }),
  };
}

/** A page that waits for lines from `live`. */
export function createEmptyPageData(title: string, live: string): PageData {
  const none = packRows([]);
  return {
    title,
    cards: none,
    arrived: [],
    calls: none,
    scores: none,
    ends: [],
    abandoned: 0,
    torn: 0,
    live,
  };
}

/** The lines of the page again; `arrived` of each card beside it. */
export function unpackPageLines(data: PageData): {
  cards: { line: CardLine; arrived: number | undefined }[];
  calls: ModelCallLine[];
  scores: ScoreLine[];
} {
  return {
    cards: unpackRows<CardLine>(data.cards).map((line, at) => ({
      line,
      arrived: data.arrived[at] ?? undefined,
    })),
    calls: unpackRows<ModelCallLine>(data.calls),
    scores: unpackRows<ScoreLine>(data.scores),
  };
}
