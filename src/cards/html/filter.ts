import type { PageSample, SeenCard } from "./run-model.ts";
import { statusOf, summaryOf } from "./summary.ts";

/** What the page shows; an empty string leaves a member open. */
export interface Filter {
  /** In the problem's id, or in what a card says; upper and lower case are the same. */
  readonly text: string;
  readonly outcome: "" | "correct" | "wrong" | "unscored" | "errors" | "partial";
  /** Sender or recipient. */
  readonly role: string;
  readonly type: string;
  readonly status: string;
}

/** Whether the problem has the outcome, and a card of the role, type and status; the text may stand anywhere in it. */
export function matchesSample(sample: PageSample, filter: Filter): boolean {
  return (
    matchesOutcome(sample, filter.outcome) &&
    (isOpen(filter) || sample.cards.some((seen) => matchesKind(seen, filter))) &&
    matchesText(sample, filter.text)
  );
}

/** Whether a card of a problem that matches is shown in the table. */
export function matchesCard(seen: SeenCard, sample: PageSample, filter: Filter): boolean {
  if (!matchesKind(seen, filter)) return false;
  const text = filter.text.trim().toLowerCase();
  return text === "" || includes(sample.id, text) || includes(seen.card.content, text);
}

function matchesOutcome(sample: PageSample, outcome: Filter["outcome"]): boolean {
  if (outcome === "") return true;
  const summary = summaryOf(sample);
  if (outcome === "errors") return summary.errors > 0;
  if (outcome === "partial") return summary.partial;
  if (outcome === "unscored") return summary.outcome === "unscored" || summary.outcome === "waiting";
  return summary.outcome === outcome;
}

function matchesKind({ card }: SeenCard, { role, type, status }: Filter): boolean {
  return (
    (role === "" || card.sender === role || card.recipient === role) &&
    (type === "" || card.message_type === type) &&
    (status === "" || statusOf(card) === status)
  );
}

function isOpen({ role, type, status }: Filter): boolean {
  return role === "" && type === "" && status === "";
}

function matchesText(sample: PageSample, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return (
    text === "" ||
    includes(sample.id, text) ||
    includes(sample.score?.gold ?? "", text) ||
    includes(sample.score?.predicted ?? "", text) ||
    sample.cards.some(({ card }) => includes(card.content, text))
  );
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part);
}
