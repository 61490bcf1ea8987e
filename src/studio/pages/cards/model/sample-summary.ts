import {
  findCardTokenTotal,
  type MessageCard,
  summarizeTokens,
  type TokenSummary,
} from "../../../../cards/index.ts";
import type { PageSample, PageCard } from "./run-model.ts";

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

/**
 * Criteria that filter the problems and message cards in the HTML report. An empty string disables a filter
 * criterion.
 */
export interface CardFilter {
  /** Case-insensitive search text for problem IDs and message card contents. */
  readonly text: string;
  /** Outcome that a problem must have to match the filter. */
  readonly outcome: "" | "correct" | "wrong" | "unscored" | "errors" | "partial";
  /** Name of the role that sent or received the message card. */
  readonly role: string;
  /** Card type. */
  readonly type: string;
  /** Status or error type of the message card. */
  readonly status: string;
}

/**
 * Returns whether a problem matches all filter criteria. The search text and the other filter criteria can
 * match different message cards of the problem.
 */
export function matchesSample(sample: PageSample, filter: CardFilter): boolean {
  return (
    matchesOutcome(sample, filter.outcome) &&
    (hasNoCardFieldCriteria(filter) || sample.timedCards.some((seen) => matchesCardFields(seen, filter))) &&
    matchesSampleText(sample, filter.text)
  );
}

function matchesOutcome(sample: PageSample, outcome: CardFilter["outcome"]): boolean {
  if (outcome === "") return true;
  const summary = summarizeSample(sample);
  if (outcome === "errors") return summary.errorCount > 0;
  if (outcome === "partial") return summary.isPartial;
  if (outcome === "unscored") return ["unscored", "waiting", "skipped"].includes(summary.outcome);
  return summary.outcome === outcome;
}

function matchesCardFields({ card }: PageCard, { role, type, status }: CardFilter): boolean {
  return (
    (role === "" || card.sender === role || card.recipient === role) &&
    (type === "" || card.message_type === type) &&
    (status === "" || findCardStatusOrErrorType(card) === status)
  );
}

function hasNoCardFieldCriteria({ role, type, status }: CardFilter): boolean {
  return role === "" && type === "" && status === "";
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
