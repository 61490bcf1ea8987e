import {
  type ModelCallLine,
  type CardLine,
  cardLineToTransitTimes,
  type RunEndLine,
  type CardTransitTimes,
  getCardDeduplicationKey,
  isMoreReliableCardLine,
  type RecordLine,
  type RunLine,
  type ScoreLine,
  type SkipLine,
} from "../../../../cards/index.ts";
import { unpackPageLines, type CardRunData } from "../card-run-data.ts";

/** State of the process that writes a live record. `unknown` means that the process has not locked the file. */
export type RecordWriterState = "active" | "exited" | "unknown";

/** Message card in the HTML report, with times and the most reliable record line. */
export interface PageCard extends CardTransitTimes {
  readonly line: CardLine;
}

/** Problem in the HTML report. */
export interface PageSample {
  /** ID of the problem, or `""` for message cards without a problem ID. */
  readonly id: string;
  /** Message cards of the problem in the order they were sent. */
  readonly cards: readonly PageCard[];
  readonly calls: readonly ModelCallLine[];
  readonly score: ScoreLine | undefined;
  readonly skip: SkipLine | undefined;
  /** Version number of the problem, which increases with every change. */
  readonly version: number;
}

/**
 * Run model that accepts record lines one by one. The run model equals the result of `decodeRecording` and
 * `collectRecordedSamples` for the entire record file. When a record line is added, the run model does not
 * decode the entire file again.
 */
export class RunModel {
  run: RunLine | undefined;
  readonly ends: RunEndLine[] = [];
  readonly #samples = new Map<string, MutablePageSample>();
  /** Number of message cards from attempts that were interrupted and later repeated. */
  abandonedCardCount = 0;
  tornLineCount = 0;
  cardCount = 0;
  callCount = 0;
  writerState: RecordWriterState = "unknown";
  /** Time of the last record line in milliseconds since 1970. */
  lastLineTimeMs = 0;
  #partNumber = 0;
  #hasEnded = false;
  /** Offset in milliseconds between the wall clock and the first process's recording clock. */
  #firstWallClockOffset: number | undefined;
  /** Clock shift in milliseconds for the process that recorded the current lines. */
  #clockShift: number | undefined;

  static fromRunData(data: CardRunData): RunModel {
    const model = new RunModel();
    if (data.run) model.addLine(data.run);
    const { cards, calls, scores, skips } = unpackPageLines(data);
    for (const { line, arrived } of cards) model.#addCard(line, arrived);
    for (const line of calls) model.addLine(line);
    for (const line of [...scores, ...skips]) model.addLine(line);
    for (const line of data.ends) model.addLine(line);
    model.abandonedCardCount = data.abandoned;
    model.tornLineCount = data.torn;
    return model;
  }

  get samples(): readonly PageSample[] {
    return [...this.#samples.values()];
  }

  findSample(id: string): PageSample | undefined {
    return this.#samples.get(id);
  }

  /** Status of the run's end line, or `undefined` if the run has not ended. */
  get runEndStatus(): RunEndLine["status"] | undefined {
    return this.#hasEnded ? this.ends.at(-1)?.status : undefined;
  }

  addLine(line: RecordLine): void {
    this.lastLineTimeMs = Math.max(this.lastLineTimeMs, Date.parse(line.at));
    switch (line.kind) {
      case "run":
        this.run = line;
        this.#partNumber += 1;
        this.#hasEnded = false;
        this.#clockShift = undefined;
        for (const id of line.sample_ids) this.#getOrCreateSample(id);
        break;
      case "card":
        this.#addCard(
          this.#alignLineTimeByWallClock(line),
          line.dir === "in" ? this.#alignLineTimeByWallClock(line).mono_ms : undefined,
        );
        break;
      case "call": {
        const sample = this.#getSampleForCurrentAttempt(line.sample_id ?? "");
        if (!sample) break;
        sample.calls.push(this.#alignLineTimeByWallClock(line));
        sample.version += 1;
        this.callCount += 1;
        break;
      }
      case "score":
      case "skip": {
        const sample = this.#getSampleForCurrentAttempt(line.sample_id);
        if (!sample) break;
        if (line.kind === "score") sample.score = line;
        else sample.skip = line;
        sample.version += 1;
        break;
      }
      case "end":
        this.ends.push(line);
        this.#hasEnded = true;
        break;
    }
  }

  #addCard(line: CardLine, arrived: number | undefined): void {
    const sample = this.#getSampleForCurrentAttempt(line.sample_id ?? line.card.metadata.sample_id ?? "");
    if (!sample) {
      this.abandonedCardCount += 1;
      return;
    }
    const key = getCardDeduplicationKey(line.card);
    const known = sample.cardsByKey.get(key);
    if (!known) this.cardCount += 1;
    sample.putCard(
      key,
      known ? mergeLineIntoPageCard(known, line, arrived) : createPageCardFromLine(line, arrived),
    );
  }

  /**
   * Returns the problem with the given ID, or `undefined` if an earlier process finished the problem. If an
   * earlier process did not finish the problem, the function discards the message cards from that process.
   */
  #getSampleForCurrentAttempt(id: string): MutablePageSample | undefined {
    const sample = this.#getOrCreateSample(id);
    if (id === "" || sample.partNumber === this.#partNumber) return sample;
    if (sample.score ?? sample.skip) return undefined;
    this.abandonedCardCount += sample.cards.length;
    this.cardCount -= sample.cards.length;
    this.callCount -= sample.calls.length;
    sample.reset(this.#partNumber);
    return sample;
  }

  #getOrCreateSample(id: string): MutablePageSample {
    let sample = this.#samples.get(id);
    if (!sample) this.#samples.set(id, (sample = new MutablePageSample(id, this.#partNumber)));
    return sample;
  }

  /**
   * Aligns the times of record lines with the wall clock, because the recording clock of each process has a
   * different zero point.
   */
  #alignLineTimeByWallClock<Line extends CardLine | ModelCallLine>(line: Line): Line {
    const offset = Date.parse(line.at) - line.mono_ms;
    this.#firstWallClockOffset ??= offset;
    this.#clockShift ??= offset - this.#firstWallClockOffset;
    return this.#clockShift === 0 ? line : { ...line, mono_ms: line.mono_ms + this.#clockShift };
  }
}

class MutablePageSample implements PageSample {
  readonly id: string;
  partNumber: number;
  cards: PageCard[] = [];
  calls: ModelCallLine[] = [];
  cardsByKey = new Map<string, PageCard>();
  score: ScoreLine | undefined;
  skip: SkipLine | undefined;
  version = 0;
  readonly #insertionOrder = new Map<string, number>();

  constructor(id: string, part: number) {
    this.id = id;
    this.partNumber = part;
  }

  /** Adds a message card, or replaces the message card that has the same key. */
  putCard(key: string, seen: PageCard): void {
    const known = this.cardsByKey.get(key);
    this.version += 1;
    this.cardsByKey.set(key, seen);
    if (known) this.cards.splice(this.cards.indexOf(known), 1);
    else this.#insertionOrder.set(key, this.#insertionOrder.size);
    const rank = this.#insertionOrder.get(key) ?? 0;
    // Cards arrive almost in order, so the position is at or near the end. Cards of the same time keep their
    // order.
    let place = this.cards.length;
    for (; place > 0; place -= 1) {
      const before = this.cards[place - 1];
      if (!before || before.sentMs < seen.sentMs) break;
      if (
        before.sentMs === seen.sentMs &&
        (this.#insertionOrder.get(getCardDeduplicationKey(before.card)) ?? 0) < rank
      )
        break;
    }
    this.cards.splice(place, 0, seen);
  }

  reset(part: number): void {
    this.partNumber = part;
    this.version += 1;
    this.cards = [];
    this.calls = [];
    this.cardsByKey = new Map();
    this.#insertionOrder.clear();
  }
}

function createPageCardFromLine(line: CardLine, arrivalMs: number | undefined): PageCard {
  return { ...cardLineToTransitTimes(line, arrivalMs), line };
}

/** Merges an additional record line into a known message card. */
function mergeLineIntoPageCard(known: PageCard, line: CardLine, arrivalMs: number | undefined): PageCard {
  const best = isMoreReliableCardLine(line, known.line) ? line : known.line;
  const knownArrivalMs =
    known.arrivedMs > known.sentMs || known.line.dir === "in" ? known.arrivedMs : undefined;
  return createPageCardFromLine(best, knownArrivalMs ?? arrivalMs);
}
