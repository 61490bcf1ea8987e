import type { MessageCard } from "../message-card/index.ts";
import type { CardTransitTimes } from "../recording/index.ts";

/**
 * Task that one role delegated to another, with all related message cards. Times are in milliseconds on the
 * clock of the recording. All diagrams that show work, waiting, or parallelism are based on delegations.
 */
export interface Delegation {
  readonly task: MessageCard;
  /** Message card that ended the task, or `undefined` if the task has no reply. */
  readonly reply: MessageCard | undefined;
  /** Time when the requester sent the task. */
  readonly sentMs: number;
  /** Time when the task reached the worker. */
  readonly startMs: number;
  /**
   * Time when the worker sent the reply, or the time of the last related message card if the task has no
   * reply.
   */
  readonly doneMs: number;
  /** Time when the reply reached the requester. */
  readonly answeredMs: number;
  /**
   * Work spans of the worker, one for each message card that the worker sent. The work spans do not overlap
   * and lie between `startMs` and `doneMs`.
   */
  readonly workSpans: readonly WorkSpan[];
  /** Tasks that the worker delegated to other roles. */
  readonly subtasks: readonly Delegation[];
  /**
   * Queries, query replies, control cards, and notices that the requester and the worker exchanged about the
   * task.
   */
  readonly relatedCards: readonly CardTransitTimes[];
}

/** Period when a role worked on a message card. The role sent the message card at the time `end`. */
export interface WorkSpan {
  readonly role: string;
  readonly start: number;
  readonly end: number;
  /**
   * Whether the sender reported the duration of the work. If the duration was not reported, the work span
   * starts at the last message card that the role sent or received.
   */
  readonly isMeasured: boolean;
  readonly card: MessageCard;
}

export interface DelegatedTaskForest {
  /** Delegations that have no parent task. */
  readonly roots: readonly Delegation[];
  /** Message cards that belong to no task. */
  readonly unassigned: readonly CardTransitTimes[];
}

/**
 * Groups the message cards of one problem into delegated tasks with their replies, subtasks, and related
 * cards. A message card with `in_reply_to` belongs to the task of the referenced card. If a message card has
 * no `in_reply_to`, the function infers the task from the sender and the recipient. `timings` must be sorted
 * by sending time.
 */
export function buildDelegatedTaskForest(timings: readonly CardTransitTimes[]): DelegatedTaskForest {
  const all: DelegationUnderConstruction[] = [];
  const byId = new Map<string, DelegationUnderConstruction>();
  const unassigned: CardTransitTimes[] = [];
  for (const timing of timings) {
    const { card } = timing;
    const { card_id, in_reply_to } = card.metadata;
    const named = in_reply_to === undefined ? undefined : byId.get(in_reply_to);
    let owner: DelegationUnderConstruction | undefined;
    if (card.message_type === "task") {
      owner = { task: timing, reply: undefined, subtasks: [], relatedCards: [] };
      (
        named ??
        all.findLast(
          (other) => isUnansweredDelegation(other) && getDelegationRecipient(other) === card.sender,
        )
      )?.subtasks.push(owner);
      all.push(owner);
    } else {
      owner = named ?? guessDelegationForUnlinkedCard(card, all);
      if (!owner) unassigned.push(timing);
      else if (isUnansweredDelegation(owner) && isReplyThatEndsTask(card, owner, named !== undefined))
        owner.reply = timing;
      else owner.relatedCards.push(timing);
    }
    if (card_id !== undefined && owner) byId.set(card_id, owner);
  }
  const subtasks = new Set(all.flatMap(({ subtasks }) => subtasks));
  return { roots: all.filter((one) => !subtasks.has(one)).map(buildDelegation), unassigned };
}

interface DelegationUnderConstruction {
  readonly task: CardTransitTimes;
  reply: CardTransitTimes | undefined;
  readonly subtasks: DelegationUnderConstruction[];
  readonly relatedCards: CardTransitTimes[];
}

function isUnansweredDelegation(one: DelegationUnderConstruction): boolean {
  return one.reply === undefined;
}

function getDelegationRecipient({ task }: DelegationUnderConstruction): string {
  return task.card.recipient;
}

/**
 * Returns whether a message card ends a task. Every direct reply ends its task unless the reply is a query or
 * a control card.
 */
function isReplyThatEndsTask(
  card: MessageCard,
  { task }: DelegationUnderConstruction,
  isNamed: boolean,
): boolean {
  if (!isNamed) return card.message_type === "result" && card.sender === task.card.recipient;
  return (
    card.metadata.in_reply_to === task.card.metadata.card_id &&
    card.message_type !== "query" &&
    card.message_type !== "control"
  );
}

/** Guesses the task of a message card that does not refer to another card. */
function guessDelegationForUnlinkedCard(
  card: MessageCard,
  all: readonly DelegationUnderConstruction[],
): DelegationUnderConstruction | undefined {
  const comesBack = ({ task }: DelegationUnderConstruction): boolean =>
    card.sender === task.card.recipient && card.recipient === task.card.sender;
  const goesOut = ({ task }: DelegationUnderConstruction): boolean =>
    card.sender === task.card.sender && card.recipient === task.card.recipient;
  // The longest pending task has priority.
  if (card.message_type === "result") return all.find((one) => isUnansweredDelegation(one) && comesBack(one));
  const between = all.filter((one) => comesBack(one) || goesOut(one));
  return between.findLast(isUnansweredDelegation) ?? between.at(-1);
}

function buildDelegation({ task, reply, subtasks, relatedCards }: DelegationUnderConstruction): Delegation {
  const inner = subtasks.map(buildDelegation);
  const last = Math.max(
    task.arrivedMs,
    ...relatedCards.map(({ arrivedMs }) => arrivedMs),
    ...inner.map((one) => one.answeredMs),
  );
  const spans = computeWorkSpans(task, [
    ...(reply ? [reply] : []),
    ...relatedCards,
    ...subtasks.flatMap(listDelegationCardTransitTimes),
  ]);
  // A worker that sends cards after its reply is not done yet.
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
    relatedCards,
  };
}

function listDelegationCardTransitTimes({
  task,
  reply,
  relatedCards,
}: DelegationUnderConstruction): CardTransitTimes[] {
  return [task, ...relatedCards, ...(reply ? [reply] : [])];
}

/**
 * Computes the work spans of the worker from the message cards that the worker sent and received during the
 * task.
 */
function computeWorkSpans(task: CardTransitTimes, others: readonly CardTransitTimes[]): WorkSpan[] {
  const worker = task.card.recipient;
  const events = others
    .map((timing) => {
      const isSent = timing.card.sender === worker;
      return { card: timing.card, isSent, at: isSent ? timing.sentMs : timing.arrivedMs };
    })
    .toSorted((a, b) => a.at - b.at);
  const spans: WorkSpan[] = [];
  let lastEventMs = task.arrivedMs;
  let lastWorkMs = task.arrivedMs;
  for (const { card, isSent, at } of events) {
    if (isSent) {
      const { duration_ms } = card.metadata;
      // Clocks may differ slightly, and one call may produce several cards. Spans must not overlap in either
      // case.
      const end = Math.max(at, lastWorkMs);
      const start = Math.min(
        end,
        Math.max(lastWorkMs, duration_ms === undefined ? lastEventMs : end - duration_ms),
      );
      spans.push({ role: worker, start, end, isMeasured: duration_ms !== undefined, card });
      lastWorkMs = end;
    }
    lastEventMs = Math.max(lastEventMs, at);
  }
  return spans;
}
