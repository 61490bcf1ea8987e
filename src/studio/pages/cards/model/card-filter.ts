import type { PageSample, PageCard } from "./run-model.ts";
import { findCardStatusOrErrorType, summarizeSample } from "./sample-summary.ts";

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

/** Returns whether a message card matches the role, type, status, and search text of the filter. */
export function matchesCard(seen: PageCard, sample: PageSample, filter: CardFilter): boolean {
  if (!matchesCardFields(seen, filter)) return false;
  const text = filter.text.trim().toLowerCase();
  return (
    text === "" ||
    includesIgnoringCase(sample.id ?? "", text) ||
    includesIgnoringCase(seen.card.content, text)
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
