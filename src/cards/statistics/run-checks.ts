import { truncateText } from "../../protocol/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import type { RecordedCall } from "../recording/index.ts";
import { isPlaceholderText } from "../scoring/index.ts";
import { formatCardSenderAndRecipient } from "./card-statistics.ts";
import { countAnswerTokens, sumUsageTokens } from "./token-counts.ts";

/** Descriptions of all kinds of findings, in the order that reports list the kinds. */
export const RUN_FINDING_KINDS = {
  "invalid-action": "replies of the planner's model without a valid action",
  placeholder: "tasks and answers that contain only a placeholder such as …",
  truncated: "model replies that a token limit cut off",
  "turn-limit": "problems that ran out of turns",
  "repeated-task": "subtasks that repeat an earlier subtask",
  "long-answer": "solver answers that are longer than a sentence (over 50 tokens)",
} as const;

export type RunFindingKind = keyof typeof RUN_FINDING_KINDS;

/** Finding in the message cards and model calls of one problem. */
export interface RunFinding {
  readonly kind: RunFindingKind;
  readonly sample_id: string | undefined;
  /** Human-readable description of the finding. */
  readonly what: string;
}

/** Length of the one sentence that the card specification allows a solver. */
const MAX_SHORT_ANSWER_TOKENS = 50;

/** Returns all findings of a problem. */
export function detectRunFindings({
  id,
  cards,
  calls,
}: {
  readonly id: string | undefined;
  readonly cards: readonly MessageCard[];
  readonly calls: readonly RecordedCall[];
}): RunFinding[] {
  const findings: RunFinding[] = [];
  const add = (kind: RunFindingKind, what: string): void => void findings.push({ kind, sample_id: id, what });
  const seenTasks = new Set<string>();
  for (const card of cards) {
    const { sender, recipient, message_type, content, metadata } = card;
    const { error_type, in_reply_to, attempt = 1 } = metadata;
    if (error_type === "invalid_action") add("invalid-action", content);
    if ((message_type === "task" || message_type === "result") && isPlaceholderText(content))
      add("placeholder", `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)}`);
    if (message_type === "result" && sender === "solver" && recipient === "planner") {
      const tokens = countAnswerTokens(card);
      const about = metadata.usage?.source === "reported" ? "" : "about ";
      if (tokens > MAX_SHORT_ANSWER_TOKENS)
        add("long-answer", `the solver answered ${about}${tokens} tokens`);
    }
    // Only delegated tasks count: the initial requester may send the same task several times for
    // self-consistency. A retry has an attempt number.
    if (message_type === "task" && in_reply_to !== undefined && attempt === 1) {
      const key = JSON.stringify([sender, recipient, normalizeCaseAndWhitespace(content)]);
      if (seenTasks.has(key))
        add("repeated-task", `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} is repeated`);
      seenTasks.add(key);
    }
  }
  const limit = cards.find(({ metadata }) => metadata["error_type"] === "turn_limit");
  if (limit) add("turn-limit", `the last answer is ${quoteContent(limit)}`);
  for (const { line, role, turn } of calls)
    if (line.finish_reason === "length")
      add("truncated", `${role}${turn === undefined ? "" : `, turn ${turn}`}: the reply was cut off`);
  return findings;
}

/**
 * Returns descriptions of the message cards of a problem that violate a guarantee of the card protocol. Exactly one card
 * reports the tokens of each model call. Without recorded calls of a role, the tokens on its cards cannot be checked.
 */
export function listProtocolViolations({
  cards,
  calls,
  isSettled,
}: {
  readonly cards: readonly MessageCard[];
  readonly calls: readonly RecordedCall[];
  /** Whether no more message cards are expected. In unfinished problems, a call can be recorded before its card. */
  readonly isSettled: boolean;
}): string[] {
  const callsByCard = Map.groupBy(calls, ({ cardId }) => cardId);
  const recordedRoles = new Set(calls.map(({ role }) => role));
  const ids = new Set(cards.map(({ metadata }) => metadata.card_id));
  const lost = calls.filter(({ cardId, usage }) => !ids.has(cardId) && usage.source !== "none");
  // Custom card types such as `verdict` can also end a task.
  const replies = Map.groupBy(
    cards.filter(({ message_type }) => !["task", "query", "control"].includes(message_type)),
    ({ metadata }) => metadata.in_reply_to,
  );
  const found = isSettled ? lost.map(({ role }) => `no card has the tokens of a call of ${role}`) : [];
  for (const card of cards) {
    const { card_id, usage, tokens } = card.metadata;
    const name = `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)}`;
    const sum = usage && usage.input_tokens + usage.output_tokens;
    if (card.message_type === "task" && card_id !== undefined) {
      const all = replies.get(card_id) ?? [];
      const ends = all.filter(({ message_type }) => message_type === "result" || message_type === "error");
      if (all.length === 0 && isSettled) found.push(`${name} has no reply`);
      if (ends.length > 1) found.push(`${name} has ${ends.length} replies`);
    }
    if (sum !== undefined && tokens !== undefined && sum !== tokens)
      found.push(`${name} has ${tokens} tokens, but its usage is ${sum}`);
    if (!isSettled || card_id === undefined || !recordedRoles.has(card.sender)) continue;
    const own = sumUsageTokens([usage]);
    const called = sumUsageTokens((callsByCard.get(card_id) ?? []).map((call) => call.usage));
    if (JSON.stringify(own) !== JSON.stringify(called))
      found.push(
        `${name} has ${own.input}+${own.output} tokens, but its model calls have ${called.input}+${called.output}`,
      );
  }
  return found;
}

/** Normalizes the case and the whitespace of a task text, for comparison. */
function normalizeCaseAndWhitespace(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function quoteContent({ content }: MessageCard): string {
  const words = content.replaceAll(/\s+/g, " ").trim();
  return words.length > 60 ? `“${truncateText(words, 60)}…”` : `“${words}”`;
}
