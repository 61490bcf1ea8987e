import { truncateText } from "../../protocol/index.ts";
import { type MessageCard } from "../message-card/index.ts";
import type { CardTransitTimes } from "../recording/index.ts";
import { formatCardSenderAndRecipient } from "./card-statistics.ts";
import { countAnswerTokens, findCardTokenTotal } from "./token-counts.ts";

/** Kind of finding. The detection does not interpret the content of message cards. */
export type RunFindingKind =
  | "unanswered"
  | "answered-twice"
  | "answers-nothing"
  | "repeated-task"
  | "ping-pong"
  | "turn-limit"
  | "invalid-action"
  | "premature-end"
  | "clock-inversion"
  | "failed-try"
  | "long-answer"
  | "tokens-differ";

/** Finding in the message cards of one problem. */
export interface RunFinding {
  readonly kind: RunFindingKind;
  readonly sample_id: string | undefined;
  readonly card_ids: readonly string[];
  /** Human-readable description of the finding. */
  readonly what: string;
}

interface RunFindingKindInfo {
  /** Failure mode in the MAST taxonomy (arXiv 2503.13657) that the finding indicates. */
  readonly mastFailureMode?: string;
  /** Whether the finding violates a guarantee of the card protocol. */
  readonly isViolation: boolean;
  readonly description: string;
}

/** Descriptions of all kinds of findings, in the order that reports list the kinds. */
export const RUN_FINDING_KINDS: Readonly<Record<RunFindingKind, RunFindingKindInfo>> = {
  unanswered: { isViolation: true, description: "tasks without a result or an error" },
  "answered-twice": { isViolation: true, description: "tasks with more than one result or error" },
  "tokens-differ": { isViolation: true, description: "cards whose tokens are not the sum of their usage" },
  "answers-nothing": { isViolation: false, description: "replies to a card that is not here" },
  "repeated-task": {
    mastFailureMode: "FM-1.3",
    isViolation: false,
    description: "subtasks that repeat an earlier subtask",
  },
  "ping-pong": {
    mastFailureMode: "FM-1.3",
    isViolation: false,
    description: "tasks that returned to a role that delegated them",
  },
  "turn-limit": {
    mastFailureMode: "FM-1.5",
    isViolation: false,
    description: "problems that ran out of turns",
  },
  "invalid-action": {
    mastFailureMode: "FM-2.6",
    isViolation: false,
    description: "actions that could not be parsed",
  },
  "premature-end": {
    mastFailureMode: "FM-3.1",
    isViolation: false,
    description: "answers without a solver, sent or prevented",
  },
  "failed-try": { isViolation: false, description: "model calls that failed and were repeated" },
  "long-answer": {
    isViolation: false,
    description: "solver answers that are longer than a sentence (over 50 tokens)",
  },
  "clock-inversion": { isViolation: false, description: "cards that arrived before they were sent" },
};

/**
 * Unique message cards of a problem with their times. `isSettled` means that no more message cards are
 * expected.
 */
interface FindingDetectionInput {
  readonly id: string | undefined;
  readonly cards: readonly MessageCard[];
  readonly timings: readonly CardTransitTimes[];
  readonly isSettled: boolean;
}

/** Returns all findings in the message cards of a problem. */
export function detectRunFindings(sample: FindingDetectionInput): RunFinding[] {
  const detector = new RunFindingDetector(sample);
  return [
    ...detector.detectMissingOrExtraReplies(),
    ...detector.detectRepeatedTasks(),
    ...detector.detectTurnLimitsAndInvalidActions(),
    ...detector.detectAnswersWithoutSolver(),
    ...detector.detectArrivalsBeforeSending(),
    ...detector.detectTokensUnequalToUsage(),
    ...detector.detectFailedTries(),
    ...detector.detectLongSolverAnswers(),
  ];
}

/** Length of the one sentence that the card specification allows a solver. */
const MAX_SHORT_ANSWER_TOKENS = 50;

class RunFindingDetector {
  readonly #sample: FindingDetectionInput;
  readonly #cardsById: Map<string, MessageCard>;

  constructor(sample: FindingDetectionInput) {
    this.#sample = sample;
    this.#cardsById = new Map(sample.cards.map((card) => [card.metadata.card_id ?? "", card]));
    this.#cardsById.delete("");
  }

  *detectMissingOrExtraReplies(): Iterable<RunFinding> {
    const { cards, isSettled } = this.#sample;
    const replies = Map.groupBy(cards.filter(isPossibleReply), ({ metadata }) => metadata.in_reply_to);
    for (const card of cards.filter(isTaskCard)) {
      const id = card.metadata.card_id;
      // No card can reply to a task without an ID.
      if (id === undefined) continue;
      const all = replies.get(id) ?? [];
      if (all.length === 0 && isSettled)
        yield this.#createFinding(
          "unanswered",
          [card],
          `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} has no reply`,
        );
      if (all.filter(isResultOrErrorCard).length > 1)
        yield this.#createFinding(
          "answered-twice",
          [card, ...all],
          `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} has ${all.length} replies`,
        );
    }
    for (const card of cards) {
      const { in_reply_to } = card.metadata;
      if (in_reply_to !== undefined && !this.#cardsById.has(in_reply_to))
        yield this.#createFinding(
          "answers-nothing",
          [card],
          `${formatCardSenderAndRecipient(card)}: there is no card ${in_reply_to}`,
        );
    }
  }

  *detectRepeatedTasks(): Iterable<RunFinding> {
    const seenTasks = new Map<string, MessageCard>();
    for (const card of this.#sample.cards.filter(isTaskCard)) {
      const { in_reply_to, attempt = 1 } = card.metadata;
      // Only delegated tasks count: the initial requester may send the same task several times for
      // self-consistency. A retry has an attempt number.
      if (in_reply_to === undefined || attempt > 1) continue;
      const key = JSON.stringify([card.sender, card.recipient, normalizeCaseAndWhitespace(card.content)]);
      const before = seenTasks.get(key);
      if (before)
        yield this.#createFinding(
          "repeated-task",
          [before, card],
          `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} is repeated`,
        );
      else seenTasks.set(key, card);
      const same = this.#listAncestorCards(card).find(
        ({ sender, recipient }) => sender === card.sender && recipient === card.recipient,
      );
      if (same)
        yield this.#createFinding(
          "ping-pong",
          [same, card],
          `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)} results from an earlier task between the same roles`,
        );
    }
  }

  *detectTurnLimitsAndInvalidActions(): Iterable<RunFinding> {
    const limit = this.#sample.cards.filter((card) => getCardErrorType(card) === "turn_limit");
    if (limit.length > 0) yield this.#createFinding("turn-limit", limit, limit[0]?.content ?? "");
    for (const card of this.#sample.cards)
      if (getCardErrorType(card) === "invalid_action")
        yield this.#createFinding("invalid-action", [card], card.content);
  }

  /** Detects planners that answered without a solver, and planners that were forced to use a solver. */
  *detectAnswersWithoutSolver(): Iterable<RunFinding> {
    const { cards, timings } = this.#sample;
    // If another process records the planner, its delegations are unknown.
    const fullyRecorded = new Set(
      timings.flatMap(({ card, isSenderRecorded }) => (isSenderRecorded ? card : [])),
    );
    for (const card of cards) {
      if (card.message_type === "task" && card.metadata["forced"] === true)
        yield this.#createFinding(
          "premature-end",
          [card],
          `${card.sender} tried to answer without a solver and was forced to use one`,
        );
      if (card.message_type !== "result" || card.metadata["status"] !== "completed") continue;
      if (!fullyRecorded.has(card)) continue;
      const task = this.#cardsById.get(card.metadata.in_reply_to ?? "");
      if (task?.recipient !== "planner" || task.message_type !== "task") continue;
      const isAlone = cards.every((other) => other.sender !== "planner" || other.message_type !== "task");
      if (isAlone)
        yield this.#createFinding("premature-end", [card], `${card.sender} answered without a solver`);
    }
  }

  *detectArrivalsBeforeSending(): Iterable<RunFinding> {
    for (const { card, isInverted } of this.#sample.timings)
      if (isInverted)
        yield this.#createFinding(
          "clock-inversion",
          [card],
          `${formatCardSenderAndRecipient(card)}: ${quoteContent(card)}`,
        );
  }

  *detectTokensUnequalToUsage(): Iterable<RunFinding> {
    for (const card of this.#sample.cards) {
      const { usage, tokens } = card.metadata;
      if (usage === undefined || tokens === undefined) continue;
      const sum = findCardTokenTotal(card);
      if (sum !== tokens)
        yield this.#createFinding(
          "tokens-differ",
          [card],
          `${formatCardSenderAndRecipient(card)}: tokens ${tokens}, usage ${sum}`,
        );
    }
  }

  *detectFailedTries(): Iterable<RunFinding> {
    for (const card of this.#sample.cards)
      for (const { error, wait_ms } of card.metadata.failed_tries ?? [])
        yield this.#createFinding(
          "failed-try",
          [card],
          `${card.sender}: ${truncateText(error, 200)} (waited ${wait_ms / 1_000} s)`,
        );
  }

  *detectLongSolverAnswers(): Iterable<RunFinding> {
    for (const card of this.#sample.cards) {
      const { sender, recipient, message_type } = card;
      if (message_type !== "result" || sender !== "solver" || recipient !== "planner") continue;
      const tokens = countAnswerTokens(card);
      if (tokens > MAX_SHORT_ANSWER_TOKENS)
        yield this.#createFinding("long-answer", [card], `the solver answered ${tokens} tokens`);
    }
  }

  /** Returns the ancestors of a task, starting with the parent task. */
  #listAncestorCards(card: MessageCard): MessageCard[] {
    const above: MessageCard[] = [];
    for (let at = this.#findRepliedToCard(card); at && !above.includes(at); at = this.#findRepliedToCard(at))
      above.push(at);
    return above;
  }

  #findRepliedToCard({ metadata }: MessageCard): MessageCard | undefined {
    return this.#cardsById.get(metadata.in_reply_to ?? "");
  }

  #createFinding(kind: RunFindingKind, cards: readonly MessageCard[], what: string): RunFinding {
    const card_ids = cards.flatMap(({ metadata }) => metadata.card_id ?? []);
    return { kind, sample_id: this.#sample.id, card_ids, what };
  }
}

function isTaskCard({ message_type }: MessageCard): boolean {
  return message_type === "task";
}

function isResultOrErrorCard({ message_type }: MessageCard): boolean {
  return message_type === "result" || message_type === "error";
}

/** Returns whether a message card can be a reply. Custom card types such as `verdict` can also end a task. */
function isPossibleReply({ message_type }: MessageCard): boolean {
  return !["task", "query", "control"].includes(message_type);
}

/** Returns the error type of an error card or of an incomplete result card. */
function getCardErrorType({ metadata }: MessageCard): unknown {
  return metadata["error_type"];
}

/** Normalizes the case and the whitespace of a task text, for comparison. */
function normalizeCaseAndWhitespace(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function quoteContent({ content }: MessageCard): string {
  const words = content.replaceAll(/\s+/g, " ").trim();
  return words.length > 60 ? `“${truncateText(words, 60)}…”` : `“${words}”`;
}
