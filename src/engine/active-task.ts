import {
  A2AError,
  copyTask,
  type EventRefusal,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../base/data-structures/index.ts";
import type { Agent } from "./agent.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { TaskTurnStatus } from "./decide-message-outcome.ts";
import { hasTurnStop, measureEventSize } from "./log-events.ts";
import { extractMessageWebhookRegistration } from "./push-notifications.ts";
import { type QueuedTurnData, toQueuedTurnData } from "./turn-restart-data.ts";
import { hasPersistedTurns, toStoredMessage } from "./replaceable-agent.ts";
import { isSameMessage } from "./repeated-messages.ts";
import { type RequestWaitLimit, assertStoreAcceptsNewWork } from "./store-health.ts";
import {
  createDuplicateMessageIdError,
  createServerClosingError,
  createTaskAwaitsRecoveryError,
  createTaskEndedError,
  createTaskTooLargeError,
} from "./task-errors.ts";
import { type InboundMessage, type TaskCancellation, type TaskFeed } from "./task-feed.ts";
import type { LogAppend, StoredTask } from "./task-store.ts";
import { TaskLog, type TaskLogDependencies } from "./task-log.ts";
import { toStatusUpdate, toTaskMessageFromAgent, withDiscardedMessageIds } from "./to-task-event.ts";
import {
  buildTaskWithTurnMessage,
  MAX_SIZE_OF_NEW_TASK,
  RestartedTurnArtifactRewriter,
} from "./turn-start.ts";
import type { StartedAgentIterator, TaskOfTurn, Turn, TurnDependencies } from "./turn.ts";

/** Dependencies that all active tasks of an engine share. */
export interface ActiveTaskDependencies extends TaskLogDependencies, TurnDependencies {
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
 * A task whose turns this node runs, one at a time (E11). Further messages wait in the queue of the task. The turns write
 * their events into the `TaskLog` of the task.
 */
export class ActiveTask extends TaskLog implements TaskFeed, TaskOfTurn {
  /** The running turn, or an ended turn whose last events are not yet committed. */
  currentTurn: Turn | undefined;
  /** True until a task with a turn of an earlier process is settled. Requests must not see such a task. */
  isAwaitingRecovery: boolean;
  readonly #context: ActiveTaskDependencies;
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
    super(context, scope, taskId, contextId, stored);
    this.#context = context;
    this.isAwaitingRecovery = stored?.awaitsRecovery ?? false;
    if (!stored?.queuedTurns) return;
    for (const data of stored.queuedTurns) this.#queue.push({ data, turn: undefined });
    this.#lastQueuePosition = this.#queue.at(-1)?.data.position ?? 0;
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
    const isUsed = this.hasRequests || (this.hasReaders && !this.hasMoved);
    const isIdle = !this.hasUnfinishedTurn && !isUsed && !this.hasPendingEvents && !this.failure;
    return isIdle && !this.isAwaitingRecovery && this.state !== undefined && isInterrupted(this.state);
  }

  override rest(): void {
    super.rest();
    this.#lastTurn = undefined;
  }

  /** True if the store must keep the current turn as a running turn. */
  override get mustKeepTurnInStore(): boolean {
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
    const current = this.state === undefined ? undefined : this.getSnapshot();
    return buildTaskWithTurnMessage(current, this, message, this.getNextStatusTimestamp());
  }

  /**
   * Reserves the task for a turn whose agent starts before the task exists. `startOrQueueTurn` or
   * `discardWithoutTask` must follow.
   */
  reserveForTurnWithoutTask(turn: Turn): void {
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
    if (this.failure) return Promise.reject(this.failure);
    const durable = this.getChanges().addQueuedTurn(data);
    this.requestCommit();
    return durable;
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
    if (this.failure) return turn.endWithError(this.failure);
    if (!this.#writeTurnStart(turn, queuePosition)) {
      turn.endWithError(createTaskEndedError(this.taskId, this.state));
      this.startNextTurnOrIdle();
      return;
    }
    const { task, seq } = turn.startPoint;
    this.currentTurn = this.#lastTurn = turn;
    if (this.#context.submitsTurn)
      return this.persistTurn({ ...turn.toRestartData(seq), attempt: 0 }, undefined);
    this.#context.onTurnStart?.(this);
    turn.begin(this);
    if (turn.isPersisted) this.persistTurn(turn.toRestartData(seq), turn.findSteps());
    else this.persistTurn(undefined, undefined);
    turn.run(this, task, output);
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
    if (queuePosition !== undefined) this.getChanges().removeQueuedTurnsThrough(queuePosition);
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
    this.currentTurn = this.#lastTurn = turn;
    this.#context.onTurnStart?.(this);
    await turn.runNextAttempt(this, seq, startTask, wakeAt);
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
    if (!isLast) return this.writeEvent(event, size);
    const messageIds = queue.map(({ data }) => data.message.messageId);
    const last = withDiscardedMessageIds(event, messageIds);
    const refusal = this.writeEvent(last, measureEventSize(last));
    if (!refusal) this.getChanges().removeQueuedTurnsThrough(this.#lastQueuePosition);
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
    while (!this.hasEndedAtSeq(this.seq)) await waitLimit.wait(this.waitForCommit());
    return hadEnded;
  }

  /**
   * Signals the running agent to stop. If the agent does not stop within the grace period, the task
   * ignores the agent's later output (E8).
   */
  cancel({ reason, caller, metadata }: TaskCancellation): void {
    const turn = this.currentTurn;
    if (!turn || turn.hasEnded) {
      const task = this.getSnapshot();
      this.writeStatus("TASK_STATE_CANCELED");
      void this.#notifyAgentOfCancellation(task, caller, metadata);
    } else if (!turn.cancelMetadata) {
      turn.cancelMetadata = metadata;
      turn.stop(this, reason, this.#context.cancelGraceMs);
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
    turn.stop(this, "A message interrupted the agent.", this.#context.cancelGraceMs);
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
      turn.stop(this, reason, graceMs);
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
      return;
    }
    turn.end();
    this.commitTurnEnd();
    this.startNextTurnOrIdle();
  }

  protected override get agentEnd(): Promise<void> | undefined {
    return this.#lastTurn?.agentEnd;
  }

  protected override onChangesCommitted({ status, events }: LogAppend): void {
    const turn = this.currentTurn;
    if (!turn) return;
    if (hasTurnStop(status.state, events)) turn.stoppedTask.resolve(this.getSnapshot());
    if (this.#context.submitsTurn) this.#leaveSubmittedTurn(turn);
  }

  protected override endTurns(failure: A2AError): void {
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
  protected override startNextTurnOrIdle(): void {
    if (this.hasPendingEvents) return;
    if (this.currentTurn?.hasEnded) {
      this.#completeTurn(this.currentTurn);
      this.currentTurn = undefined;
      this.notifyTurnChange();
    }
    if (this.currentTurn) return;
    if (this.#queue.length > 0 && this.state && isTerminal(this.state))
      this.#clearQueue(createTaskEndedError(this.taskId, this.state));
    const canStart = !this.#isStopping && !this.#isWithoutTurn && this.#context.startsTurns();
    const next = canStart ? this.#queue.shift() : undefined;
    if (next) this.#startTurn(this.#restoreTurn(next), undefined, next.data.position);
    else if (!this.hasRequests && (!this.hasReaders || this.#moveReadersToOtherNodes()))
      this.#context.onIdle(this);
  }

  /** Settles the sender of an ended turn's message, or releases a turn that continues after a restart or elsewhere. */
  #completeTurn(turn: Turn): void {
    if (turn.canContinueAfterRestart) {
      this.#moveTurn(turn);
      this.#context.releaseLease(this.lease, this.createHandoverAppend(turn.wakeAt));
    } else {
      this.#isLeftForRestart = false;
      if (!turn.stoppedTask.isSettled) turn.stoppedTask.resolve(this.getSnapshot());
    }
  }

  /** Makes the readers and the sender of a turn's message continue with the log, if another node continues the turn. */
  #moveTurn(turn: Turn): void {
    this.#isLeftForRestart = true;
    if (this.#context.followHandedOverTurn(this, turn)) this.moveReaders();
    // Reject requests that wait for a turn that continues after a restart, so that clients retry then.
    else turn.stoppedTask.reject(createServerClosingError());
  }

  /** Makes the readers of a task without a running turn follow the log, if another node can begin its next turn. */
  #moveReadersToOtherNodes(): boolean {
    const canMove = this.isSharedWithNodes && !this.#isLeftForRestart;
    if (!canMove || !this.state || isTerminal(this.state)) return false;
    this.moveReaders();
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
