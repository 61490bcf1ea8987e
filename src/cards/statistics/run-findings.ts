import { type MessageCard, truncateText } from "../message-card/index.ts";
import type { CardTiming } from "../recording/index.ts";
import { formatEdge } from "./card-statistics.ts";
import { findCardTokenTotal } from "./token-counts.ts";

/** What can be found in a problem's cards by looking at them, without understanding them. */
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
  | "tokens-differ";

export interface RunFinding {
  readonly kind: RunFindingKind;
  readonly sample_id: string | undefined;
  readonly card_ids: readonly string[];
  /** What it is, in words. */
  readonly what: string;
}

export interface RunFindingKindInfo {
  /** The failure mode of the MAST taxonomy (arXiv 2503.13657) that it is a sign of. */
  readonly mastFailureMode?: string;
  /** A promise of the protocol is broken, not only something amiss. */
  readonly isViolation: boolean;
  readonly description: string;
}

/** All kinds, in the order in which reports have them. */
export const RUN_FINDING_KINDS: Readonly<Record<RunFindingKind, RunFindingKindInfo>> = {
  unanswered: { isViolation: true, description: "tasks without a result or an error" },
  "answered-twice": { isViolation: true, description: "tasks with more than one result or error" },
  "tokens-differ": { isViolation: true, description: "cards whose tokens are not the sum of their usage" },
  "answers-nothing": { isViolation: false, description: "replies to a card that is not here" },
  "repeated-task": {
    mastFailureMode: "FM-1.3",
    isViolation: false,
    description: "subtasks that were given before",
  },
  "ping-pong": {
    mastFailureMode: "FM-1.3",
    isViolation: false,
    description: "tasks that came back to where they came from",
  },
  "turn-limit": {
    mastFailureMode: "FM-1.5",
    isViolation: false,
    description: "problems that ran out of turns",
  },
  "invalid-action": {
    mastFailureMode: "FM-2.6",
    isViolation: false,
    description: "actions that nobody could make out",
  },
  "premature-end": {
    mastFailureMode: "FM-3.1",
    isViolation: false,
    description: "answers without a solver, given or only held back",
  },
  "clock-inversion": { isViolation: false, description: "cards that arrived before they were sent" },
};

/** A problem's cards, each once, and when they were under way; `isSettled`: nothing more is to come. */
export interface SampleToInspect {
  readonly id: string | undefined;
  readonly cards: readonly MessageCard[];
  readonly timings: readonly CardTiming[];
  readonly isSettled: boolean;
}

export function detectRunFindings(sample: SampleToInspect): RunFinding[] {
  const look = new FindingDetector(sample);
  return [
    ...look.detectReplyFindings(),
    ...look.detectRepeatedTasks(),
    ...look.detectErrorFindings(),
    ...look.detectPrematureEnds(),
    ...look.detectClockInversions(),
    ...look.detectTokenDifferences(),
  ];
}

class FindingDetector {
  readonly #sample: SampleToInspect;
  readonly #cardsById: Map<string, MessageCard>;

  constructor(sample: SampleToInspect) {
    this.#sample = sample;
    this.#cardsById = new Map(sample.cards.map((card) => [card.metadata.card_id ?? "", card]));
    this.#cardsById.delete("");
  }

  *detectReplyFindings(): Iterable<RunFinding> {
    const { cards, isSettled: settled } = this.#sample;
    const replies = Map.groupBy(cards.filter(isPossibleReply), ({ metadata }) => metadata.in_reply_to);
    for (const card of cards.filter(isTaskCard)) {
      const id = card.metadata.card_id;
      // Without an id nobody can reply to it.
      if (id === undefined) continue;
      const all = replies.get(id) ?? [];
      if (all.length === 0 && settled)
        yield this.#createFinding(
          "unanswered",
          [card],
          `${formatEdge(card)}: ${quoteContent(card)} has no reply`,
        );
      if (all.filter(isTerminalCard).length > 1)
        yield this.#createFinding(
          "answered-twice",
          [card, ...all],
          `${formatEdge(card)}: ${quoteContent(card)} has ${all.length} replies`,
        );
    }
    for (const card of cards) {
      const { in_reply_to } = card.metadata;
      if (in_reply_to !== undefined && !this.#cardsById.has(in_reply_to))
        yield this.#createFinding(
          "answers-nothing",
          [card],
          `${formatEdge(card)}: there is no card ${in_reply_to}`,
        );
    }
  }

  *detectRepeatedTasks(): Iterable<RunFinding> {
    const given = new Map<string, MessageCard>();
    for (const card of this.#sample.cards.filter(isTaskCard)) {
      const { in_reply_to, attempt = 1 } = card.metadata;
      // Only what is delegated: who begins may ask the same of several, as self-consistency does. A retry says that it is one.
      if (in_reply_to === undefined || attempt > 1) continue;
      const key = JSON.stringify([card.sender, card.recipient, normalizeText(card.content)]);
      const before = given.get(key);
      if (before)
        yield this.#createFinding(
          "repeated-task",
          [before, card],
          `${formatEdge(card)}: ${quoteContent(card)} once more`,
        );
      else given.set(key, card);
      const same = this.#listAncestors(card).find(
        ({ sender, recipient }) => sender === card.sender && recipient === card.recipient,
      );
      if (same)
        yield this.#createFinding(
          "ping-pong",
          [same, card],
          `${formatEdge(card)}: ${quoteContent(card)} comes of itself`,
        );
    }
  }

  *detectErrorFindings(): Iterable<RunFinding> {
    const limit = this.#sample.cards.filter((card) => getErrorType(card) === "turn_limit");
    if (limit.length > 0) yield this.#createFinding("turn-limit", limit, limit[0]?.content ?? "");
    for (const card of this.#sample.cards)
      if (getErrorType(card) === "invalid_action")
        yield this.#createFinding("invalid-action", [card], card.content);
  }

  /** A planner that answers at once, or would have, had it not been made to ask. */
  *detectPrematureEnds(): Iterable<RunFinding> {
    const { cards, timings: moments } = this.#sample;
    // Of one that keeps its record elsewhere nobody here knows whom it asked.
    const told = new Set(moments.flatMap(({ card, isSenderRecorded: told }) => (told ? card : [])));
    for (const card of cards) {
      if (card.message_type === "task" && card.metadata["forced"] === true)
        yield this.#createFinding(
          "premature-end",
          [card],
          `${card.sender} wanted to answer at once, and was made to ask`,
        );
      if (card.message_type !== "result" || card.metadata["status"] !== "completed") continue;
      if (!told.has(card)) continue;
      const task = this.#cardsById.get(card.metadata.in_reply_to ?? "");
      if (task?.recipient !== "planner" || task.message_type !== "task") continue;
      const isAlone = cards.every((other) => other.sender !== "planner" || other.message_type !== "task");
      if (isAlone)
        yield this.#createFinding("premature-end", [card], `${card.sender} answered without a solver`);
    }
  }

  *detectClockInversions(): Iterable<RunFinding> {
    for (const { card, isInverted: inverted } of this.#sample.timings)
      if (inverted)
        yield this.#createFinding("clock-inversion", [card], `${formatEdge(card)}: ${quoteContent(card)}`);
  }

  *detectTokenDifferences(): Iterable<RunFinding> {
    for (const card of this.#sample.cards) {
      const { usage, tokens } = card.metadata;
      if (usage === undefined || tokens === undefined) continue;
      const sum = findCardTokenTotal(card);
      if (sum !== tokens)
        yield this.#createFinding(
          "tokens-differ",
          [card],
          `${formatEdge(card)}: tokens ${tokens}, usage ${sum}`,
        );
    }
  }

  /** The tasks that a task comes of, nearest first. */
  #listAncestors(card: MessageCard): MessageCard[] {
    const above: MessageCard[] = [];
    for (let at = this.#findParent(card); at && !above.includes(at); at = this.#findParent(at))
      above.push(at);
    return above;
  }

  #findParent({ metadata }: MessageCard): MessageCard | undefined {
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

function isTerminalCard({ message_type }: MessageCard): boolean {
  return message_type === "result" || message_type === "error";
}

/** Types of your own may end a task, too: `verdict`. */
function isPossibleReply({ message_type }: MessageCard): boolean {
  return !["task", "query", "control"].includes(message_type);
}

/** Of an error, and of a result that tells why it is not whole. */
function getErrorType({ metadata }: MessageCard): unknown {
  return metadata["error_type"];
}

/** The same words are the same task. */
function normalizeText(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function quoteContent({ content }: MessageCard): string {
  const words = content.replaceAll(/\s+/g, " ").trim();
  return words.length > 60 ? `“${truncateText(words, 60)}…”` : `“${words}”`;
}
