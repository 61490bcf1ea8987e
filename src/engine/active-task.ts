import {
  fold,
  isEventRefusal,
  A2AError,
  copyTask,
  estimateJsonSize,
  type EventRefusal,
  findEventRefusal,
  isTerminal,
  LogEvent,
  type Task,
  type TaskEvent,
  type TaskState,
  isInterrupted,
  type JsonObject,
  type Message,
} from "../protocol/index.ts";
import { Deferred } from "../base/data-structures/index.ts";
import type { TaskScope, Caller } from "./caller.ts";
import { formatTimestamp, waitAtMost } from "./clock.ts";
import type { CommitWriter } from "./committer.ts";
import { foldLogEvents, getEventStatus, measureEventSize, hasTurnStop } from "./log-events.ts";
import {
  type PushOutbox,
  type TaskWithPossibleWebhooks,
  extractMessageWebhookRegistration,
} from "./push-notifications.ts";
import {
  excuseAttempt,
  type TurnRestartData,
  type QueuedTurnData,
  toQueuedTurnData,
  RestartedTurnArtifactRewriter,
} from "./turn-restart-data.ts";
import { SnapshotPlanner } from "./snapshot-planner.ts";
import {
  createCommitFailedError,
  createDuplicateMessageIdError,
  createServerClosingError,
  createTaskAwaitsRecoveryError,
  createTaskEndedError,
  createTaskTooLargeError,
} from "./task-errors.ts";
import { type TaskFeed, TaskLogTail, type InboundMessage, type TaskCancellation } from "./task-feed.ts";
import type { AppendRefusal, LogAppend, StoredTask, TaskLease } from "./task-store.ts";
import { type IncompleteAppend, UncommittedChanges, type UncommittedMessage } from "./uncommitted-changes.ts";
import type { Agent } from "./agent.ts";
import type { TaskTurnStatus } from "./decide-message-outcome.ts";
import { hasPersistedTurns, toStoredMessage } from "./replaceable-agent.ts";
import { isSameMessage } from "./repeated-messages.ts";
import { type RequestWaitLimit, assertStoreAcceptsNewWork } from "./store-health.ts";
import { toStatusUpdate, toTaskMessageFromAgent, withDiscardedMessageIds } from "./to-task-event.ts";
import type { StartedAgentIterator, TaskOfTurn, Turn, TurnDependencies } from "./turn.ts";

/** Size in characters of a new task without its message: its ids and its status. */
const MAX_SIZE_OF_NEW_TASK = 400;

/** Dependencies that all active tasks of an engine share. */
export interface ActiveTaskDependencies extends TurnDependencies {
  /** If true, the task merges text chunks that wait for the same commit. */
  readonly mergeChunks: boolean;
  /** If true, the store records the ids of messages. */
  readonly deduplicateMessages: boolean;
  /** Approximate maximum size of the task, in characters of JSON. */
  readonly taskSizeLimit: number;
  /** True if the task only commits the start of a turn that another node runs. */
  readonly submitsTurn?: boolean;
  /** Outbox that the task notifies of new events if the task may have webhooks. */
  readonly outbox?: Pick<PushOutbox, "notifyCommit"> | undefined;
  /** Announces the commit of a task to the other nodes of the store. */
  readonly announceCommit: ((taskId: string) => void) | undefined;
  /**
   * Called when the task abandons a turn that has not ended, so that the turn can be recovered. The agent has
   * stopped, or has ignored the signal to stop for `cancelGraceMs`. `handover` is the append that releases the lease
   * of a turn that a later process continues.
   */
  readonly releaseLease: (lease: TaskLease, handover?: LogAppend) => void;
  /** Resolves with the current feed of a task. */
  readonly openFeed: (scope: TaskScope, taskId: string) => Promise<TaskFeed | undefined>;
  /** Returns false if this node starts no agents. */
  readonly startsTurns: () => boolean;
  /** Creates the turn of a message that an earlier server process queued. */
  readonly restoreQueuedTurn: (scope: TaskScope, queued: QueuedTurnData) => Turn;
  /** Called when the task has no turns, and neither requests nor readers need the task. */
  readonly onIdle: (task: ActiveTask) => void;
  /** Called when the task begins a turn. */
  readonly onTurnStart: ((task: ActiveTask) => void) | undefined;
  /**
   * Settles the sender of a turn's message once the turn has stopped on another node. Returns false if this node cannot
   * follow the turn.
   */
  readonly followHandedOverTurn: (task: ActiveTask, turn: Turn) => boolean;
}

/** A turn that waits for the current turn. The store keeps a copy of `data`. */
interface QueuedTurn {
  readonly data: QueuedTurnData;
  /** Undefined until the turn of an earlier server process is needed. */
  turn: Turn | undefined;
}

/**
 * A task whose turns this node runs, one at a time (E11). Further messages wait in the queue of the task.
 *
 * Each event that a turn writes is validated, and waits for the next commit. After the commit (E1), the event is folded
 * into the task and becomes visible to readers. The task never waits for a reader (E2).
 */
export class ActiveTask implements CommitWriter, TaskFeed, TaskOfTurn, TaskWithPossibleWebhooks {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** False if the task is known to have no webhooks. */
  mayHaveWebhooks: boolean;
  readonly #context: ActiveTaskDependencies;

  // The committed task.
  #task: Task | undefined;
  #seq: number;
  /** Epoch of the task after the current commit. */
  #epoch: number;
  /** Created for the first reader. */
  #tail: TaskLogTail | undefined;

  // The changes that wait for a commit.
  #changes: UncommittedChanges | undefined;
  #currentCommit: { append: IncompleteAppend; readonly changes: UncommittedChanges } | undefined;
  /** State that the task will have when all pending events are committed. */
  #state: TaskState | undefined;
  #statusTimestamp: string;
  /** Size of the task with all of its events, or `undefined` if the size is unknown. */
  #size: number | undefined;
  readonly #snapshotPlanner: SnapshotPlanner | undefined;
  #failure: A2AError | undefined;

  // Waiting requests and readers.
  #nextChange: Deferred | undefined;
  #requestCount = 0;
  #readerCount = 0;
  /** True if another node may continue the task, so that its readers must follow the log in the store. */
  hasMoved = false;

  // The running turn in the store.
  /** True if a turn of the task runs according to the store. */
  isRunningInStore: boolean;
  /** The turn to persist for as long as the turn is running. */
  #restartData: TurnRestartData | undefined;
  #isRestartDataStored = false;

  // The turns.
  /** The running turn, or an ended turn whose last events are not yet committed. */
  currentTurn: Turn | undefined;
  /** True until a task with a turn of an earlier process is settled. Requests must not see such a task. */
  isAwaitingRecovery: boolean;
  readonly #queue: QueuedTurn[] = [];
  /** Position of the last turn that was added to the queue, or 0 if the queue was never used. */
  #lastQueuePosition = 0;
  #isStopping = false;
  /** True if the server stopped a turn that the next server process continues. */
  #isLeftForRestart = false;
  /** The last turn that began on this node, also after its end. */
  #lastTurn: Turn | undefined;

  constructor(
    context: ActiveTaskDependencies,
    scope: TaskScope,
    taskId: string,
    contextId: string,
    stored?: StoredTask,
  ) {
    this.#context = context;
    this.scope = scope;
    this.taskId = taskId;
    this.contextId = contextId;
    if (context.store.usesSnapshots) this.#snapshotPlanner = new SnapshotPlanner(stored?.snapshotProgress);
    this.mayHaveWebhooks = stored !== undefined;
    this.isRunningInStore = this.isAwaitingRecovery = stored?.awaitsRecovery ?? false;
    this.#task = stored?.task;
    this.#seq = stored?.seq ?? 0;
    this.#epoch = stored?.epoch ?? 0;
    this.#state = stored?.task.status.state;
    this.#statusTimestamp = stored?.task.status.timestamp ?? "";
    if (!stored?.queuedTurns) return;
    for (const data of stored.queuedTurns) this.#queue.push({ data, turn: undefined });
    this.#lastQueuePosition = this.#queue.at(-1)?.data.position ?? 0;
  }

  // ── The committed task and its readers ─────────────────────────────────────────────────────────────────────────────

  /** Sequence number of the newest committed event. */
  get seq(): number {
    return this.#seq;
  }

  /** The newest committed events, while the task has readers. */
  get tail(): TaskLogTail {
    return (this.#tail ??= new TaskLogTail());
  }

  /** Returns a copy of the committed task. Later events do not change the copy. */
  getSnapshot(): Task {
    if (!this.#task) throw A2AError.taskNotFound(this.taskId);
    // A finished task never changes, so it needs no copy.
    return isTerminal(this.#task.status.state) ? this.#task : copyTask(this.#task);
  }

  /** Returns true if the event with the sequence number `seq` is the last event of the task. */
  hasEndedAtSeq(seq: number): boolean {
    return seq >= this.#seq && this.#task !== undefined && isTerminal(this.#task.status.state);
  }

  /**
   * Resolves at the next commit of the task or change of its turns. Rejects if the task will commit no more
   * events.
   */
  waitForCommitOrTurnChange(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return (this.#nextChange ??= new Deferred()).promise;
  }

  /**
   * Resolves once no change of the task is pending. That can take as long as the agent writes: to wait for one's own
   * change, use the promise of `UncommittedChanges`. Rejects if the task will commit no more events.
   */
  async waitUntilNothingIsPending(): Promise<void> {
    while (this.hasPendingEvents) await this.waitForCommitOrTurnChange();
    if (this.#failure) throw this.#failure;
  }

  /** Wakes the requests that wait for a commit or for a change of the task's turns. */
  notifyTurnChange(): void {
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.resolve();
  }

  /** Keeps this task in the registry until the requester calls `release`. */
  retain(): this {
    this.#requestCount++;
    return this;
  }

  release(): void {
    this.#requestCount--;
    this.#startNextTurnOrIdle();
  }

  /** Keeps this task for a reader. If other nodes can continue the task, the reader moves at the end of the turn. */
  retainForReader(): this {
    this.#readerCount++;
    return this;
  }

  releaseReader(): void {
    this.#readerCount--;
    if (!this.hasMoved) this.#startNextTurnOrIdle();
  }

  async reopen(): Promise<TaskFeed | undefined> {
    return await this.#context.openFeed(this.scope, this.taskId);
  }

  /** Makes the readers continue with the feed that `reopen` returns. */
  #moveReaders(): void {
    this.hasMoved = true;
    this.notifyTurnChange();
  }

  /** Releases the events in memory, and prepares for webhooks that are registered while the task rests. */
  rest(): void {
    this.#tail = undefined;
    this.#lastTurn = undefined;
    this.mayHaveWebhooks = true;
  }

  /** Prepares a task that has rested for its next turn. */
  wakeUp(): this {
    this.hasMoved = false;
    return this;
  }

  /** Rejects all readers of the task, because the store has erased the task. */
  markErased(): void {
    this.#failure = A2AError.taskNotFound(this.taskId);
    this.#tail = undefined;
    this.#nextChange?.reject(this.#failure);
  }

  // ── New events ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * State that the task will have when all pending events are committed, or `undefined` before the task is
   * created.
   */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** Size of the task with all of its events, in characters of JSON. */
  get size(): number {
    return (this.#size ??= this.#task ? estimateJsonSize(this.#task) : 0);
  }

  /** Returns true if the task would be larger than the limit after an event of the given size. */
  exceedsLimitWith(eventSize: number): boolean {
    return this.size + eventSize > this.#context.taskSizeLimit;
  }

  /**
   * Returns the time for a new status in ISO 8601 UTC with milliseconds. The time is never earlier than the
   * time of the newest status (E16).
   */
  getNextStatusTimestamp(): string {
    const now = formatTimestamp(this.#context.clock.now());
    return now < this.#statusTimestamp ? this.#statusTimestamp : now;
  }

  /**
   * Accepts an event and schedules its commit, or returns the reason why the task cannot accept the event. Ignores the
   * event after a failed commit, because the task commits no more events. `size` is the size of the event in characters.
   */
  #writeEvent(event: TaskEvent, size: number): EventRefusal | undefined {
    if (this.#failure) return undefined;
    const refusal = findEventRefusal(this.#state, event);
    if (refusal) return refusal;
    const status = getEventStatus(event);
    if (status) {
      this.#state = status.state;
      this.#statusTimestamp = status.timestamp ?? this.#statusTimestamp;
    }
    this.#size = this.size + size;
    // Only chunks can be delayed. Clients wait for every other event.
    const isUrgent = !("artifactUpdate" in event);
    const changes = this.#getChanges();
    const mustEnqueue = changes.eventCount === 0 || (isUrgent && !changes.isUrgent);
    changes.addEvent(event, size, this.#context.mergeChunks);
    changes.isUrgent ||= isUrgent;
    // The committer already knows a writer with earlier events.
    if (mustEnqueue && !this.#currentCommit) this.#context.committer.enqueue(this, isUrgent);
    return undefined;
  }

  /** Returns `undefined` while the agent can continue, or a promise that resolves when the agent can continue. */
  waitForCapacity(): Promise<void> | undefined {
    return this.#changes?.waitForCapacity();
  }

  /**
   * Writes an event that contains a caller's message. If the same request registers a webhook, the webhook
   * is stored in the same commit. `durableSeq` resolves with the event's sequence number once the event and
   * the webhook are durable, and rejects after a failed commit.
   */
  writeMessageEvent(
    event: TaskEvent,
    message: Omit<UncommittedMessage, "seq">,
    size: number = measureEventSize(event),
  ): EventRefusal | undefined {
    const committing = this.#currentCommit?.append.events.length ?? 0;
    const seq = this.#seq + committing + (this.#changes?.eventCount ?? 0) + 1;
    const refusal = this.#writeEvent(event, size);
    if (refusal) return refusal;
    if (this.#failure) message.durableSeq.reject(this.#failure);
    else this.#getChanges().addMessage({ ...message, seq });
    return undefined;
  }

  // ── Commits ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The lease under which this task appends after the current commit. */
  get lease(): TaskLease {
    return { scope: this.scope, taskId: this.taskId, epoch: this.#epoch };
  }

  get hasCommitFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** True while the task has events or changes of its queue that wait for a commit. */
  get hasPendingEvents(): boolean {
    return this.#currentCommit !== undefined || this.#changes?.needsCommit === true;
  }

  #getChanges(): UncommittedChanges {
    return (this.#changes ??= new UncommittedChanges());
  }

  /** Makes the committer take the pending changes without delay, also without an event. Resolves when they are durable. */
  #requestCommit(): Promise<void> {
    const changes = this.#getChanges();
    changes.isUrgent = true;
    if (!this.#currentCommit) this.#context.committer.enqueue(this, true);
    return changes.requireCommit();
  }

  takePendingAppend(): LogAppend | undefined {
    const changes = this.#changes;
    if (this.#currentCommit || this.#failure || !changes?.needsCommit || !this.#state) return undefined;
    this.#changes = undefined;
    const events = changes.takeEvents((event, at) => LogEvent.create(this.#seq + 1 + at, event));
    const append: IncompleteAppend = {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events,
      committedAt: this.#context.clock.now(),
      status: { state: this.#state, timestamp: this.#statusTimestamp },
      messages: [],
      epoch: this.#epoch,
    };
    // Set this before serializing, which can fail, so that a failure rejects the waiting messages.
    this.#currentCommit = { append, changes };
    changes.addTo(append, this.#context.deduplicateMessages);
    this.#addTurnTo(append);
    const isRunning = append.hasRunningTurn ?? this.isRunningInStore;
    // Otherwise, a late release of an earlier turn could release the lease of this turn, and another node could begin a
    // queued turn without noticing the turns that this append queues.
    const needsNewEpoch = append.hasRunningTurn === true || (changes.changesQueue && !isRunning);
    if (needsNewEpoch && this.#seq > 0 && this.#context.isShared) {
      append.incrementsEpoch = true;
      this.#epoch++;
    }
    if (events.length === 0) return append;
    const artifactReferences = this.#snapshotPlanner?.planSnapshot(this.#task, events, this.#state);
    if (!artifactReferences) return append;
    append.snapshot = foldLogEvents(this.taskId, this.#task && copyTask(this.#task), events);
    append.artifactReferences = artifactReferences;
    return append;
  }

  onCommitted(): void {
    // The commit was under way when the task failed for another reason, and can have acquired the lease.
    if (!this.#currentCommit) return void this.#releaseLeaseAfterAgentEnd();
    const { append, changes } = this.#currentCommit;
    try {
      this.#applyCommit(append);
      this.#publishCommit(append);
    } catch (error) {
      // The committer reports the error to `onCommitFailed`, which no longer knows the changes.
      changes.reject(error);
      throw error;
    }
    changes.resolve();
    this.#onChangesCommitted(append);
    if (this.#changes?.needsCommit) this.#context.committer.enqueue(this, this.#changes.isUrgent);
    else this.#startNextTurnOrIdle();
  }

  #applyCommit(append: LogAppend): void {
    this.#currentCommit = undefined;
    this.#task = append.snapshot
      ? copyTask(append.snapshot)
      : foldLogEvents(this.taskId, this.#task, append.events);
    this.#seq += append.events.length;
    this.isRunningInStore = append.hasRunningTurn ?? this.isRunningInStore;
    // Set this only after the commit, because an outbox lookup before the commit can find no webhook.
    if (append.webhooks) this.mayHaveWebhooks = true;
  }

  #publishCommit({ events, webhooks }: LogAppend): void {
    const { observer, announceCommit, outbox } = this.#context;
    const { scope, taskId } = this;
    if (this.#readerCount > 0 || this.#requestCount > 0) this.tail.add(events);
    else this.#tail = undefined;
    if (observer.onEvent) for (const event of events) observer.onEvent({ scope, taskId, event });
    announceCommit?.(taskId);
    if (this.mayHaveWebhooks && events.length > 0) outbox?.notifyCommit(this, webhooks);
    this.notifyTurnChange();
  }

  /** Ends all turns of the task because the store could not commit. `isReported` is true if the caller reports the failure. */
  onCommitFailed(cause: AppendRefusal | Error, isReported = false): void {
    // A commit that was under way can have acquired the lease.
    if (this.#failure) return void this.#releaseLeaseAfterAgentEnd();
    const failure = createCommitFailedError(this.taskId, cause);
    this.#failure = failure;
    const { append, changes } = this.#currentCommit ?? {};
    // A refused append has not incremented the epoch. A claim during the commit has set a later epoch, and keeps it.
    if (!(cause instanceof Error) && append?.incrementsEpoch && this.#epoch === append.epoch + 1)
      this.#epoch = append.epoch;
    changes?.reject(failure);
    this.#currentCommit = undefined;
    this.#changes?.reject(failure);
    this.#changes = undefined;
    this.#nextChange?.reject(failure);
    const { observer, isShared } = this.#context;
    // The sender of a message applies the message again, if another node was first.
    if (!isReported && (cause instanceof Error || this.isRunningInStore || !isShared))
      observer.onError?.({ where: "store", error: failure, taskId: this.taskId });
    // Another node can continue the task, so its readers follow the log.
    this.hasMoved = isShared;
    this.#endTurns(failure);
    // If the store has refused the start of a turn, this node has no lease. A release could release the lease of the next
    // turn, which has the same epoch.
    const mayHoldLease = cause instanceof Error || this.isRunningInStore;
    if (!mayHoldLease || this.#context.submitsTurn) return;
    void this.#releaseLeaseAfterAgentEnd();
    // An append without an outcome may not have incremented the epoch, and then has not ended the turn.
    if (append?.incrementsEpoch && this.isRunningInStore) void this.#releaseLeaseAfterAgentEnd(append.epoch);
  }

  /** Releases the lease once the agent has stopped, so that a recovered turn does not overlap with its agent. */
  async #releaseLeaseAfterAgentEnd(epoch?: number): Promise<void> {
    await this.#waitForAgentEnd();
    this.#context.releaseLease({ ...this.lease, epoch: epoch ?? this.#epoch });
  }

  /** Resolves once the agent has stopped, or has ignored the signal to stop for `cancelGraceMs`. */
  #waitForAgentEnd(): Promise<void> {
    return waitAtMost(this.#lastTurn?.agentEnd, this.#context.cancelGraceMs, this.#context.clock);
  }

  /** Stops the agent of a task that other nodes have continued since. Resolves once the agent has stopped. */
  async abandonOutdated(): Promise<void> {
    this.onCommitFailed("conflict", true);
    await this.#waitForAgentEnd();
  }

  // ── The running turn in the store ──────────────────────────────────────────────────────────────────────────────────

  /**
   * Appends under a new lease, which this node has claimed. The store has a running turn for every claimed task. `turn`
   * is the persisted turn of the store.
   */
  adoptLease({ epoch, turn }: TaskLease & { readonly turn?: TurnRestartData }): void {
    this.#epoch = epoch;
    this.isRunningInStore = true;
    if (turn) this.persistTurn(turn);
    this.#isRestartDataStored = turn !== undefined;
  }

  /** Adds the turn and its finished steps to the next append, and keeps them in the store until the turn ends. */
  persistTurn(turn: TurnRestartData | undefined): void {
    this.#restartData = turn;
    this.#isRestartDataStored = false;
  }

  /** Persists the turn in a separate commit, because its start has no event. */
  commitTurnStart(turn: TurnRestartData): void {
    this.persistTurn(turn);
    void this.#requestCommit();
  }

  /** Commits the end of a turn that ended without an event. Otherwise, the turn's last append commits the end. */
  #commitTurnEnd(): void {
    if (!this.#failure && this.#getRunningTurnChange() !== undefined) void this.#requestCommit();
  }

  /**
   * Commits the finished steps of the running turn together with all accepted events. Resolves when the steps are
   * durable. Resolves at once while the store has no running turn of the task, because such a turn is not attempted
   * again. If the store later receives the turn, the store also receives the steps.
   */
  commitSteps(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (!(this.#getRunningTurnChange() ?? this.isRunningInStore)) return Promise.resolve();
    return this.#requestCommit();
  }

  /**
   * Returns the new value of `hasRunningTurn`, or `undefined` if the store has the value. A task that waits at
   * INPUT_REQUIRED has no running turn even while its agent still runs, because only a message can continue
   * the task. At AUTH_REQUIRED, the agent may continue without a message (A2A §7.6.1).
   */
  #getRunningTurnChange(): boolean | undefined {
    const state = this.#state;
    const canContinue = state !== undefined && !isTerminal(state) && state !== "TASK_STATE_INPUT_REQUIRED";
    const isRunning = canContinue && this.mustKeepTurnInStore;
    return isRunning === this.isRunningInStore ? undefined : isRunning;
  }

  /** Adds the change of the running turn, and the data of the turn that the store lacks. */
  #addTurnTo(append: IncompleteAppend): void {
    const hasRunningTurn = this.#getRunningTurnChange();
    if (hasRunningTurn !== undefined) append.hasRunningTurn = hasRunningTurn;
    if (!this.#restartData) return;
    const turnSteps = this.currentTurn?.findSteps();
    if (hasRunningTurn === false) {
      this.#isRestartDataStored = false;
      turnSteps?.markAllUnstored();
      append.turn = null;
      return;
    }
    if (!(hasRunningTurn ?? this.isRunningInStore)) return;
    const steps = turnSteps?.takeUnstored() ?? [];
    if (steps.length > 0) append.steps = steps;
    if (!this.#isRestartDataStored) append.turn = this.#restartData;
    this.#isRestartDataStored = true;
    if (this.#context.submitsTurn) append.releasesLease = true;
  }

  /**
   * Returns the append that ends the attempt at the persisted turn without an end of the turn. Every node can then
   * claim the task, and must do so at the time `wakeAt`, in milliseconds since 1970. Call the function only after all
   * events are committed.
   */
  #createHandoverAppend(wakeAt: number | undefined): LogAppend | undefined {
    if (!this.isRunningInStore || !this.#restartData || !this.#state) return undefined;
    // The span of the attempt has ended.
    const { runStartedAt: _ended, ...turn } = excuseAttempt(this.#restartData);
    return {
      scope: this.scope,
      taskId: this.taskId,
      contextId: this.contextId,
      expectedSeq: this.#seq,
      events: [],
      committedAt: this.#context.clock.now(),
      status: { state: this.#state, timestamp: this.#statusTimestamp },
      messages: [],
      turn: { ...turn, ...(wakeAt === undefined ? {} : { wakeAt }) },
      epoch: this.#epoch,
      releasesLease: true,
    };
  }

  // ── The status of the turns ────────────────────────────────────────────────────────────────────────────────────────

  /** The agent of the running turn, or the agent of the next turn. */
  get agent(): Agent {
    return this.isAgentWorking && this.currentTurn ? this.currentTurn.agent : this.#context.agent.current;
  }

  /** True while the agent of the current turn runs. */
  get isAgentWorking(): boolean {
    return this.currentTurn !== undefined && !this.currentTurn.hasEnded;
  }

  /** True if an agent may change the task without a new message: a turn is running, waits, or continues after a restart. */
  get hasUnfinishedTurn(): boolean {
    return this.currentTurn !== undefined || this.#queue.length > 0 || this.#isLeftForRestart;
  }

  /** True if this node runs the unfinished turn of the task, so that no other node changes the task. */
  get isRunningHere(): boolean {
    return this.hasUnfinishedTurn && !this.isAwaitingRecovery;
  }

  /** The unfinished turn of the task, which can change the task without a new message. */
  get turnStatus(): TaskTurnStatus {
    if (this.#isWithoutTurn) return "awaiting-recovery";
    return this.isAgentWorking || this.#queue.length > 0 ? "running" : "none";
  }

  /** True while the running turn waits for its user and may continue without a message. */
  get isWaitingWithinTurn(): boolean {
    return this.isAgentWorking && this.state !== undefined && isInterrupted(this.state);
  }

  /** True if the task has an unfinished turn that this process does not run. */
  get #isWithoutTurn(): boolean {
    const state = this.state;
    if (this.isAwaitingRecovery) return true;
    return !this.currentTurn && state !== undefined && !isInterrupted(state) && !isTerminal(state);
  }

  /** True if other nodes can continue the task. */
  get isSharedWithNodes(): boolean {
    return this.#context.isShared;
  }

  /** Number of turns that wait for the end of the current turn. */
  get queuedTurnCount(): number {
    return this.#queue.length;
  }

  /** True if the task is idle, and waits for a message. */
  get canRest(): boolean {
    const isUsed = this.#requestCount > 0 || (this.#readerCount > 0 && !this.hasMoved);
    const isIdle = !this.hasUnfinishedTurn && !isUsed && !this.hasPendingEvents && !this.#failure;
    return isIdle && !this.isAwaitingRecovery && this.state !== undefined && isInterrupted(this.state);
  }

  /** True if the store must keep the current turn as a running turn. */
  get mustKeepTurnInStore(): boolean {
    const turn = this.currentTurn;
    return turn !== undefined && (!turn.hasEnded || turn.canContinueAfterRestart);
  }

  // ── Messages ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Returns the turn of a message that waits for its turn or has just begun. Throws if another message with the same id
   * waits.
   */
  findQueuedTurn(message: Message): Turn | undefined {
    if (this.turnStatus === "awaiting-recovery") throw createTaskAwaitsRecoveryError(this.taskId);
    const { messageId } = message;
    const queued = this.#queue.find(({ data }) => data.message.messageId === messageId);
    const isCurrent = this.currentTurn?.message.messageId === messageId;
    const turn = isCurrent ? this.currentTurn : queued && this.#restoreTurn(queued);
    if (turn && !isSameMessage(message, turn.message)) throw createDuplicateMessageIdError(message);
    return turn;
  }

  /**
   * Returns the turn whose end the sender of a repeated message awaits: the turn of the message with the sequence number
   * `seq`, or a later turn that is running. The stream of a repeated message ends with its own turn.
   */
  findRunningTurn(_message: Message, seq: number, isStreaming = false): Turn | undefined {
    if (this.isAwaitingRecovery) throw createTaskAwaitsRecoveryError(this.taskId);
    const startSeq = this.currentTurn?.startPoint?.seq ?? 0;
    return startSeq === seq || (startSeq > seq && !isStreaming) ? this.currentTurn : undefined;
  }

  /**
   * Offers a message to the running agent and returns true if the agent accepts the message. If the agent
   * accepts the message, `durableSeq` resolves with the sequence number of the message.
   */
  offerMessageToAgent(message: Message, caller: Caller, durableSeq: Deferred<number>): boolean {
    if (!this.agent.deliver?.(message, this.getSnapshot(), caller)) return false;
    const refusal = this.writeMessageEvent({ message }, { messageId: message.messageId, durableSeq });
    if (refusal) throw createTaskEndedError(this.taskId, this.state);
    return true;
  }

  /** Accepts a message with `acceptHere`, because this node runs the turns of the task. */
  acceptMessage<T>(_inbound: InboundMessage, acceptHere: (task: ActiveTask) => T): T {
    return acceptHere(this);
  }

  #restoreTurn(queued: QueuedTurn): Turn {
    return (queued.turn ??= this.#context.restoreQueuedTurn(this.scope, queued.data));
  }

  /** Returns a copy of the task that contains the message of a new turn. */
  buildTaskWithMessage(message: Message): Task {
    if (this.state === undefined) {
      const status = { state: "TASK_STATE_SUBMITTED", timestamp: this.getNextStatusTimestamp() } as const;
      return { id: this.taskId, contextId: this.contextId, status, history: [message] };
    }
    const current = this.getSnapshot();
    // A finished task refuses the message, and `fold` does not change the task.
    const changed = fold(current, { message });
    return isEventRefusal(changed) ? current : changed;
  }

  /**
   * Reserves the task for a turn whose agent starts before the task exists. `startOrQueueTurn` or
   * `discardWithoutTask` must follow.
   */
  reserveForTurnWithoutTask(turn: Turn): void {
    turn.task = this;
    this.currentTurn = turn;
  }

  /** Discards a task that was never created. */
  discardWithoutTask(): void {
    this.currentTurn = undefined;
    this.#context.onIdle(this);
  }

  /**
   * Starts a turn, or queues the turn if another turn is running. `output` is the output of an agent that
   * started before its task existed.
   */
  startOrQueueTurn(turn: Turn, output?: StartedAgentIterator): void {
    const current = this.currentTurn;
    if ((current && current !== turn) || this.#queue.length > 0) void this.queueTurn(turn).catch(() => {});
    else this.#startTurn(turn, output);
  }

  /** Queues a turn. Resolves when the queued turn is durable. Rejects if the turn cannot be stored. */
  queueTurn(turn: Turn): Promise<void> {
    const data = toQueuedTurnData(turn, ++this.#lastQueuePosition);
    this.#queue.push({ data, turn });
    this.currentTurn?.onMessageQueued();
    if (this.#failure) return Promise.reject(this.#failure);
    this.#getChanges().addQueuedTurn(data);
    return this.#requestCommit();
  }

  // ── The start of turns ─────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts a turn. `queuePosition` is the position of a turn that has waited in the queue. */
  #startTurn(turn: Turn, output?: StartedAgentIterator, queuePosition?: number): void {
    try {
      this.#writeStartAndRun(turn, output, queuePosition);
    } catch (error) {
      // Otherwise, the store would receive the message of a turn that no agent processes.
      turn.endWithError(error);
      this.onCommitFailed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #writeStartAndRun(turn: Turn, output: StartedAgentIterator | undefined, queuePosition?: number): void {
    // A request can have found the task just before a commit failed.
    if (this.#failure) return turn.endWithError(this.#failure);
    if (!this.#writeTurnStart(turn, queuePosition)) {
      turn.endWithError(createTaskEndedError(this.taskId, this.state));
      this.#startNextTurnOrIdle();
      return;
    }
    const { task } = turn.startPoint;
    turn.task = this;
    this.currentTurn = this.#lastTurn = turn;
    if (this.#context.submitsTurn) return this.persistTurn({ ...turn.toRestartData(), attempt: 0 });
    this.#context.onTurnStart?.(this);
    turn.begin();
    this.persistTurn(turn.isPersisted ? turn.toRestartData() : undefined);
    turn.run(task, output);
  }

  /** Leaves a turn, whose start is committed without a lease, to the nodes that start agents. */
  #leaveSubmittedTurn(turn: Turn): void {
    turn.end();
    this.currentTurn = undefined;
    this.#moveTurn(turn);
  }

  /** Writes the events with which a turn begins, and its webhook. Returns false if the task cannot accept the message. */
  #writeTurnStart(turn: Turn, queuePosition: number | undefined): turn is BegunTurn {
    const { message, durableSeq, request, serviceParameters } = turn;
    const { requestSize } = serviceParameters;
    const storedMessage = this.#context.submitsTurn ? message : toStoredMessage(message, this.agent);
    const task = this.buildTaskWithMessage(storedMessage);
    const seq = this.seq + 1;
    turn.startPoint = { task, seq };
    const refusal = this.writeMessageEvent(
      this.state === undefined ? { task } : { message: storedMessage },
      {
        messageId: message.messageId,
        durableSeq,
        webhook: extractMessageWebhookRegistration(request, this.taskId, serviceParameters),
        wasQueued: queuePosition !== undefined,
      },
      requestSize === undefined ? undefined : requestSize + MAX_SIZE_OF_NEW_TASK,
    );
    if (refusal) return false;
    if (queuePosition !== undefined) this.#getChanges().removeQueuedTurnsThrough(queuePosition);
    // Requests must no longer see the task waiting for the input that it has just received.
    if (isInterrupted(task.status.state))
      turn.startPoint = { task, seq, workingEvent: this.writeStatus("TASK_STATE_WORKING") };
    return true;
  }

  /**
   * Starts a turn whose message is already in the log, and whose lease this node has claimed: the first attempt at a turn
   * that another node has committed, or the next attempt after a restart or a handover. `seq` is the sequence number of
   * the turn's message.
   * `initialTask` is the task at the start of the turn. `wakeAt` is the time of a suspended turn. If only this process
   * can open the store, the agent starts at that time.
   */
  async startClaimedTurn(
    turn: Turn,
    seq: number,
    initialTask: Task,
    mode: "restart" | "resume",
    wakeAt = 0,
  ): Promise<void> {
    const startTask = mode === "restart" ? initialTask : this.getSnapshot();
    const workingEvent = isInterrupted(initialTask.status.state)
      ? toStatusUpdate(this, "TASK_STATE_WORKING", this.getNextStatusTimestamp())
      : undefined;
    const task = copyTask(initialTask);
    turn.startPoint = { task, seq, workingEvent };
    if (mode === "restart" && turn.attempt > 1)
      turn.artifactRestart = new RestartedTurnArtifactRewriter(task);
    turn.durableSeq.resolve(seq);
    turn.task = this;
    this.currentTurn = this.#lastTurn = turn;
    this.#context.onTurnStart?.(this);
    await turn.runNextAttempt(startTask, wakeAt);
  }

  // ── The output of a turn ───────────────────────────────────────────────────────────────────────────────────────────

  /** Writes an event of the agent. Throws an error if the task is too large, or returns why it refuses the event. */
  writeAgentEvent(event: TaskEvent): EventRefusal | undefined {
    const size = measureEventSize(event);
    if (this.exceedsLimitWith(size)) throw createTaskTooLargeError(this.#context.taskSizeLimit);
    return this.#writeEventAndEndQueue(event, size);
  }

  /** Writes a status of the server. */
  writeStatus(state: TaskState, text?: string): TaskEvent {
    const message =
      text === undefined
        ? undefined
        : toTaskMessageFromAgent(this, { parts: [{ text }] }, this.#context.generateId);
    const event = toStatusUpdate(this, state, this.getNextStatusTimestamp(), message);
    const refusal = this.#writeEventAndEndQueue(event, measureEventSize(event));
    if (refusal) this.reportError(new Error(refusal.refusalReason));
    return event;
  }

  /** Writes an event of the agent or the server. The end of the task discards its queued messages. */
  #writeEventAndEndQueue(event: TaskEvent, size: number): EventRefusal | undefined {
    const queue = this.#queue;
    const isLast = queue.length > 0 && "statusUpdate" in event && isTerminal(event.statusUpdate.status.state);
    if (!isLast) return this.#writeEvent(event, size);
    const messageIds = queue.map(({ data }) => data.message.messageId);
    const last = withDiscardedMessageIds(event, messageIds);
    const refusal = this.#writeEvent(last, measureEventSize(last));
    if (!refusal) this.#getChanges().removeQueuedTurnsThrough(this.#lastQueuePosition);
    return refusal;
  }

  /** An adapter that creates its own error id stores the id in the member `errorId` of the error. */
  reportError(error: unknown, errorId: string | undefined = getAdapterErrorId(error)): void {
    const traceparent = this.currentTurn?.span?.traceparent;
    this.#context.observer.onError?.({
      where: "agent",
      error,
      taskId: this.taskId,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(errorId ? { errorId } : {}),
    });
  }

  // ── The end of turns ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Cancels the task, and resolves once the end of the task is committed. Resolves with true if it had ended before. */
  async cancelAndWait(cancellation: TaskCancellation, waitLimit: RequestWaitLimit): Promise<boolean> {
    const hadEnded = this.state === undefined || isTerminal(this.state);
    if (!hadEnded) {
      // A running agent receives the signal also while the store cannot commit.
      if (!this.isAgentWorking) assertStoreAcceptsNewWork(this.#context.store.health);
      this.cancel(cancellation);
    }
    while (!this.hasEndedAtSeq(this.seq)) await waitLimit.wait(this.waitForCommitOrTurnChange());
    return hadEnded;
  }

  /**
   * Signals the running agent to stop. If the agent does not stop within the grace period, the task
   * ignores the agent's later output (E8).
   */
  cancel({ reason, caller, metadata, text }: TaskCancellation): void {
    const turn = this.currentTurn;
    if (!turn || turn.hasEnded) {
      const task = this.getSnapshot();
      this.writeStatus("TASK_STATE_CANCELED");
      void this.#notifyAgentOfCancellation(task, caller, metadata);
    } else if (!turn.cancelMetadata) {
      turn.cancelMetadata = metadata;
      turn.cancelText = text;
      turn.stop(reason, this.#context.cancelGraceMs);
    }
  }

  /** Informs the agent that its task was canceled while the agent was not running. */
  async #notifyAgentOfCancellation(task: Task, caller: Caller, metadata: JsonObject): Promise<void> {
    try {
      await this.#context.agent.current.onTaskCanceled?.(task, caller, metadata);
    } catch (error) {
      this.reportError(error);
    }
  }

  /** Stops the running agent, so that the next turn can begin. The task becomes INPUT_REQUIRED. */
  interruptTurn(): void {
    const turn = this.currentTurn;
    if (!turn || turn.hasEnded || turn.isInterrupted) return;
    turn.isInterrupted = true;
    turn.stop("A message interrupted the agent.", this.#context.cancelGraceMs);
  }

  /**
   * Stops the agent when the server closes. The task fails with `reason`, unless the agent ends the task
   * first or can continue the turn after a restart. A durable store keeps the queued turns for the next process. Resolves
   * once the final state of the task is committed. Rejects if the task waits for a restart of the server.
   */
  async stopAgent(reason: string, graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#rejectQueuedRequests(createServerClosingError());
    this.notifyTurnChange();
    const turn = this.currentTurn;
    if (!turn) return;
    if (!turn.hasEnded) {
      turn.stopReason = reason;
      turn.stop(reason, graceMs);
      await new Promise<void>((resolve) => turn.onEnd(resolve));
    }
    if (this.currentTurn === turn) await turn.stoppedTask.promise;
  }

  /** Resolves once the agent of the current turn has ended. */
  async waitForTurnEnd(): Promise<void> {
    const turn = this.currentTurn;
    if (turn && !turn.hasEnded) await new Promise<void>((resolve) => turn.onEnd(resolve));
  }

  /**
   * Stops the agent if another node can continue its turn, and otherwise waits until the turn ends. Resolves once the
   * turn is handed over or has ended.
   */
  async handOverOrFinishTurn(): Promise<void> {
    const { store, cancelGraceMs } = this.#context;
    if (hasPersistedTurns(this.agent) && store.isDurable && this.state !== undefined)
      await this.stopAgent("The server hands its running turns over to other servers.", cancelGraceMs);
    else await this.waitForTurnEnd();
  }

  /** Ends a turn. The turn remains the current turn until its last events are committed. */
  onTurnEnd(turn: Turn): void {
    if (turn.hasEnded) return;
    if (this.state === undefined) {
      // The agent did not stop before its task existed.
      this.discardWithoutTask();
      turn.endWithError(createServerClosingError());
      turn.abandonFirstEvent?.();
      return;
    }
    turn.end();
    this.#commitTurnEnd();
    this.#startNextTurnOrIdle();
  }

  #onChangesCommitted({ status, events }: LogAppend): void {
    const turn = this.currentTurn;
    if (!turn) return;
    if (hasTurnStop(status.state, events)) turn.stoppedTask.resolve(this.getSnapshot());
    if (this.#context.submitsTurn) this.#leaveSubmittedTurn(turn);
  }

  #endTurns(failure: A2AError): void {
    const turn = this.currentTurn;
    this.currentTurn = undefined;
    turn?.abort(failure.message);
    turn?.endWithError(failure);
    this.#clearQueue(failure);
    this.#context.onIdle(this);
  }

  /**
   * Completes an ended turn once all events are committed, and starts the next queued turn. A task
   * without turns and readers becomes idle.
   */
  #startNextTurnOrIdle(): void {
    if (this.hasPendingEvents) return;
    const ended = this.currentTurn?.hasEnded ? this.currentTurn : undefined;
    if (ended) {
      // The release of the lease must find no running turn.
      this.currentTurn = undefined;
      this.#completeTurn(ended);
      this.notifyTurnChange();
    }
    if (this.currentTurn) return;
    if (this.#queue.length > 0 && this.state && isTerminal(this.state))
      this.#clearQueue(createTaskEndedError(this.taskId, this.state));
    const canStart = !this.#isStopping && !this.#isWithoutTurn && this.#context.startsTurns();
    const next = canStart ? this.#queue.shift() : undefined;
    if (next) this.#startTurn(this.#restoreTurn(next), undefined, next.data.position);
    else if (this.#requestCount === 0 && (this.#readerCount === 0 || this.#moveReadersToOtherNodes()))
      this.#context.onIdle(this);
  }

  /** Settles the sender of an ended turn's message, or releases a turn that continues after a restart or elsewhere. */
  #completeTurn(turn: Turn): void {
    if (turn.canContinueAfterRestart) {
      this.#moveTurn(turn);
      this.#context.releaseLease(this.lease, this.#createHandoverAppend(turn.wakeAt));
    } else {
      this.#isLeftForRestart = false;
      if (!turn.stoppedTask.isSettled) turn.stoppedTask.resolve(this.getSnapshot());
    }
  }

  /** Makes the readers and the sender of a turn's message continue with the log, if another node continues the turn. */
  #moveTurn(turn: Turn): void {
    this.#isLeftForRestart = true;
    if (this.#context.followHandedOverTurn(this, turn)) this.#moveReaders();
    // Reject requests that wait for a turn that continues after a restart, so that clients retry then.
    else turn.stoppedTask.reject(createServerClosingError());
  }

  /** Makes the readers of a task without a running turn follow the log, if another node can begin its next turn. */
  #moveReadersToOtherNodes(): boolean {
    const canMove = this.isSharedWithNodes && !this.#isLeftForRestart;
    if (!canMove || !this.state || isTerminal(this.state)) return false;
    this.#moveReaders();
    return true;
  }

  /** Rejects the requests that wait for queued turns. The queue keeps its turns. */
  #rejectQueuedRequests(error: A2AError): void {
    for (const { turn } of this.#queue) turn?.endWithError(error);
  }

  #clearQueue(error: A2AError): void {
    this.#rejectQueuedRequests(error);
    this.#queue.length = 0;
  }
}

/** A turn whose start point is known. */
type BegunTurn = Turn & { startPoint: NonNullable<Turn["startPoint"]> };

function getAdapterErrorId(error: unknown): string | undefined {
  return error instanceof Error && "errorId" in error ? String(error.errorId) : undefined;
}
