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
  findCardTokenTotal,
  getScoreOutcome,
  type MessageCard,
  summarizeTokens,
  type TokenSummary,
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

/** Outcome of a problem: scored as correct or wrong, skipped, not scored, or not started. */
type SampleOutcome = "correct" | "wrong" | "skipped" | "unscored" | "waiting";

/** Summary of a problem in the list of problems. */
export interface SampleSummary {
  readonly outcome: SampleOutcome;
  /** Content of the first message card, which is the question. */
  readonly question: string;
  readonly cardCount: number;
  readonly tokens: TokenSummary;
  readonly durationMs: number;
  readonly errorCount: number;
  /**
   * Whether the last result has the status `partial`. This status means that a limit or a `stop` card ended
   * the work early.
   */
  readonly isPartial: boolean;
}

export function summarizeSample({ timedCards: cards, score, skip }: PageSample): SampleSummary {
  const [first] = cards;
  const last = cards.findLast(({ card }) => card.message_type === "result");
  return {
    outcome: score
      ? score.correct
        ? "correct"
        : "wrong"
      : skip
        ? "skipped"
        : first
          ? "unscored"
          : "waiting",
    question: first?.card.content ?? "",
    cardCount: cards.length,
    tokens: summarizeTokens(cards.map(({ card }) => card)),
    durationMs: first ? Math.max(...cards.map(({ arrivedMs }) => arrivedMs)) - first.sentMs : 0,
    errorCount: cards.filter(({ card }) => card.message_type === "error").length,
    isPartial: last?.card.metadata["status"] === "partial",
  };
}

/**
 * Returns the number of input and output tokens of a message card, or 0 if the card does not report tokens.
 */
export function countCardTokens(card: PageCard["card"]): number {
  return findCardTokenTotal(card) ?? 0;
}

/** Returns the status or the error type of a message card. */
export function findCardStatusOrErrorType({ metadata }: PageCard["card"]): string | undefined {
  const status = metadata["status"] ?? metadata["error_type"];
  return typeof status === "string" ? status : undefined;
}

/**
 * Returns the roles that sent or received message cards. The core roles come first, in the order of
 * delegation. Custom roles follow in the order of their first message card.
 */
export function listRolesInCards(cards: Iterable<Pick<MessageCard, "sender" | "recipient">>): string[] {
  const roles = new Set<string>();
  for (const { sender, recipient } of cards) roles.add(sender).add(recipient);
  const first = ["controller", "planner", "solver"].filter((role) => roles.has(role));
  return [...new Set([...first, ...roles])];
}

/** Criteria that filter the problems of the page. An empty string disables a criterion. */
export interface CardFilter {
  /** Case-insensitive search text for problem IDs, answers, and message card contents. */
  readonly text: string;
  /** A key of `OUTCOME_LABELS`, or an outcome in a score, such as `timeout`. */
  readonly outcome: string;
}

export const OUTCOME_LABELS: Readonly<Record<string, string>> = {
  "": "any outcome",
  correct: "correct",
  wrong: "wrong",
  unscored: "not scored",
  errors: "with errors",
  partial: "partial",
};

export function matchesSample(sample: PageSample, { outcome, text }: CardFilter): boolean {
  return (outcome === "" || matchesOutcome(sample, outcome)) && matchesSampleText(sample, text);
}

function matchesOutcome(sample: PageSample, wanted: string): boolean {
  const { outcome, errorCount, isPartial } = summarizeSample(sample);
  if (wanted === "errors") return errorCount > 0;
  if (wanted === "partial" && isPartial) return true;
  if (wanted === "unscored") return ["unscored", "waiting", "skipped"].includes(outcome);
  return outcome === wanted || (sample.score !== undefined && getScoreOutcome(sample.score) === wanted);
}

function matchesSampleText(sample: PageSample, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return (
    text === "" ||
    includesIgnoringCase(sample.id ?? "", text) ||
    includesIgnoringCase(sample.score?.gold ?? "", text) ||
    includesIgnoringCase(sample.score?.predicted ?? "", text) ||
    sample.timedCards.some(({ card }) => includesIgnoringCase(card.content, text))
  );
}

function includesIgnoringCase(text: string, part: string): boolean {
  return text.toLowerCase().includes(part);
}
