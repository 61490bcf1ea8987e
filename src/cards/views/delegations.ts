import type { Card } from "../card/index.ts";
import type { Moments } from "../record/index.ts";

/**
 * A task that one role gave to another, and all that came of it. Times are milliseconds of the recording's clock. Every
 * view of who worked, who waited and what ran beside what is drawn from these.
 */
export interface Delegation {
  readonly task: Card;
  /** What ended it; `undefined` when nothing did. */
  readonly reply: Card | undefined;
  /** The task left the asker, and reached the worker. */
  readonly sent: number;
  readonly begun: number;
  /** The reply left the worker, and reached the asker; without one, when something was last heard of it. */
  readonly done: number;
  readonly answered: number;
  /** What the worker did, one span for each card that it sent. They follow each other within `begun` and `done`. */
  readonly spans: readonly Span[];
  /** What the worker in turn gave to others. */
  readonly subtasks: readonly Delegation[];
  /** What else was said between the two about it: queries and their answers, controls, notices. */
  readonly asides: readonly Moments[];
}

/** A role at work on one card, which left at `end`. */
export interface Span {
  readonly role: string;
  readonly start: number;
  readonly end: number;
  /** The sender said how long it took; else it is the time since it last heard or said something. */
  readonly measured: boolean;
  readonly card: Card;
}

/** How the cards of one problem hang together. */
export interface Delegations {
  /** Tasks that come of no other. */
  readonly roots: readonly Delegation[];
  /** Cards that are about no task. */
  readonly loose: readonly Moments[];
}

/**
 * Finds each task's reply, subtasks and asides: by `in_reply_to`; where a card has none, as those of the specification
 * do, by who is waiting for whom. Takes the cards of one problem, in the order in which they were sent.
 */
export function delegationsOf(moments: readonly Moments[]): Delegations {
  const all: Under[] = [];
  const byId = new Map<string, Under>();
  const loose: Moments[] = [];
  for (const moment of moments) {
    const { card } = moment;
    const { card_id, in_reply_to } = card.metadata;
    const named = in_reply_to === undefined ? undefined : byId.get(in_reply_to);
    let about: Under | undefined;
    if (card.message_type === "task") {
      about = { task: moment, reply: undefined, subtasks: [], asides: [] };
      (named ?? all.findLast((other) => isOpen(other) && workerOf(other) === card.sender))?.subtasks.push(
        about,
      );
      all.push(about);
    } else {
      about = named ?? guess(card, all);
      if (!about) loose.push(moment);
      else if (isOpen(about) && ends(card, about, named !== undefined)) about.reply = moment;
      else about.asides.push(moment);
    }
    if (card_id !== undefined && about) byId.set(card_id, about);
  }
  const below = new Set(all.flatMap(({ subtasks }) => subtasks));
  return { roots: all.filter((one) => !below.has(one)).map(finished), loose };
}

/** One that is being put together. */
interface Under {
  readonly task: Moments;
  reply: Moments | undefined;
  readonly subtasks: Under[];
  readonly asides: Moments[];
}

function isOpen(one: Under): boolean {
  return one.reply === undefined;
}

function workerOf({ task }: Under): string {
  return task.card.recipient;
}

/** Whatever replies to the task itself ends it, unless it only asks or commands; a type of one's own may, too. */
function ends(card: Card, { task }: Under, isNamed: boolean): boolean {
  if (!isNamed) return card.message_type === "result" && card.sender === task.card.recipient;
  return (
    card.metadata.in_reply_to === task.card.metadata.card_id &&
    card.message_type !== "query" &&
    card.message_type !== "control"
  );
}

/** The task that a card is about, when it does not say so. */
function guess(card: Card, all: readonly Under[]): Under | undefined {
  const comesBack = ({ task }: Under): boolean =>
    card.sender === task.card.recipient && card.recipient === task.card.sender;
  const goesOut = ({ task }: Under): boolean =>
    card.sender === task.card.sender && card.recipient === task.card.recipient;
  // Of several, the one that has waited longest.
  if (card.message_type === "result") return all.find((one) => isOpen(one) && comesBack(one));
  const between = all.filter((one) => comesBack(one) || goesOut(one));
  return between.findLast(isOpen) ?? between.at(-1);
}

function finished({ task, reply, subtasks, asides }: Under): Delegation {
  const inner = subtasks.map(finished);
  const last = Math.max(
    task.arrived,
    ...asides.map(({ arrived }) => arrived),
    ...inner.map((one) => one.answered),
  );
  const spans = workOf(task, [...(reply ? [reply] : []), ...asides, ...subtasks.flatMap(between)]);
  // Who goes on after replying is not done.
  const done = Math.max(task.arrived, reply?.sent ?? last, spans.at(-1)?.end ?? 0);
  return {
    task: task.card,
    reply: reply?.card,
    sent: task.sent,
    begun: task.arrived,
    done,
    answered: Math.max(done, reply?.arrived ?? 0),
    spans,
    subtasks: inner,
    asides,
  };
}

/** All cards between the asker and the worker. */
function between({ task, reply, asides }: Under): Moments[] {
  return [task, ...asides, ...(reply ? [reply] : [])];
}

/** The worker's spans, from all cards that it sent and got while it had the task. */
function workOf(task: Moments, others: readonly Moments[]): Span[] {
  const worker = task.card.recipient;
  const events = others
    .map((moment) => {
      const isSent = moment.card.sender === worker;
      return { card: moment.card, isSent, at: isSent ? moment.sent : moment.arrived };
    })
    .toSorted((a, b) => a.at - b.at);
  const spans: Span[] = [];
  let heard = task.arrived;
  let worked = task.arrived;
  for (const { card, isSent, at } of events) {
    if (isSent) {
      const { duration_ms } = card.metadata;
      // Two clocks may disagree by a little, and several cards may come of one call: spans must not overlap.
      const end = Math.max(at, worked);
      const start = Math.min(end, Math.max(worked, duration_ms === undefined ? heard : end - duration_ms));
      spans.push({ role: worker, start, end, measured: duration_ms !== undefined, card });
      worked = end;
    }
    heard = Math.max(heard, at);
  }
  return spans;
}
