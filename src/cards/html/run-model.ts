import { timeOf } from "../card/index.ts";
import type {
  CallLine,
  CardLine,
  EndLine,
  Moments,
  RecordLine,
  RunLine,
  ScoreLine,
} from "../record/index.ts";
import { cardKey, linesOf, type PageData } from "./page-data.ts";

/** A card on the page: when it was under way, and the line that tells most of it. */
export interface SeenCard extends Moments {
  readonly line: CardLine;
}

/** A problem on the page. */
export interface PageSample {
  /** `""` for what belongs to no problem. */
  readonly id: string;
  /** In the order in which they were sent. */
  readonly cards: readonly SeenCard[];
  readonly calls: readonly CallLine[];
  readonly score: ScoreLine | undefined;
  /** Another one whenever there is more of it. */
  readonly version: number;
}

/**
 * A run as it grows, line by line: what `decodeRecording` and `samplesOf` make of a whole file, without starting over
 * for every line that is added to it.
 */
export class RunModel {
  run: RunLine | undefined;
  readonly ends: EndLine[] = [];
  readonly #samples = new Map<string, Growing>();
  /** Cards of attempts that were interrupted and begun again. */
  abandoned = 0;
  torn = 0;
  /** Of a run that several processes wrote. */
  clocks: PageData["clocks"];
  cards = 0;
  calls = 0;
  #part = 0;
  #ended = false;
  /** How far the wall clock was ahead of the writer's in the first part, and how far this part's clock is moved. */
  #firstOffset: number | undefined;
  #moved: number | undefined;

  static of(data: PageData): RunModel {
    const model = new RunModel();
    if (data.run) model.add(data.run);
    const { cards, calls, scores } = linesOf(data);
    for (const { line, arrived } of cards) model.#addCard(line, arrived);
    for (const line of calls) model.add(line);
    for (const line of scores) model.add(line);
    for (const line of data.ends) model.add(line);
    model.abandoned = data.abandoned;
    model.torn = data.torn;
    model.clocks = data.clocks;
    return model;
  }

  get samples(): readonly PageSample[] {
    return [...this.#samples.values()];
  }

  sample(id: string): PageSample | undefined {
    return this.#samples.get(id);
  }

  /** How the run stands: `undefined` while nothing says that it has ended. */
  get ended(): EndLine["status"] | undefined {
    return this.#ended ? this.ends.at(-1)?.status : undefined;
  }

  add(line: RecordLine): void {
    switch (line.kind) {
      case "run":
        this.run = line;
        this.#part += 1;
        this.#ended = false;
        this.#moved = undefined;
        for (const id of line.sample_ids) this.#sample(id);
        break;
      case "card":
        this.#addCard(this.#onOneClock(line), line.dir === "in" ? this.#onOneClock(line).mono_ms : undefined);
        break;
      case "call": {
        const sample = this.#turnTo(line.sample_id ?? "");
        if (!sample) break;
        sample.calls.push(this.#onOneClock(line));
        sample.version += 1;
        this.calls += 1;
        break;
      }
      case "score": {
        const sample = this.#turnTo(line.sample_id);
        if (!sample) break;
        sample.score = line;
        sample.version += 1;
        break;
      }
      case "end":
        this.ends.push(line);
        this.#ended = true;
        break;
    }
  }

  #addCard(line: CardLine, arrived: number | undefined): void {
    const sample = this.#turnTo(line.sample_id ?? line.card.metadata.sample_id ?? "");
    if (!sample) {
      this.abandoned += 1;
      return;
    }
    const key = cardKey(line);
    const known = sample.byKey.get(key);
    if (!known) this.cards += 1;
    sample.put(key, known ? together(known, line, arrived) : seenCard(line, arrived));
  }

  /** The problem that a line is about; what an earlier part began and did not finish is put aside. */
  #turnTo(id: string): Growing | undefined {
    const sample = this.#sample(id);
    if (id === "" || sample.part === this.#part) return sample;
    if (sample.score) return undefined;
    this.abandoned += sample.cards.length;
    this.cards -= sample.cards.length;
    this.calls -= sample.calls.length;
    sample.restart(this.#part);
    return sample;
  }

  #sample(id: string): Growing {
    let sample = this.#samples.get(id);
    if (!sample) this.#samples.set(id, (sample = new Growing(id, this.#part)));
    return sample;
  }

  /** Each process counts its milliseconds from somewhere else; the wall clock tells how far apart they are. */
  #onOneClock<Line extends CardLine | CallLine>(line: Line): Line {
    const offset = Date.parse(line.at) - line.mono_ms;
    this.#firstOffset ??= offset;
    this.#moved ??= offset - this.#firstOffset;
    return this.#moved === 0 ? line : { ...line, mono_ms: line.mono_ms + this.#moved };
  }
}

class Growing implements PageSample {
  readonly id: string;
  part: number;
  cards: SeenCard[] = [];
  calls: CallLine[] = [];
  byKey = new Map<string, SeenCard>();
  score: ScoreLine | undefined;
  version = 0;
  readonly #firstSeen = new Map<string, number>();

  constructor(id: string, part: number) {
    this.id = id;
    this.part = part;
  }

  /** A card that has not been there, or more of one that has. */
  put(key: string, seen: SeenCard): void {
    const known = this.byKey.get(key);
    this.version += 1;
    this.byKey.set(key, seen);
    if (known) this.cards.splice(this.cards.indexOf(known), 1);
    else this.#firstSeen.set(key, this.#firstSeen.size);
    const rank = this.#firstSeen.get(key) ?? 0;
    // Cards come almost in order: the place is at the end, or near it. What was sent in the same moment stays as it came.
    let place = this.cards.length;
    for (; place > 0; place -= 1) {
      const before = this.cards[place - 1];
      if (!before || before.sent < seen.sent) break;
      if (before.sent === seen.sent && (this.#firstSeen.get(cardKey(before.line)) ?? 0) < rank) break;
    }
    this.cards.splice(place, 0, seen);
  }

  restart(part: number): void {
    this.part = part;
    this.version += 1;
    this.cards = [];
    this.calls = [];
    this.byKey = new Map();
    this.#firstSeen.clear();
  }
}

function seenCard(line: CardLine, arrival: number | undefined): SeenCard {
  const before = line.dir === "relayed" ? Date.parse(line.at) - timeOf(line.card) : 0;
  const sent = before > 0 ? line.mono_ms - before : line.mono_ms;
  const arrived = arrival ?? sent;
  const inverted = arrived < sent;
  const told = line.dir === "out";
  return { card: line.card, line, sent, arrived: Math.max(sent, arrived), inverted, told };
}

/** A card of which one more line has come. */
function together(known: SeenCard, line: CardLine, arrival: number | undefined): SeenCard {
  const rank = { out: 0, in: 1, relayed: 2 };
  const best = rank[line.dir] < rank[known.line.dir] ? line : known.line;
  const before = known.arrived > known.sent || known.line.dir === "in" ? known.arrived : undefined;
  return seenCard(best, before ?? arrival);
}
