import { RecordingBuilder, type RecordedCard, type RecordedSample } from "../../../../cards/index.ts";
import { unpackPageLines, type CardRunData } from "../card-run-data.ts";

/** State of the process that writes a live record. `unknown` means that the process has not locked the file. */
export type RecordWriterState = "active" | "exited" | "unknown";

/** Message card in the HTML report, with its times. */
export type PageCard = RecordedCard;
/** Problem in the HTML report. */
export type PageSample = RecordedSample;

/** The recording of a run that the page shows, which can grow. */
export class RunModel extends RecordingBuilder {
  /** Number of message cards from interrupted attempts that the page data lacks. */
  #omittedCardCount = 0;
  tornLineCount = 0;
  writerState: RecordWriterState = "unknown";

  /** Whether the record contains a run or message cards. */
  get isEmpty(): boolean {
    return this.run === undefined && this.cardCount === 0;
  }

  static fromRunData(data: CardRunData): RunModel {
    const model = new RunModel();
    if (data.run) model.add(data.run);
    const { cards, calls, scores, skips } = unpackPageLines(data);
    for (const { card, sentMs, ...details } of cards) model.addCard(card, sentMs, details);
    for (const line of [...calls, ...scores, ...skips, ...data.ends]) model.add(line);
    model.#omittedCardCount = data.abandoned;
    model.tornLineCount = data.torn;
    return model;
  }

  /** Number of message cards from attempts that were interrupted and later repeated. */
  get abandonedCardCount(): number {
    return this.#omittedCardCount + this.abandoned.cards.length;
  }

  get cardCount(): number {
    return this.samples.reduce((sum, { timedCards }) => sum + timedCards.length, 0);
  }
}

/** Returns the name of a problem in URLs, which is empty for message cards of no problem. */
export function getSampleName({ id = "" }: Pick<PageSample, "id">): string {
  return id;
}
