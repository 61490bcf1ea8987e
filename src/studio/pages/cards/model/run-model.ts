import {
  RecordingBuilder,
  type RecordedCard,
  type RecordedSample,
  type Recording,
  type RunEndLine,
  type RunLine,
  type ScoreLine,
  type SkipLine,
  type RecordedCall,
} from "../../../../cards/index.ts";
import { formatDuration, pluralize } from "../text-format.ts";

/** The message cards of a run, as the page contains them. */
export interface CardRunData {
  readonly title: string;
  readonly run?: RunLine;
  readonly cards: readonly RecordedCard[];
  /** Lines of the model calls, with prompts and replies. */
  readonly calls: readonly RecordedCall["line"][];
  readonly scores: readonly ScoreLine[];
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
    cards: samples.flatMap(({ timedCards }) => timedCards).toSorted((a, b) => a.sentMs - b.sentMs),
    calls: calls.map(({ line }) => line),
    scores,
    skips,
    ends,
    abandoned: abandoned.cards.length,
    torn: torn.length,
  };
}

/** State of the process that writes a live record. `unknown` means that the process has not locked the file. */
type RecordWriterState = "active" | "exited" | "unknown";

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
    for (const { card, sentMs, ...details } of data.cards) model.addCard(card, sentMs, details);
    for (const line of [...data.calls, ...data.scores, ...data.skips, ...data.ends]) model.add(line);
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

/** State of a run, for the label beside its name. */
interface RunStateLabel {
  /** CSS class of the label. */
  readonly kind: "running" | "quiet" | "completed" | "interrupted" | "failed" | "unknown";
  readonly label: string;
}

/** Time in milliseconds without a new line after which a live run is no longer called running. */
const QUIET_AFTER_MS = 15_000;

/**
 * Describes the state of a run. `nowMs` is the current time in milliseconds since 1970. A run without an end line was
 * killed or still works. A writer that has locked the file of a live record distinguishes the two.
 */
export function describeRunState(model: RunModel, isLive: boolean, nowMs: number): RunStateLabel {
  const torn = model.tornLineCount > 0 ? `, ${pluralize(model.tornLineCount, "line")} unreadable` : "";
  if (model.isEmpty)
    return { kind: isLive ? "running" : "unknown", label: isLive ? "waiting for the run to start" : "empty" };
  const degraded = model.ends.some(({ recorder }) => recorder === "degraded") ? ", record incomplete" : "";
  if (model.endStatus) return { kind: model.endStatus, label: `${model.endStatus}${degraded}${torn}` };
  if (!isLive) {
    if (!model.run) return { kind: "unknown", label: `cards without a run record${torn}` };
    return { kind: "interrupted", label: `no recorded end: killed or still running${torn}` };
  }
  if (model.writerState === "exited") return { kind: "interrupted", label: `killed: no recorded end${torn}` };
  const quietMs = nowMs - model.lastLineTimeMs;
  if (quietMs < QUIET_AFTER_MS) return { kind: "running", label: `running${torn}` };
  const quiet = `no new line for ${formatDuration(quietMs)}`;
  return model.writerState === "active"
    ? { kind: "running", label: `running, ${quiet}${torn}` }
    : { kind: "quiet", label: `${quiet}: killed or waiting${torn}` };
}
