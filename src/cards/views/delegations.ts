import type { MessageCard } from "../message-card/index.ts";
import type { CardTiming } from "../recording/index.ts";

/**
 * A task that one role gave to another, and all that came of it. Times are milliseconds of the recording's clock. Every
 * view of who worked, who waited and what ran beside what is drawn from these.
 */
export interface Delegation {
  readonly task: MessageCard;
  /** What ended it; `undefined` when nothing did. */
  readonly reply: MessageCard | undefined;
  /** The task left the asker, and reached the worker. */
  readonly sentMs: number;
  readonly startMs: number;
  /** The reply left the worker, and reached the asker; without one, when something was last heard of it. */
  readonly doneMs: number;
  readonly answeredMs: number;
  /** What the worker did, one span for each card that it sent. They follow each other within `startMs` and `doneMs`. */
  readonly workSpans: readonly WorkSpan[];
  /** What the worker in turn gave to others. */
  readonly subtasks: readonly Delegation[];
  /** What else was said between the two about it: queries and their answers, controls, notices. */
  readonly relatedCards: readonly CardTiming[];
}

/** A role at work on one card, which left at `end`. */
export interface WorkSpan {
  readonly role: string;
  readonly start: number;
  readonly end: number;
  /** The sender said how long it took; else it is the time since it last heard or said something. */
  readonly isMeasured: boolean;
  readonly card: MessageCard;
}

/** How the cards of one problem hang together. */
export interface DelegationForest {
  /** Tasks that come of no other. */
  readonly roots: readonly Delegation[];
  /** Cards that are about no task. */
  readonly unassigned: readonly CardTiming[];
}

/**
 * Finds each task's reply, subtasks and asides: by `in_reply_to`; where a card has none, as those of the specification
 * do, by who is waiting for whom. Takes the cards of one problem, in the order in which they were sent.
 */
export function buildDelegationForest(moments: readonly CardTiming[]): DelegationForest {
  const all: PendingDelegation[] = [];
  const byId = new Map<string, PendingDelegation>();
  const loose: CardTiming[] = [];
  for (const moment of moments) {
    const { card } = moment;
    const { card_id, in_reply_to } = card.metadata;
    const named = in_reply_to === undefined ? undefined : byId.get(in_reply_to);
    let about: PendingDelegation | undefined;
    if (card.message_type === "task") {
      about = { task: moment, reply: undefined, subtasks: [], relatedCards: [] };
      (
        named ?? all.findLast((other) => isUnanswered(other) && getWorker(other) === card.sender)
      )?.subtasks.push(about);
      all.push(about);
    } else {
      about = named ?? guessDelegation(card, all);
      if (!about) loose.push(moment);
      else if (isUnanswered(about) && isFinalReply(card, about, named !== undefined)) about.reply = moment;
      else about.relatedCards.push(moment);
    }
    if (card_id !== undefined && about) byId.set(card_id, about);
  }
  const below = new Set(all.flatMap(({ subtasks }) => subtasks));
  return { roots: all.filter((one) => !below.has(one)).map(finishDelegation), unassigned: loose };
}

/** One that is being put together. */
interface PendingDelegation {
  readonly task: CardTiming;
  reply: CardTiming | undefined;
  readonly subtasks: PendingDelegation[];
  readonly relatedCards: CardTiming[];
}

function isUnanswered(one: PendingDelegation): boolean {
  return one.reply === undefined;
}

function getWorker({ task }: PendingDelegation): string {
  return task.card.recipient;
}

/** Whatever replies to the task itself ends it, unless it only asks or commands; a type of one's own may, too. */
function isFinalReply(card: MessageCard, { task }: PendingDelegation, isNamed: boolean): boolean {
  if (!isNamed) return card.message_type === "result" && card.sender === task.card.recipient;
  return (
    card.metadata.in_reply_to === task.card.metadata.card_id &&
    card.message_type !== "query" &&
    card.message_type !== "control"
  );
}

/** The task that a card is about, when it does not say so. */
function guessDelegation(
  card: MessageCard,
  all: readonly PendingDelegation[],
): PendingDelegation | undefined {
  const comesBack = ({ task }: PendingDelegation): boolean =>
    card.sender === task.card.recipient && card.recipient === task.card.sender;
  const goesOut = ({ task }: PendingDelegation): boolean =>
    card.sender === task.card.sender && card.recipient === task.card.recipient;
  // Of several, the one that has waited longest.
  if (card.message_type === "result") return all.find((one) => isUnanswered(one) && comesBack(one));
  const between = all.filter((one) => comesBack(one) || goesOut(one));
  return between.findLast(isUnanswered) ?? between.at(-1);
}

function finishDelegation({ task, reply, subtasks, relatedCards: asides }: PendingDelegation): Delegation {
  const inner = subtasks.map(finishDelegation);
  const last = Math.max(
    task.arrivedMs,
    ...asides.map(({ arrivedMs: arrived }) => arrived),
    ...inner.map((one) => one.answeredMs),
  );
  const spans = computeWorkSpans(task, [
    ...(reply ? [reply] : []),
    ...asides,
    ...subtasks.flatMap(listDelegationTimings),
  ]);
  // Who goes on after replying is not done.
  const done = Math.max(task.arrivedMs, reply?.sentMs ?? last, spans.at(-1)?.end ?? 0);
  return {
    task: task.card,
    reply: reply?.card,
    sentMs: task.sentMs,
    startMs: task.arrivedMs,
    doneMs: done,
    answeredMs: Math.max(done, reply?.arrivedMs ?? 0),
    workSpans: spans,
    subtasks: inner,
    relatedCards: asides,
  };
}

/** All cards between the asker and the worker. */
function listDelegationTimings({ task, reply, relatedCards: asides }: PendingDelegation): CardTiming[] {
  return [task, ...asides, ...(reply ? [reply] : [])];
}

/** The worker's spans, from all cards that it sent and got while it had the task. */
function computeWorkSpans(task: CardTiming, others: readonly CardTiming[]): WorkSpan[] {
  const worker = task.card.recipient;
  const events = others
    .map((moment) => {
      const isSent = moment.card.sender === worker;
      return { card: moment.card, isSent, at: isSent ? moment.sentMs : moment.arrivedMs };
    })
    .toSorted((a, b) => a.at - b.at);
  const spans: WorkSpan[] = [];
  let heard = task.arrivedMs;
  let worked = task.arrivedMs;
  for (const { card, isSent, at } of events) {
    if (isSent) {
      const { duration_ms } = card.metadata;
      // Two clocks may disagree by a little, and several cards may come of one call: spans must not overlap.
      const end = Math.max(at, worked);
      const start = Math.min(end, Math.max(worked, duration_ms === undefined ? heard : end - duration_ms));
      spans.push({ role: worker, start, end, isMeasured: duration_ms !== undefined, card });
      worked = end;
    }
    heard = Math.max(heard, at);
  }
  return spans;
}
