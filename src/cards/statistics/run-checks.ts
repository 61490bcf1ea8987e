import { truncateText } from "../../protocol/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import type { RecordedCall, RecordedSample } from "../recording/index.ts";
import { isPlaceholderText } from "../scoring/index.ts";
import { formatCardSenderAndRecipient } from "./card-statistics.ts";
import {
  addTokenCounts,
  convertUsageToTokenCounts,
  countAnswerTokens,
  type TokenCounts,
  ZERO_TOKENS,
} from "./token-counts.ts";

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
  if (limit) add("turn-limit", limit.content);
  for (const { line, role, turn } of calls)
    if (line.finish_reason === "length")
      add("truncated", `${role}${turn === undefined ? "" : `, turn ${turn}`}: the reply was cut off`);
  return findings;
}

/** Returns descriptions of the message cards of a problem that violate a guarantee of the card protocol. */
export function listProtocolViolations({
  cards,
  isSettled,
}: {
  readonly cards: readonly MessageCard[];
  /** Whether no more message cards are expected. */
  readonly isSettled: boolean;
}): string[] {
  // Custom card types such as `verdict` can also end a task.
  const replies = Map.groupBy(
    cards.filter(({ message_type }) => !["task", "query", "control"].includes(message_type)),
    ({ metadata }) => metadata.in_reply_to,
  );
  return cards.flatMap((card) => {
    const { card_id, usage, tokens } = card.metadata;
    const name = `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)}`;
    const sum = usage && usage.input_tokens + usage.output_tokens;
    const found: string[] = [];
    if (card.message_type === "task" && card_id !== undefined) {
      const all = replies.get(card_id) ?? [];
      const ends = all.filter(({ message_type }) => message_type === "result" || message_type === "error");
      if (all.length === 0 && isSettled) found.push(`${name} has no reply`);
      if (ends.length > 1) found.push(`${name} has ${ends.length} replies`);
    }
    if (sum !== undefined && tokens !== undefined && sum !== tokens)
      found.push(`${name} has ${tokens} tokens, but its usage is ${sum}`);
    return found;
  });
}

/** Normalizes the case and the whitespace of a task text, for comparison. */
function normalizeCaseAndWhitespace(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function quoteContent({ content }: MessageCard): string {
  const words = content.replaceAll(/\s+/g, " ").trim();
  return words.length > 60 ? `“${truncateText(words, 60)}…”` : `“${words}”`;
}

/** Comparison between the token counts of message cards and model calls. */
export interface CardCallTokenComparison {
  readonly ok: boolean;
  /** Number of problem and role pairs whose token counts were compared. */
  readonly checked: number;
  readonly mismatches: readonly CardCallTokenMismatch[];
  /** Roles whose tokens cannot be checked, because another process records their model calls. */
  readonly unchecked: readonly string[];
}

/** Problem and role whose message cards and model calls have different token counts. */
interface CardCallTokenMismatch {
  readonly sample_id: string | undefined;
  readonly role: string;
  /** Token counts on the role's message cards. */
  readonly cards: TokenCounts;
  /** Token counts of the role's model calls. */
  readonly calls: TokenCounts;
  /** IDs of the message cards whose token counts differ from the token counts of their model calls. */
  readonly card_ids: readonly string[];
}

/**
 * Compares the token counts of message cards and model calls for each problem and each recorded role. Pass
 * only finished problems. In unfinished problems, a model call can be recorded before its message card.
 */
export function compareCardAndCallTokens(
  samples: readonly Pick<RecordedSample, "id" | "cards" | "calls">[],
  allCalls: readonly RecordedCall[],
): CardCallTokenComparison {
  const recordedRoles = new Set(allCalls.map(({ role }) => role));
  const mismatches: CardCallTokenMismatch[] = [];
  let checked = 0;
  const unchecked = new Set<string>();
  for (const { id, cards, calls } of samples) {
    const cardsByRole = Map.groupBy(cards, ({ sender }) => sender);
    const callsByRole = Map.groupBy(calls, ({ role }) => role);
    for (const role of new Set([...cardsByRole.keys(), ...callsByRole.keys()])) {
      const roleCards = cardsByRole.get(role) ?? [];
      if (!recordedRoles.has(role)) {
        if (roleCards.some(({ metadata }) => metadata.usage)) unchecked.add(role);
        continue;
      }
      checked += 1;
      const mismatch = findCardCallTokenMismatch(id, role, roleCards, callsByRole.get(role) ?? []);
      if (mismatch) mismatches.push(mismatch);
    }
  }
  return { ok: mismatches.length === 0, checked, mismatches, unchecked: [...unchecked] };
}

function findCardCallTokenMismatch(
  sample_id: string | undefined,
  role: string,
  cards: readonly MessageCard[],
  calls: readonly RecordedCall[],
): CardCallTokenMismatch | undefined {
  const cardTokens = new Map<string, TokenCounts>();
  const callTokens = new Map<string, TokenCounts>();
  for (const { metadata } of cards)
    addTokensToSum(cardTokens, metadata.card_id ?? "", convertUsageToTokenCounts(metadata.usage));
  for (const { cardId, usage } of calls) addTokensToSum(callTokens, cardId, convertUsageToTokenCounts(usage));
  const card_ids = [...new Set([...cardTokens.keys(), ...callTokens.keys()])].filter(
    (id) => !hasSameTokens(cardTokens.get(id) ?? ZERO_TOKENS, callTokens.get(id) ?? ZERO_TOKENS),
  );
  if (card_ids.length === 0) return undefined;
  return { sample_id, role, cards: sumAllTokens(cardTokens), calls: sumAllTokens(callTokens), card_ids };
}

function addTokensToSum(sums: Map<string, TokenCounts>, id: string, tokens: TokenCounts): void {
  sums.set(id, addTokenCounts(sums.get(id) ?? ZERO_TOKENS, tokens));
}

function sumAllTokens(sums: ReadonlyMap<string, TokenCounts>): TokenCounts {
  return [...sums.values()].reduce(addTokenCounts, ZERO_TOKENS);
}

function hasSameTokens(a: TokenCounts, b: TokenCounts): boolean {
  return a.input === b.input && a.output === b.output && a.cached === b.cached && a.reasoning === b.reasoning;
}
