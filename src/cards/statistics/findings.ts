import { type Card, cut } from "../card/index.ts";
import type { Moments } from "../record/index.ts";

/** What can be found in a problem's cards by looking at them, without understanding them. */
export type FindingKind =
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

export interface Finding {
  readonly kind: FindingKind;
  readonly sample_id: string | undefined;
  readonly card_ids: readonly string[];
  /** What it is, in words. */
  readonly what: string;
}

export interface KindOfFinding {
  /** The failure mode of the MAST taxonomy (arXiv 2503.13657) that it is a sign of. */
  readonly mast?: string;
  /** A promise of the protocol is broken, not only something amiss. */
  readonly broken: boolean;
  readonly about: string;
}

/** All kinds, in the order in which reports have them. */
export const FINDINGS: Readonly<Record<FindingKind, KindOfFinding>> = {
  unanswered: { broken: true, about: "tasks without a result or an error" },
  "answered-twice": { broken: true, about: "tasks with more than one result or error" },
  "tokens-differ": { broken: true, about: "cards whose tokens are not the sum of their usage" },
  "answers-nothing": { broken: false, about: "replies to a card that is not here" },
  "repeated-task": { mast: "FM-1.3", broken: false, about: "subtasks that were given before" },
  "ping-pong": { mast: "FM-1.3", broken: false, about: "tasks that came back to where they came from" },
  "turn-limit": { mast: "FM-1.5", broken: false, about: "problems that ran out of turns" },
  "invalid-action": { mast: "FM-2.6", broken: false, about: "actions that nobody could make out" },
  "premature-end": {
    mast: "FM-3.1",
    broken: false,
    about: "answers without a solver, given or only held back",
  },
  "clock-inversion": { broken: false, about: "cards that arrived before they were sent" },
};

/** A problem's cards, each once, and when they were under way; `settled`: nothing more is to come. */
export interface Looked {
  readonly id: string | undefined;
  readonly cards: readonly Card[];
  readonly moments: readonly Moments[];
  readonly settled: boolean;
}

export function findingsOf(sample: Looked): Finding[] {
  const look = new Look(sample);
  return [
    ...look.replies(),
    ...look.tasks(),
    ...look.errors(),
    ...look.ends(),
    ...look.clocks(),
    ...look.tokens(),
  ];
}

class Look {
  readonly #sample: Looked;
  readonly #byId: Map<string, Card>;

  constructor(sample: Looked) {
    this.#sample = sample;
    this.#byId = new Map(sample.cards.map((card) => [card.metadata.card_id ?? "", card]));
    this.#byId.delete("");
  }

  *replies(): Iterable<Finding> {
    const { cards, settled } = this.#sample;
    const replies = Map.groupBy(cards.filter(mayEnd), ({ metadata }) => metadata.in_reply_to);
    for (const card of cards.filter(isTask)) {
      const id = card.metadata.card_id;
      // Without an id nobody can reply to it.
      if (id === undefined) continue;
      const all = replies.get(id) ?? [];
      if (all.length === 0 && settled)
        yield this.#found("unanswered", [card], `${edgeOf(card)}: ${quoted(card)} has no reply`);
      if (all.filter(isTerminal).length > 1)
        yield this.#found(
          "answered-twice",
          [card, ...all],
          `${edgeOf(card)}: ${quoted(card)} has ${all.length} replies`,
        );
    }
    for (const card of cards) {
      const { in_reply_to } = card.metadata;
      if (in_reply_to !== undefined && !this.#byId.has(in_reply_to))
        yield this.#found("answers-nothing", [card], `${edgeOf(card)}: there is no card ${in_reply_to}`);
    }
  }

  *tasks(): Iterable<Finding> {
    const given = new Map<string, Card>();
    for (const card of this.#sample.cards.filter(isTask)) {
      const { in_reply_to, attempt = 1 } = card.metadata;
      // Only what is delegated: who begins may ask the same of several, as self-consistency does. A retry says that it is one.
      if (in_reply_to === undefined || attempt > 1) continue;
      const key = JSON.stringify([card.sender, card.recipient, wordsOf(card.content)]);
      const before = given.get(key);
      if (before)
        yield this.#found("repeated-task", [before, card], `${edgeOf(card)}: ${quoted(card)} once more`);
      else given.set(key, card);
      const same = this.#above(card).find(
        ({ sender, recipient }) => sender === card.sender && recipient === card.recipient,
      );
      if (same)
        yield this.#found("ping-pong", [same, card], `${edgeOf(card)}: ${quoted(card)} comes of itself`);
    }
  }

  *errors(): Iterable<Finding> {
    const limit = this.#sample.cards.filter((card) => typeOfError(card) === "turn_limit");
    if (limit.length > 0) yield this.#found("turn-limit", limit, limit[0]?.content ?? "");
    for (const card of this.#sample.cards)
      if (typeOfError(card) === "invalid_action") yield this.#found("invalid-action", [card], card.content);
  }

  /** A planner that answers at once, or would have, had it not been made to ask. */
  *ends(): Iterable<Finding> {
    const { cards, moments } = this.#sample;
    // Of one that keeps its record elsewhere nobody here knows whom it asked.
    const told = new Set(moments.flatMap(({ card, told }) => (told ? card : [])));
    for (const card of cards) {
      if (card.message_type === "task" && card.metadata["forced"] === true)
        yield this.#found(
          "premature-end",
          [card],
          `${card.sender} wanted to answer at once, and was made to ask`,
        );
      if (card.message_type !== "result" || card.metadata["status"] !== "completed") continue;
      if (!told.has(card)) continue;
      const task = this.#byId.get(card.metadata.in_reply_to ?? "");
      if (task?.recipient !== "planner" || task.message_type !== "task") continue;
      const isAlone = cards.every((other) => other.sender !== "planner" || other.message_type !== "task");
      if (isAlone) yield this.#found("premature-end", [card], `${card.sender} answered without a solver`);
    }
  }

  *clocks(): Iterable<Finding> {
    for (const { card, inverted } of this.#sample.moments)
      if (inverted) yield this.#found("clock-inversion", [card], `${edgeOf(card)}: ${quoted(card)}`);
  }

  *tokens(): Iterable<Finding> {
    for (const card of this.#sample.cards) {
      const { usage, tokens } = card.metadata;
      if (usage === undefined || tokens === undefined) continue;
      const sum = usage.input_tokens + usage.output_tokens;
      if (sum !== tokens)
        yield this.#found("tokens-differ", [card], `${edgeOf(card)}: tokens ${tokens}, usage ${sum}`);
    }
  }

  /** The tasks that a task comes of, nearest first. */
  #above(card: Card): Card[] {
    const above: Card[] = [];
    for (let at = this.#parent(card); at && !above.includes(at); at = this.#parent(at)) above.push(at);
    return above;
  }

  #parent({ metadata }: Card): Card | undefined {
    return this.#byId.get(metadata.in_reply_to ?? "");
  }

  #found(kind: FindingKind, cards: readonly Card[], what: string): Finding {
    const card_ids = cards.flatMap(({ metadata }) => metadata.card_id ?? []);
    return { kind, sample_id: this.#sample.id, card_ids, what };
  }
}

function isTask({ message_type }: Card): boolean {
  return message_type === "task";
}

function isTerminal({ message_type }: Card): boolean {
  return message_type === "result" || message_type === "error";
}

/** Types of your own may end a task, too: `verdict`. */
function mayEnd({ message_type }: Card): boolean {
  return !["task", "query", "control"].includes(message_type);
}

/** Of an error, and of a result that tells why it is not whole. */
function typeOfError({ metadata }: Card): unknown {
  return metadata["error_type"];
}

function edgeOf({ sender, recipient }: Card): string {
  return `${sender} → ${recipient}`;
}

/** The same words are the same task. */
function wordsOf(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

function quoted({ content }: Card): string {
  const words = content.replaceAll(/\s+/g, " ").trim();
  return words.length > 60 ? `“${cut(words, 60)}…”` : `“${words}”`;
}
