import type { PageSample, PageCard } from "./run-model.ts";
import { findCardStatus, summarizeSample } from "./sample-summary.ts";

/** What the page shows; an empty string leaves a member open. */
export interface CardFilter {
  /** In the problem's id, or in what a card says; upper and lower case are the same. */
  readonly text: string;
  readonly outcome: "" | "correct" | "wrong" | "unscored" | "errors" | "partial";
  /** Sender or recipient. */
  readonly role: string;
  readonly type: string;
  readonly status: string;
}

/** Whether the problem has the outcome, and a card of the role, type and status; the text may stand anywhere in it. */
export function matchesSample(sample: PageSample, filter: CardFilter): boolean {
  return (
    matchesOutcome(sample, filter.outcome) &&
    (isUnrestricted(filter) || sample.cards.some((seen) => matchesCardFields(seen, filter))) &&
    matchesText(sample, filter.text)
  );
}

/** Whether a card of a problem that matches is shown in the table. */
export function matchesCard(seen: PageCard, sample: PageSample, filter: CardFilter): boolean {
  if (!matchesCardFields(seen, filter)) return false;
  const text = filter.text.trim().toLowerCase();
  return (
    text === "" || includesIgnoringCase(sample.id, text) || includesIgnoringCase(seen.card.content, text)
  );
}

function matchesOutcome(sample: PageSample, outcome: CardFilter["outcome"]): boolean {
  if (outcome === "") return true;
  const summary = summarizeSample(sample);
  if (outcome === "errors") return summary.errorCount > 0;
  if (outcome === "partial") return summary.isPartial;
  if (outcome === "unscored") return summary.outcome === "unscored" || summary.outcome === "waiting";
  return summary.outcome === outcome;
}

function matchesCardFields({ card }: PageCard, { role, type, status }: CardFilter): boolean {
  return (
    (role === "" || card.sender === role || card.recipient === role) &&
    (type === "" || card.message_type === type) &&
    (status === "" || findCardStatus(card) === status)
  );
}

function isUnrestricted({ role, type, status }: CardFilter): boolean {
  return role === "" && type === "" && status === "";
}

function matchesText(sample: PageSample, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return (
    text === "" ||
    includesIgnoringCase(sample.id, text) ||
    includesIgnoringCase(sample.score?.gold ?? "", text) ||
    includesIgnoringCase(sample.score?.predicted ?? "", text) ||
    sample.cards.some(({ card }) => includesIgnoringCase(card.content, text))
  );
}

function includesIgnoringCase(text: string, part: string): boolean {
  return text.toLowerCase().includes(part);
}
