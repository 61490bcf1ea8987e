import {
  A2AError,
  fold,
  isInterrupted,
  isRefusal,
  isTerminal,
  LogEvent,
  refusalOf,
  snapshot,
  type Refusal,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../base/index.ts";
import type { Scope } from "./caller.ts";
import { timestampOf, type Clock } from "./clock.ts";
import type { Committer, Writer } from "./committer.ts";
import type { KeptTurn } from "./kept-turn.ts";
import type { Observer } from "./observer.ts";
import type { Watched } from "./push/watches.ts";
import type { WebhookRegistration } from "./push/store.ts";
import { Pending } from "./pending.ts";
import { SnapshotSchedule } from "./snapshot-schedule.ts";
import type { Append, AppendRefusal, TaskStore } from "./store.ts";
import { Tail } from "./tail.ts";

/** What a live task needs of its surroundings. */
export interface LogContext {
  readonly store: TaskStore;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Merge waiting chunks of text. */
  readonly merge: boolean;
  /** Have the store remember the ids of messages. */
  readonly deduplicate: boolean;
  /** Have the store keep what turns at work were asked. */
  readonly keepTurns: boolean;
  /** Left word with when a task that may have webhooks has new events. */
  readonly outbox?: { wake(task: Watched, registered?: readonly WebhookRegistration[]): void } | undefined;
}

/** The runner, as its task speaks to it. */
export interface LiveTaskListener {
  /** Somebody follows the task. */
  readonly hasReaders: boolean;
  /** A status that ends or interrupts a turn was committed, and none behind it that goes on. */
  onStop(): void;
  /** Events could not be committed; nothing more will be. */
  onFailure(error: A2AError): void;
  /** Nothing waits for a commit any more. */
  onRest(): void;
}

/** A message that was accepted with an event, to be told the event's seq once that is durable. */
interface AcceptedMessage {
  readonly messageId: string;
  readonly seq: number;
  readonly accepted: Deferred<number>;
  /** Registered with the message. */
  readonly webhook: WebhookRegistration | undefined;
}

/**
 * A task that is being written or read: its log's growing end. An event is judged when it comes in, waits for the next
 * commit, and is folded and seen by readers only once it is durable (E1).
 */
export class LiveTask implements Writer, Watched {
  readonly scope: Scope;
  readonly taskId: string;
  readonly contextId: string;
  readonly tail: Tail = new Tail();
  /** It may have webhooks. */
  watched: boolean;
  readonly #context: LogContext;
  readonly #listener: LiveTaskListener;
  readonly #pending: Pending;
  readonly #snapshots: SnapshotSchedule;
  /** The task as committed. */
  #task: Task | undefined;
  #seq: number;
  /** Newest status once all that is pending is committed. */
  #state: TaskState | undefined;
  #timestamp: string;
  #messages: AcceptedMessage[] = [];
  #underWay: { readonly append: Append; readonly messages: readonly AcceptedMessage[] } | undefined;
  #room: Deferred | undefined;
  #changed: Deferred | undefined;
  #failure: A2AError | undefined;
  /** To be kept with what is pending. */
  #turn: KeptTurn | undefined;
  /** Something among what is pending is waited for. */
  #urgent = false;

  constructor(
    context: LogContext,
    listener: LiveTaskListener,
    ids: { scope: Scope; taskId: string; contextId: string },
    stored?: { task: Task; seq: number },
  ) {
    this.#context = context;
    this.#listener = listener;
    this.scope = ids.scope;
    this.taskId = ids.taskId;
    this.contextId = ids.contextId;
    this.#pending = new Pending(context.merge);
    this.#snapshots = new SnapshotSchedule(context.store.snapshots);
    this.watched = stored !== undefined;
    this.#task = stored?.task;
    this.#seq = stored?.seq ?? 0;
    this.#state = stored?.task.status.state;
    this.#timestamp = stored?.task.status.timestamp ?? "";
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
  get busy(): boolean {
    return this.#underWay !== undefined || this.#pending.length > 0;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** The committed task: a copy that later events do not touch. */
  snapshot(): Task {
    if (!this.#task) throw A2AError.taskNotFound(this.taskId);
    // What is finished does not change any more and needs no copy.
    return isTerminal(this.#task.status.state) ? this.#task : snapshot(this.#task);
  }

  /** True when no event will follow the one at `seq`. */
  endedAt(seq: number): boolean {
    return seq >= this.#seq && this.#task !== undefined && isTerminal(this.#task.status.state);
  }

  /** Resolves at the next commit; rejects when there will be none. */
  changed(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return (this.#changed ??= new Deferred()).promise;
  }

  /** Now, but never before the newest status of the task (E16). ISO 8601 UTC with milliseconds. */
  now(): string {
    const now = timestampOf(this.#context.clock.now());
    return now < this.#timestamp ? this.#timestamp : now;
  }

  /** Takes an event in, or says why it is not legal here. Commits soon; see `room` for how fast to go on. */
  accept(event: TaskEvent): Refusal | undefined {
    const refusal = refusalOf(this.#state, event);
    if (refusal) return refusal;
    const status = statusOf(event);
    if (status) {
      this.#state = status.state;
      this.#timestamp = status.timestamp ?? this.#timestamp;
    }
    this.#pending.push(event);
    // A chunk can wait for the next; whatever else happens is waited for.
    const urgent = !("artifactUpdate" in event);
    this.#urgent ||= urgent;
    if (!this.#underWay) this.#context.committer.add(this, urgent);
    return undefined;
  }

  /**
   * Takes in an event that carries a caller's message, and the webhook that came with it; `accepted` is told its seq once
   * both are durable.
   */
  acceptMessage(
    event: TaskEvent,
    messageId: string,
    accepted: Deferred<number>,
    webhook?: WebhookRegistration,
  ): Refusal | undefined {
    const seq = this.lastSeq + 1;
    const refusal = this.accept(event);
    if (refusal) return refusal;
    this.#messages.push({ messageId, seq, accepted, webhook });
    return undefined;
  }

  /** Has the store keep the turn with the newest event that was taken in. */
  keep(turn: KeptTurn): void {
    this.#turn = turn;
  }

  /** The seq of the newest event once all that is pending is committed. */
  get lastSeq(): number {
    return this.#seq + (this.#underWay?.append.events.length ?? 0) + this.#pending.length;
  }

  /** Undefined when a writer may go on, else resolves when it may. */
  room(): Promise<void> | undefined {
    return this.#pending.full && !this.#failure ? (this.#room ??= new Deferred()).promise : undefined;
  }

  // --- called by the committer

  takeAppend(): Append | undefined {
    if (this.#underWay || this.#failure || this.#pending.length === 0 || !this.#state) return undefined;
    const events = this.#pending.take().map((event, at) => LogEvent.of(this.#seq + 1 + at, event));
    const messages = this.#messages;
    this.#messages = [];
    this.#urgent = false;
    const turn = this.#turn;
    this.#turn = undefined;
    const webhooks = messages.length > 0 ? messages.flatMap(({ webhook }) => webhook ?? []) : [];
    const append: Append = {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      after: this.#seq,
      events,
      status: { state: this.#state, timestamp: this.#timestamp },
      messages: this.#context.deduplicate ? messages.map(({ messageId, seq }) => ({ messageId, seq })) : [],
      ...(webhooks.length > 0 ? { webhooks } : {}),
      ...(this.#context.keepTurns ? this.#kept(turn) : {}),
    };
    // Before anything is serialised, which can fail: who waits for the messages must be told.
    this.#underWay = { append, messages };
    this.#makeRoom();
    if (!this.#snapshots.isDue(events, append.status.state)) return append;
    const whole = { ...append, snapshot: this.#fold(this.#task && snapshot(this.#task), events) };
    this.#underWay = { append: whole, messages };
    return whole;
  }

  /** What the store is to keep of the turn: of a task that has ended nothing more. */
  #kept(turn: KeptTurn | undefined): Pick<Append, "turn"> {
    if (this.#state && isTerminal(this.#state)) return { turn: null };
    return turn ? { turn } : {};
  }

  committed(): void {
    if (!this.#underWay) return;
    const { append, messages } = this.#underWay;
    this.#underWay = undefined;
    this.#task = append.snapshot ? snapshot(append.snapshot) : this.#fold(this.#task, append.events);
    this.#seq += append.events.length;
    // Not before: until now the outbox may have learned from the store that there is none.
    if (append.webhooks) this.watched = true;
    this.#publish(append);
    for (const { accepted, seq } of messages) accepted.resolve(seq);
    if (isAtRest(append.status.state) && append.events.some(isStop)) this.#listener.onStop();
    if (this.#pending.length > 0) this.#context.committer.add(this, this.#urgent);
    else this.#listener.onRest();
  }

  notCommitted(why: AppendRefusal | Error): void {
    const what = typeof why === "string" ? WHY[why] : "the store does not answer";
    const failure = new A2AError(
      "UNAVAILABLE",
      `Task ${this.taskId} could not be stored: ${what}. Try again later.`,
      {
        cause: why,
        metadata: { taskId: this.taskId },
      },
    );
    this.#failure = failure;
    for (const { accepted } of this.#underWay?.messages ?? []) accepted.reject(failure);
    for (const { accepted } of this.#messages) accepted.reject(failure);
    this.#underWay = undefined;
    this.#pending.take();
    this.#makeRoom();
    this.#changed?.reject(failure);
    this.#context.observer.onError?.({ where: "store", error: failure, taskId: this.taskId });
    this.#listener.onFailure(failure);
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #fold(from: Task | undefined, events: readonly LogEvent[]): Task {
    let task = from;
    for (const { event } of events) {
      const folded = fold(task, event);
      // Every event was judged when it came in.
      if (isRefusal(folded)) throw new Error(`The log of task ${this.taskId} is broken: ${folded.refused}`);
      task = folded;
    }
    if (!task) throw new Error(`The log of task ${this.taskId} is empty`);
    return task;
  }

  #publish({ events, webhooks }: Append): void {
    const { observer } = this.#context;
    if (this.#listener.hasReaders) this.tail.add(events);
    else this.tail.clear();
    if (observer.onEvent) {
      for (const event of events) observer.onEvent({ scope: this.scope, taskId: this.taskId, event });
    }
    if (this.watched) this.#context.outbox?.wake(this, webhooks);
    const changed = this.#changed;
    this.#changed = undefined;
    changed?.resolve();
  }
}

const WHY: Record<AppendRefusal, string> = {
  conflict: "somebody else has written to it",
  "duplicate-message": "its message was sent twice at the same time",
};

function statusOf(event: TaskEvent): Task["status"] | undefined {
  if ("statusUpdate" in event) return event.statusUpdate.status;
  return "task" in event ? event.task.status : undefined;
}

/** A status with which a turn ends: terminal, or waiting for the user. */
function isStop({ event }: LogEvent): boolean {
  const state = "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
  return state !== undefined && isAtRest(state);
}

function isAtRest(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}
