import {
  A2AError,
  fold,
  isInterrupted,
  isEventRefusal,
  isTerminal,
  LogEvent,
  findRefusal,
  copyTask,
  type EventRefusal,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import type { TaskScope } from "./caller.ts";
import { formatTimestamp, type Clock } from "./clock.ts";
import type { Committer, LogWriter } from "./committer.ts";
import type { PersistedTurn } from "./persisted-turn.ts";
import type { Observer } from "./observer.ts";
import type { WatchedTask } from "./push/active-webhooks.ts";
import type { WebhookRegistration } from "./push/push-store.ts";
import { PendingEvents } from "./pending-events.ts";
import { SnapshotSchedule } from "./snapshot-schedule.ts";
import type { LogAppend, AppendRefusal, TaskStore } from "./task-store.ts";
import { Tail } from "./tail.ts";

/** What a live task needs of its surroundings. */
export interface LiveTaskContext {
  readonly store: TaskStore;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Merge waiting chunks of text. */
  readonly mergeChunks: boolean;
  /** Have the store remember the ids of messages. */
  readonly deduplicateMessages: boolean;
  /** Have the store keep what turns at work were asked. */
  readonly persistTurns: boolean;
  /** Left word with when a task that may have webhooks has new events. */
  readonly outbox?:
    | { notifyCommit(task: WatchedTask, registered?: readonly WebhookRegistration[]): void }
    | undefined;
}

/** The runner, as its task speaks to it. */
export interface LiveTaskListener {
  /** Somebody follows the task. */
  readonly hasReaders: boolean;
  /** A status that ends or interrupts a turn was committed, and none behind it that goes on. */
  onTurnStop(): void;
  /** Events could not be committed; nothing more will be. */
  onCommitFailed(error: A2AError): void;
  /** Nothing waits for a commit any more. */
  onAllCommitted(): void;
}

/** A message that was accepted with an event, to be told the event's seq once that is durable. */
interface UncommittedMessage {
  readonly messageId: string;
  readonly seq: number;
  readonly durableSeq: Deferred<number>;
  /** Registered with the message. */
  readonly webhook: WebhookRegistration | undefined;
}

/**
 * A task that is being written or read: its log's growing end. An event is judged when it comes in, waits for the next
 * commit, and is folded and seen by readers only once it is durable (E1).
 */
export class LiveTask implements LogWriter, WatchedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  readonly tail: Tail = new Tail();
  /** It may have webhooks. */
  mayHaveWebhooks: boolean;
  readonly #context: LiveTaskContext;
  readonly #listener: LiveTaskListener;
  readonly #pendingEvents: PendingEvents;
  readonly #snapshotSchedule: SnapshotSchedule;
  /** The task as committed. */
  #task: Task | undefined;
  #seq: number;
  /** Newest status once all that is pending is committed. */
  #state: TaskState | undefined;
  #statusTimestamp: string;
  #uncommittedMessages: UncommittedMessage[] = [];
  #currentCommit:
    | { readonly append: LogAppend; readonly messages: readonly UncommittedMessage[] }
    | undefined;
  #capacity: Deferred | undefined;
  #nextCommit: Deferred | undefined;
  #failure: A2AError | undefined;
  /** To be kept with what is pending. */
  #turnToPersist: PersistedTurn | undefined;
  /** Something among what is pending is waited for. */
  #isUrgent = false;

  constructor(
    context: LiveTaskContext,
    listener: LiveTaskListener,
    ids: { scope: TaskScope; taskId: string; contextId: string },
    stored?: { task: Task; seq: number },
  ) {
    this.#context = context;
    this.#listener = listener;
    this.scope = ids.scope;
    this.taskId = ids.taskId;
    this.contextId = ids.contextId;
    this.#pendingEvents = new PendingEvents(context.mergeChunks);
    this.#snapshotSchedule = new SnapshotSchedule(context.store.usesSnapshots);
    this.mayHaveWebhooks = stored !== undefined;
    this.#task = stored?.task;
    this.#seq = stored?.seq ?? 0;
    this.#state = stored?.task.status.state;
    this.#statusTimestamp = stored?.task.status.timestamp ?? "";
  }

  /** The seq of the newest committed event. */
  get seq(): number {
    return this.#seq;
  }

  /** The state once all that is pending is committed; undefined before birth. */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** True when events wait for a commit. */
  get hasPendingEvents(): boolean {
    return this.#currentCommit !== undefined || this.#pendingEvents.length > 0;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** The committed task: a copy that later events do not touch. */
  getSnapshot(): Task {
    if (!this.#task) throw A2AError.taskNotFound(this.taskId);
    // What is finished does not change any more and needs no copy.
    return isTerminal(this.#task.status.state) ? this.#task : copyTask(this.#task);
  }

  /** True when no event will follow the one at `seq`. */
  hasEndedAt(seq: number): boolean {
    return seq >= this.#seq && this.#task !== undefined && isTerminal(this.#task.status.state);
  }

  /** Resolves at the next commit; rejects when there will be none. */
  waitForCommit(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return (this.#nextCommit ??= new Deferred()).promise;
  }

  /** Now, but never before the newest status of the task (E16). ISO 8601 UTC with milliseconds. */
  getTimestamp(): string {
    const now = formatTimestamp(this.#context.clock.now());
    return now < this.#statusTimestamp ? this.#statusTimestamp : now;
  }

  /** Takes an event in, or says why it is not legal here. Commits soon; see `waitForCapacity` for how fast to go on. */
  acceptEvent(event: TaskEvent): EventRefusal | undefined {
    const refusal = findRefusal(this.#state, event);
    if (refusal) return refusal;
    const status = getEventStatus(event);
    if (status) {
      this.#state = status.state;
      this.#statusTimestamp = status.timestamp ?? this.#statusTimestamp;
    }
    this.#pendingEvents.push(event);
    // A chunk can wait for the next; whatever else happens is waited for.
    const urgent = !("artifactUpdate" in event);
    this.#isUrgent ||= urgent;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, urgent);
    return undefined;
  }

  /**
   * Takes in an event that carries a caller's message, and the webhook that came with it; `durableSeq` is told its seq once
   * both are durable.
   */
  acceptMessage(
    event: TaskEvent,
    messageId: string,
    accepted: Deferred<number>,
    webhook?: WebhookRegistration,
  ): EventRefusal | undefined {
    const seq = this.lastPendingSeq + 1;
    const refusal = this.acceptEvent(event);
    if (refusal) return refusal;
    this.#uncommittedMessages.push({ messageId, seq, durableSeq: accepted, webhook });
    return undefined;
  }

  /** Has the store keep the turn with the newest event that was taken in. */
  persistTurn(turn: PersistedTurn): void {
    this.#turnToPersist = turn;
  }

  /** The seq of the newest event once all that is pending is committed. */
  get lastPendingSeq(): number {
    return this.#seq + (this.#currentCommit?.append.events.length ?? 0) + this.#pendingEvents.length;
  }

  /** Undefined when a writer may go on, else resolves when it may. */
  waitForCapacity(): Promise<void> | undefined {
    return this.#pendingEvents.isFull && !this.#failure
      ? (this.#capacity ??= new Deferred()).promise
      : undefined;
  }

  // --- called by the committer

  takeAppend(): LogAppend | undefined {
    if (this.#currentCommit || this.#failure || this.#pendingEvents.length === 0 || !this.#state)
      return undefined;
    const events = this.#pendingEvents
      .takeAll()
      .map((event, at) => LogEvent.create(this.#seq + 1 + at, event));
    const messages = this.#uncommittedMessages;
    this.#uncommittedMessages = [];
    this.#isUrgent = false;
    const turn = this.#turnToPersist;
    this.#turnToPersist = undefined;
    const webhooks = messages.length > 0 ? messages.flatMap(({ webhook }) => webhook ?? []) : [];
    const append: LogAppend = {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events,
      status: { state: this.#state, timestamp: this.#statusTimestamp },
      messages: this.#context.deduplicateMessages
        ? messages.map(({ messageId, seq }) => ({ messageId, seq }))
        : [],
      ...(webhooks.length > 0 ? { webhooks } : {}),
      ...(this.#context.persistTurns ? this.#selectTurnToPersist(turn) : {}),
    };
    // Before anything is serialised, which can fail: who waits for the messages must be told.
    this.#currentCommit = { append, messages };
    this.#releaseCapacity();
    if (!this.#snapshotSchedule.isDue(events, append.status.state)) return append;
    const whole = { ...append, snapshot: this.#foldEvents(this.#task && copyTask(this.#task), events) };
    this.#currentCommit = { append: whole, messages };
    return whole;
  }

  /** What the store is to keep of the turn: of a task that has ended nothing more. */
  #selectTurnToPersist(turn: PersistedTurn | undefined): Pick<LogAppend, "turn"> {
    if (this.#state && isTerminal(this.#state)) return { turn: null };
    return turn ? { turn } : {};
  }

  onCommitted(): void {
    if (!this.#currentCommit) return;
    const { append, messages } = this.#currentCommit;
    this.#currentCommit = undefined;
    this.#task = append.snapshot ? copyTask(append.snapshot) : this.#foldEvents(this.#task, append.events);
    this.#seq += append.events.length;
    // Not before: until now the outbox may have learned from the store that there is none.
    if (append.webhooks) this.mayHaveWebhooks = true;
    this.#publishCommit(append);
    for (const { durableSeq: accepted, seq } of messages) accepted.resolve(seq);
    if (isStopState(append.status.state) && append.events.some(isStopEvent)) this.#listener.onTurnStop();
    if (this.#pendingEvents.length > 0) this.#context.committer.enqueue(this, this.#isUrgent);
    else this.#listener.onAllCommitted();
  }

  onCommitFailed(why: AppendRefusal | Error): void {
    const what = typeof why === "string" ? REFUSAL_REASONS[why] : "the store does not answer";
    const failure = new A2AError(
      "UNAVAILABLE",
      `Task ${this.taskId} could not be stored: ${what}. Try again later.`,
      {
        cause: why,
        metadata: { taskId: this.taskId },
      },
    );
    this.#failure = failure;
    for (const { durableSeq: accepted } of this.#currentCommit?.messages ?? []) accepted.reject(failure);
    for (const { durableSeq: accepted } of this.#uncommittedMessages) accepted.reject(failure);
    this.#currentCommit = undefined;
    this.#pendingEvents.takeAll();
    this.#releaseCapacity();
    this.#nextCommit?.reject(failure);
    this.#context.observer.onError?.({ where: "store", error: failure, taskId: this.taskId });
    this.#listener.onCommitFailed(failure);
  }

  #releaseCapacity(): void {
    this.#capacity?.resolve();
    this.#capacity = undefined;
  }

  #foldEvents(from: Task | undefined, events: readonly LogEvent[]): Task {
    let task = from;
    for (const { event } of events) {
      const folded = fold(task, event);
      // Every event was judged when it came in.
      if (isEventRefusal(folded))
        throw new Error(`The log of task ${this.taskId} is broken: ${folded.refusalReason}`);
      task = folded;
    }
    if (!task) throw new Error(`The log of task ${this.taskId} is empty`);
    return task;
  }

  #publishCommit({ events, webhooks }: LogAppend): void {
    const { observer } = this.#context;
    if (this.#listener.hasReaders) this.tail.add(events);
    else this.tail.clear();
    if (observer.onEvent) {
      for (const event of events) observer.onEvent({ scope: this.scope, taskId: this.taskId, event });
    }
    if (this.mayHaveWebhooks) this.#context.outbox?.notifyCommit(this, webhooks);
    const changed = this.#nextCommit;
    this.#nextCommit = undefined;
    changed?.resolve();
  }
}

const REFUSAL_REASONS: Record<AppendRefusal, string> = {
  conflict: "somebody else has written to it",
  "duplicate-message": "its message was sent twice at the same time",
};

function getEventStatus(event: TaskEvent): Task["status"] | undefined {
  if ("statusUpdate" in event) return event.statusUpdate.status;
  return "task" in event ? event.task.status : undefined;
}

/** A status with which a turn ends: terminal, or waiting for the user. */
function isStopEvent({ event }: LogEvent): boolean {
  const state = "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
  return state !== undefined && isStopState(state);
}

function isStopState(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
