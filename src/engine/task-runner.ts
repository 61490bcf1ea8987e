import {
  A2AError,
  fold,
  isInterrupted,
  isEventRefusal,
  isTerminal,
  copyTask,
  type EventRefusal,
  type JsonObject,
  type Message,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import { toTaskMessageFromAgent, toStatusUpdate, toTaskEventFromAgent } from "./to-task-event.ts";
import type { Agent, Run } from "./agent.ts";
import { hasPersistedTurns, type ReplaceableAgent } from "./replaceable-agent.ts";
import { RestartedTurnArtifactRewriter } from "./restarted-turn-artifacts.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { TaskTurnStatus } from "./decide-message-outcome.ts";
import type { QueuedTurnData } from "./queued-turn-data.ts";
import { TurnQueue } from "./turn-queue.ts";
import { withDiscardedMessageIds } from "./discarded-message-ids.ts";
import { createServerClosingError, createTaskEndedError, createTaskTooLargeError } from "./task-errors.ts";
import { toTurnRestartData } from "./turn-restart-data.ts";
import { generateErrorId, type IdGenerator } from "./id-generator.ts";
import { LiveTask, type LiveTaskListener, type LiveTaskDependencies } from "./live-task.ts";
import { extractMessageWebhookRegistration } from "./push/push-config-operations.ts";
import type { RunTracing } from "./run-tracing.ts";
import type { TaskFeed } from "./task-feed.ts";
import type { TaskLease } from "./task-leases.ts";
import type { LogAppend, StoredTask } from "./task-store.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

/** Dependencies that all runners of an engine share. */
export interface TaskRunnerDependencies extends LiveTaskDependencies {
  readonly agent: ReplaceableAgent;
  readonly generateId: IdGenerator;
  /** Returns false if this node starts no agents. */
  readonly startsTurns: () => boolean;
  /** Time limit in milliseconds for a canceled agent to stop. */
  readonly cancelGraceMs: number;
  /** Creates the turn of a message that an earlier server process queued. */
  readonly restoreQueuedTurn: (scope: TaskScope, queued: QueuedTurnData) => Turn;
  /** Called when the runner has no turns, and neither requests nor readers need the runner. */
  readonly onIdle: (runner: TaskRunner) => void;
  /**
   * Called when the runner abandons a turn that has not ended, so that the turn can be recovered. The agent has
   * stopped, or has ignored the signal to stop for `cancelGraceMs`. `handover` is the append that releases the lease
   * of a turn that a later process continues.
   */
  readonly releaseLease: (lease: TaskLease, handover?: LogAppend) => void;
  /**
   * Settles the sender of a turn's message once another node has continued the turn. Returns false if this node cannot
   * follow the turn.
   */
  readonly followHandedOverTurn?: (runner: TaskRunner, turn: Turn) => boolean;
  /** Continues the traces of requests in the runs of agents. */
  readonly runTracing?: RunTracing | undefined;
  /** Called before an agent starts. */
  readonly onRunStart: () => void;
  /** Called when the runner begins a turn. */
  readonly onTurnStart?: (runner: TaskRunner) => void;
  /** Resolves with the current feed of a task. Absent if no other node can change the task. */
  readonly openForReading?: ((scope: TaskScope, taskId: string) => Promise<TaskFeed | undefined>) | undefined;
}

/**
 * Executes the turns of a task, one at a time (E11). The runner writes the agent's events into the live
 * task. If the agent sets no final state, the runner writes the final state. The runner never waits for a
 * reader (E2).
 */
export class TaskRunner implements LiveTaskListener, TaskFeed {
  readonly liveTask: LiveTask;
  readonly #context: TaskRunnerDependencies;
  readonly #queue: TurnQueue;
  #currentTurn: Turn | undefined;
  /** True if the server stopped a turn that the next server process continues. */
  #isLeftForRestart = false;
  #isStopping = false;
  #agentEnd: Promise<void> = Promise.resolve();
  #requestCount = 0;
  #readerCount = 0;
  #hasMoved = false;
  /** True until a task with a turn of an earlier runner is settled. Requests must not see such a task. */
  isAwaitingRecovery: boolean;

  constructor(
    context: TaskRunnerDependencies,
    ids: { scope: TaskScope; taskId: string; contextId: string },
    stored?: StoredTask,
  ) {
    this.#context = context;
    this.isAwaitingRecovery = stored?.awaitsRecovery ?? false;
    this.#queue = new TurnQueue(stored?.queuedTurns ?? [], (queued) =>
      context.restoreQueuedTurn(ids.scope, queued),
    );
    this.liveTask = new LiveTask(context, this, ids, stored);
  }

  /** The running turn, or an ended turn whose last events are not yet committed. */
  get currentTurn(): Turn | undefined {
    return this.#currentTurn;
  }

  get hasRunningTurn(): boolean {
    const turn = this.#currentTurn;
    return turn !== undefined && (!turn.hasEnded || this.#isTurnLeftForRestart(turn));
  }

  get hasReaders(): boolean {
    return this.#readerCount > 0 || this.#requestCount > 0;
  }

  /** True if another node may continue the task, so that its readers must follow the log in the store. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /**
   * True if an agent may still change the task without a new message: a turn is running, waits to start, or
   * continues after a restart of the server.
   */
  get hasUnfinishedTurn(): boolean {
    return this.#currentTurn !== undefined || this.#queue.length > 0 || this.#isLeftForRestart;
  }

  /** True if the runner is idle, and its task waits for a message. */
  get canRest(): boolean {
    const { state, hasPendingEvents, hasCommitFailed } = this.liveTask;
    const isUsed = this.#requestCount > 0 || (this.#readerCount > 0 && !this.#hasMoved);
    const isIdle = !this.hasUnfinishedTurn && !isUsed && !hasPendingEvents && !hasCommitFailed;
    return isIdle && !this.isAwaitingRecovery && state !== undefined && isInterrupted(state);
  }

  /** The unfinished turn of the task, which can change the task without a new message. */
  get turnStatus(): TaskTurnStatus {
    if (this.#isLostTurnOfTask) return "awaiting-recovery";
    const isRunning = this.#currentTurn !== undefined && !this.#currentTurn.hasEnded;
    return isRunning || this.#queue.length > 0 ? "running" : "none";
  }

  /** True if the task has an unfinished turn that this runner does not run. */
  get #isLostTurnOfTask(): boolean {
    const { state } = this.liveTask;
    if (this.isAwaitingRecovery) return true;
    return !this.#currentTurn && state !== undefined && !isInterrupted(state) && !isTerminal(state);
  }

  /** True while the running turn waits for its user and may continue without a message. */
  get isWaitingWithinTurn(): boolean {
    const { state } = this.liveTask;
    const isRunning = this.#currentTurn !== undefined && !this.#currentTurn.hasEnded;
    return isRunning && state !== undefined && isInterrupted(state);
  }

  /** Returns the turn of a message that waits for its turn or has just begun. */
  findUnfinishedTurn(messageId: string): Turn | undefined {
    const { currentTurn } = this;
    return currentTurn?.message.messageId === messageId ? currentTurn : this.#queue.findTurn(messageId);
  }

  /** Number of turns that wait for the current turn to end. */
  get queuedTurnCount(): number {
    return this.#queue.length;
  }

  /** Keeps this runner in the registry until the requester calls `release`. */
  retain(): this {
    this.#requestCount++;
    return this;
  }

  release(): void {
    this.#requestCount--;
    this.startNextTurnOrIdle();
  }

  /** Keeps this runner for a reader. If other nodes can continue the task, the reader moves at the end of the turn. */
  retainForReader(): this {
    this.#readerCount++;
    return this;
  }

  releaseReader(): void {
    this.#readerCount--;
    if (!this.#hasMoved) this.startNextTurnOrIdle();
  }

  async reopen(): Promise<TaskFeed | undefined> {
    const { scope, taskId } = this.liveTask;
    return await this.#context.openForReading?.(scope, taskId);
  }

  /** Prepares a runner that has rested for its next turn. */
  wakeUp(): this {
    this.#hasMoved = false;
    return this;
  }

  /**
   * Reserves the runner for a turn whose agent starts before its task exists. `startOrQueueTurn` or
   * `discardWithoutTask` must follow.
   */
  reserveForTurnWithoutTask(turn: Turn): void {
    this.#currentTurn = turn;
  }

  /** Discards a runner whose task was never created. */
  discardWithoutTask(): void {
    this.#currentTurn = undefined;
    this.#context.onIdle(this);
  }

  /**
   * Starts a turn, or queues the turn if another turn is running. `output` is the output of an agent that
   * started before its task existed.
   */
  startOrQueueTurn(turn: Turn, output?: StartedAgentIterator): void {
    if ((this.#currentTurn && this.#currentTurn !== turn) || this.#queue.length > 0)
      void this.queueTurn(turn).catch(() => {});
    else this.#startTurn(turn, output);
  }

  /** Queues a turn. Resolves when the queued turn is durable. Rejects if the turn cannot be stored. */
  queueTurn(turn: Turn): Promise<void> {
    return this.liveTask.enqueueQueuedTurn(this.#queue.add(turn));
  }

  /** Starts a turn. `queuePosition` is the position of a turn that has waited in the queue. */
  #startTurn(turn: Turn, output?: StartedAgentIterator, queuePosition?: number): void {
    const { liveTask } = this;
    const task = this.buildTaskWithTurnMessage(turn.message);
    turn.startPoint = { task, seq: liveTask.seq + 1 };
    const event: TaskEvent = liveTask.state === undefined ? { task } : { message: turn.message };
    const { message, acceptedSeq, request, serviceParameters } = turn;
    const webhook = extractMessageWebhookRegistration(request, liveTask.taskId, serviceParameters);
    const refusal = liveTask.validateAndEnqueueMessageEvent(event, {
      messageId: message.messageId,
      durableSeq: acceptedSeq,
      webhook,
      wasQueued: queuePosition !== undefined,
    });
    if (refusal) {
      turn.endWithError(createTaskEndedError(liveTask.taskId, liveTask.state));
      this.startNextTurnOrIdle();
      return;
    }
    if (queuePosition !== undefined) liveTask.removeQueuedTurnsThrough(queuePosition);
    this.#currentTurn = turn;
    this.#context.onTurnStart?.(this);
    this.#countWorkingAgentUntilTurnEnd(turn);
    this.#startSpan(turn);
    const restartData = this.#isPersisted(turn) ? toTurnRestartData(turn, turn.startPoint.seq) : undefined;
    liveTask.persistTurn(restartData, restartData && turn.findSteps());
    // Requests must no longer see the task waiting for the input that it has just received.
    if (isInterrupted(task.status.state))
      turn.startPoint = {
        ...turn.startPoint,
        workingEvent: this.#enqueueTaskStatusEvent("TASK_STATE_WORKING"),
      };
    this.#agentEnd = this.#runTurn(turn, task, output);
  }

  /**
   * Restarts a turn that an earlier server process accepted. `seq` is the sequence number of the turn's
   * message. `initialTask` is the task at the start of the turn. The agent run begins only once the store has
   * recorded the new attempt. The number of attempts is therefore limited even if the turn crashes the server
   * process.
   */
  async restartTurnAfterServerRestart(
    turn: Turn,
    seq: number,
    initialTask: Task,
    mode: "restart" | "resume",
  ): Promise<void> {
    const { liveTask } = this;
    const task = mode === "restart" ? initialTask : liveTask.getSnapshot();
    const workingEvent = isInterrupted(initialTask.status.state)
      ? toStatusUpdate(liveTask, "TASK_STATE_WORKING", liveTask.getNextStatusTimestamp())
      : undefined;
    turn.startPoint = { task: copyTask(initialTask), seq, workingEvent };
    if (mode === "restart" && turn.attempt > 1)
      turn.artifactRestart = new RestartedTurnArtifactRewriter(turn.startPoint.task);
    turn.acceptedSeq.resolve(seq);
    this.#currentTurn = turn;
    this.#context.onTurnStart?.(this);
    this.#countWorkingAgentUntilTurnEnd(turn);
    this.#startSpan(turn);
    const restartData = toTurnRestartData(turn, seq);
    if (turn.attempt === 1) liveTask.commitTurnStart(restartData, turn.findSteps());
    else {
      this.#enqueueTaskStatusEvent("TASK_STATE_WORKING");
      liveTask.persistTurn(restartData, turn.findSteps());
    }
    await liveTask.waitForCommit();
    if (!turn.hasEnded) this.#agentEnd = this.#runTurn(turn, task);
  }

  /** Starts the agent. `task` is the task at the start of the turn. */
  startAgent(turn: Turn, task: Task): StartedAgentIterator {
    this.#startSpan(turn);
    // Without a persisted turn, no later attempt needs the steps.
    const commitSteps = (): Promise<void> =>
      this.#isPersisted(turn) ? this.liveTask.commitSteps(turn.steps) : Promise.resolve();
    return turn.runInSpan(() =>
      turn.startAgent(this.#assignAgent(turn), task, {
        clock: this.#context.clock,
        commitSteps,
        reportCall: this.#createCallReporter(),
      }),
    );
  }

  /** Returns the agent of a turn, which is the current agent at the first call. */
  #assignAgent(turn: Turn): Agent {
    return (turn.agent ??= this.#context.agent.current);
  }

  /** Returns true if the store persists the turn, so that a later process can continue the turn. */
  #isPersisted(turn: Turn): boolean {
    return hasPersistedTurns(this.#assignAgent(turn));
  }

  /** The agent of the running turn, or the agent of the next turn. */
  get agent(): Agent {
    return (this.isAgentWorking ? this.#currentTurn?.agent : undefined) ?? this.#context.agent.current;
  }

  /** Starts the span of a turn, which ends with the turn. */
  #startSpan(turn: Turn): void {
    const { runTracing } = this.#context;
    if (!runTracing || turn.span) return;
    const { scope, taskId, contextId } = this.liveTask;
    const { attempt, earlierRunTraceparent } = turn;
    const ids = { agentId: scope.agent, taskId, contextId, attempt, earlierRunTraceparent };
    const { traceparent, tracestate, requestTraceparent, parentTask } = turn.serviceParameters;
    const span = runTracing.startRun({ ...ids, traceparent, tracestate, requestTraceparent, parentTask });
    turn.span = span;
    turn.onEnd(() => span.end({ state: this.liveTask.state, error: turn.agentError }));
  }

  #createCallReporter(): Run["reportCall"] {
    const { observer } = this.#context;
    if (!observer.onAgentCall) return undefined;
    const { scope, taskId } = this.liveTask;
    return (call) => observer.onAgentCall?.({ scope, taskId, call });
  }

  #countWorkingAgentUntilTurnEnd(turn: Turn): void {
    const { committer } = this.#context;
    committer.incrementWorkingAgents();
    turn.onEnd(() => committer.decrementWorkingAgents());
  }

  /**
   * Signals the running agent to stop. If the agent does not stop within the grace period, the runner
   * ignores the agent's later output (E8).
   */
  cancel(reason: string, caller: Caller, metadata: JsonObject): void {
    const turn = this.#currentTurn;
    if (!turn || turn.hasEnded) {
      const task = this.liveTask.getSnapshot();
      this.#enqueueTaskStatusEvent("TASK_STATE_CANCELED");
      void this.#notifyAgentOfTaskCancellation(task, caller, metadata);
    } else if (!turn.cancelMetadata) {
      turn.cancelMetadata = metadata;
      turn.abort(reason);
      this.#scheduleAgentOutputCutoff(turn, this.#context.cancelGraceMs);
    }
  }

  /** Stops the running agent, so that the next turn can begin. The task becomes INPUT_REQUIRED. */
  interruptTurn(): void {
    const turn = this.#currentTurn;
    if (!turn || turn.hasEnded || turn.isInterrupted) return;
    turn.isInterrupted = true;
    turn.abort("A message interrupted the agent.");
    this.#scheduleAgentOutputCutoff(turn, this.#context.cancelGraceMs);
  }

  /**
   * Offers a message to the running agent and returns true if the agent accepts the message. If the agent
   * accepts the message, `acceptedSeq` resolves with the sequence number of the message.
   */
  offerMessageToAgent(message: Message, caller: Caller, acceptedSeq: Deferred<number>): boolean {
    const { liveTask } = this;
    if (!this.agent.deliver?.(message, liveTask.getSnapshot(), caller)) return false;
    const { messageId } = message;
    const refusal = liveTask.validateAndEnqueueMessageEvent(
      { message },
      { messageId, durableSeq: acceptedSeq },
    );
    if (refusal) throw createTaskEndedError(liveTask.taskId, liveTask.state);
    return true;
  }

  async #notifyAgentOfTaskCancellation(task: Task, caller: Caller, metadata: JsonObject): Promise<void> {
    try {
      await this.#context.agent.current.onTaskCanceled?.(task, caller, metadata);
    } catch (error) {
      this.#reportError(error);
    }
  }

  /**
   * Stops the agent when the server closes. The task fails with `reason`, unless the agent ends the task
   * first or can continue the turn after a restart. Resolves once the final state of the task is committed.
   * Rejects if the task waits for a restart of the server.
   */
  async stopAgent(reason: string, graceMs: number): Promise<void> {
    // A durable store keeps the queued turns for the next process.
    this.#isStopping = true;
    this.#queue.rejectRequests(createServerClosingError());
    this.liveTask.notifyTurnChange();
    const turn = this.#currentTurn;
    if (!turn) return;
    if (!turn.hasEnded) {
      turn.stopReason = reason;
      turn.abort(reason);
      this.#scheduleAgentOutputCutoff(turn, graceMs);
      await new Promise<void>((resolve) => turn.onEnd(resolve));
    }
    if (this.#currentTurn === turn) await turn.stoppedTask.promise;
  }

  /**
   * Stops the agent if another node can continue its turn, and otherwise waits until the turn ends. Resolves once the
   * turn is handed over or has ended.
   */
  async handOverOrFinishTurn(): Promise<void> {
    const { store, cancelGraceMs } = this.#context;
    if (hasPersistedTurns(this.agent) && store.isDurable && this.liveTask.state !== undefined)
      await this.stopAgent("The server hands its running turns over to other servers.", cancelGraceMs);
    else await this.waitForTurnEnd();
  }

  get isAgentWorking(): boolean {
    return this.#currentTurn !== undefined && !this.#currentTurn.hasEnded;
  }

  /** Resolves once the agent has ended. */
  async waitForTurnEnd(): Promise<void> {
    const turn = this.#currentTurn;
    if (turn && !turn.hasEnded) await new Promise<void>((resolve) => turn.onEnd(resolve));
  }

  /** Fails a task whose turn has no running agent. */
  failOrphanedTask(reason: string): void {
    this.#enqueueTaskStatusEvent("TASK_STATE_FAILED", reason);
  }

  /** Returns a copy of the task that contains the message of the new turn. */
  buildTaskWithTurnMessage(message: Message): Task {
    const { liveTask } = this;
    if (liveTask.state === undefined) {
      const status = { state: "TASK_STATE_SUBMITTED", timestamp: liveTask.getNextStatusTimestamp() } as const;
      return { id: liveTask.taskId, contextId: liveTask.contextId, status, history: [message] };
    }
    // A finished task refuses the message, and `fold` does not change the task.
    const snapshot = liveTask.getSnapshot();
    const task = fold(snapshot, { message });
    return isEventRefusal(task) ? snapshot : task;
  }

  async #runTurn(turn: Turn, task: Task, output?: StartedAgentIterator): Promise<void> {
    const { observer } = this.#context;
    const { contextTurns } = this.#context.agent;
    const { scope, taskId, contextId } = this.liveTask;
    // An agent with output has already entered its context.
    const predecessorEnd = output ? undefined : contextTurns?.enterTurn(scope, turn);
    // Another node can receive the same message, so the agent starts only with the lease of the task.
    const mustWaitForLease = this.#context.store.nodes?.hasOtherNodes === true && !output;
    if (mustWaitForLease) await turn.acceptedSeq.promise.catch(() => {});
    if (predecessorEnd) await predecessorEnd;
    if (turn.hasEnded) return;
    this.#context.onRunStart();
    const { attempt, span, serviceParameters } = turn;
    const { parentTask } = serviceParameters;
    const report = { scope, taskId, contextId, attempt, traceparent: span?.traceparent, parentTask };
    observer.onRun?.({ ...report, phase: "begin" });
    try {
      if (predecessorEnd || mustWaitForLease) turn.signal.throwIfAborted();
      await turn.runInSpan(() => this.#consumeEvents(turn, output ?? this.startAgent(turn, task)));
      this.#writeFinalState(turn);
      observer.onRun?.({ ...report, phase: "end", state: this.liveTask.state });
    } catch (error) {
      turn.agentError = error;
      this.#writeFailure(turn, error);
      observer.onRun?.({ ...report, phase: "end", state: this.liveTask.state, error });
    }
    this.#endTurn(turn);
  }

  /**
   * Stores the agent's events until the agent ends or its output is ignored. If the store cannot commit
   * events fast enough, the agent waits.
   */
  async #consumeEvents(turn: Turn, { iterator, firstResult }: StartedAgentIterator): Promise<void> {
    const { liveTask } = this;
    const timestamp = (): string => liveTask.getNextStatusTimestamp();
    let ended = false;
    try {
      let step = firstResult ?? (await iterator.next());
      while (!step.done) {
        if (turn.isFenced) return;
        const taskEvent = toTaskEventFromAgent(liveTask, step.value, timestamp, this.#context.generateId);
        const event = turn.artifactRestart ? turn.artifactRestart.rewriteArtifactEvent(taskEvent) : taskEvent;
        if (this.#isRepeatedWorkingStatus(turn, event)) {
          step = await iterator.next();
          continue;
        }
        if (liveTask.exceedsSizeLimitWith(event)) throw createTaskTooLargeError(this.#context.taskSizeLimit);
        const refusal = this.#enqueueEvent(event);
        if (refusal) {
          const text = `The agent yielded an event that the task cannot accept: ${refusal.refusalReason}.`;
          throw new A2AError("INVALID_AGENT_RESPONSE", text);
        }
        if ("statusUpdate" in event) turn.lastState = event.statusUpdate.status.state;
        const capacity = liveTask.waitForCapacity();
        if (capacity) await capacity;
        step = await iterator.next();
      }
      ended = true;
    } finally {
      // Close an iterator that is abandoned before its end. Only an aborted turn waits for it, because `cancelGraceMs`
      // limits the wait, and another node may continue the turn.
      const closing = ended ? undefined : this.closeIterator(iterator);
      if (turn.signal.aborted) await closing;
    }
  }

  /** Returns true if the turn starts with a WORKING status although the task is already WORKING. */
  #isRepeatedWorkingStatus(turn: Turn, event: TaskEvent): boolean {
    const isFirst = turn.startPoint?.seq === 1 && turn.attempt === 1;
    if (turn.lastState !== undefined || isFirst || !("statusUpdate" in event)) return false;
    const { status, metadata } = event.statusUpdate;
    return (
      status.state === "TASK_STATE_WORKING" &&
      this.liveTask.state === status.state &&
      !status.message &&
      !metadata
    );
  }

  /** Closes the agent's iterator and reports errors to the observer. */
  async closeIterator(iterator: StartedAgentIterator["iterator"]): Promise<void> {
    try {
      await iterator.return?.();
    } catch (error) {
      this.#reportError(error);
    }
  }

  /** Writes the final state of the task if the agent did not set a final state. */
  #writeFinalState(turn: Turn): void {
    const { state } = this.liveTask;
    if (turn.isFenced || !state || isTerminal(state)) return;
    if (turn.cancelMetadata) this.#enqueueTaskStatusEvent("TASK_STATE_CANCELED");
    else if (turn.stopReason) {
      // At INPUT_REQUIRED, the task waits for its user and needs no agent.
      if (!this.#isTurnLeftForRestart(turn) && state !== "TASK_STATE_INPUT_REQUIRED")
        this.#enqueueTaskStatusEvent("TASK_STATE_FAILED", turn.stopReason);
    } else if (!turn.lastState || !isInterrupted(turn.lastState))
      this.#enqueueTaskStatusEvent(turn.isInterrupted ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_COMPLETED");
  }

  /** Returns true if the server stopped the agent and a later server process will start the turn again. */
  #isTurnLeftForRestart(turn: Turn): boolean {
    if (turn.stopReason === undefined || turn.cancelMetadata) return false;
    return this.#isPersisted(turn) && this.#context.store.isDurable === true;
  }

  #writeFailure(turn: Turn, thrown: unknown): void {
    const { state } = this.liveTask;
    if (turn.cancelMetadata || turn.stopReason || turn.isInterrupted) this.#writeFinalState(turn);
    else if (turn.isFenced || !state || isTerminal(state)) this.#reportError(thrown);
    else this.#enqueueTaskStatusEvent("TASK_STATE_FAILED", this.#buildFailureText(thrown));
  }

  /**
   * Returns the failure message for the caller. The caller receives the message of an `A2AError`. The
   * message of any other error appears only in the server's log.
   */
  #buildFailureText(thrown: unknown): string {
    const errorId = generateErrorId(this.#context.generateId);
    this.#reportError(thrown, errorId);
    return thrown instanceof A2AError
      ? thrown.message
      : `The agent failed. The server's log has the cause under error id ${errorId}.`;
  }

  #scheduleAgentOutputCutoff(turn: Turn, graceMs: number): void {
    const cancelTimer = this.#context.clock.schedule(graceMs, () => {
      this.#writeFinalState(turn);
      turn.isFenced = true;
      if (this.liveTask.state === undefined) this.#abandonTurnWithoutTask(turn);
      else this.#endTurn(turn);
    });
    turn.onEnd(cancelTimer);
  }

  /** Abandons a turn if its agent does not stop and its task does not exist yet. */
  #abandonTurnWithoutTask(turn: Turn): void {
    this.discardWithoutTask();
    turn.endWithError(createServerClosingError());
  }

  /** Ends a turn. The turn remains the current turn until its last events are committed. */
  #endTurn(turn: Turn): void {
    if (turn.hasEnded) return;
    turn.end();
    this.liveTask.commitTurnEnd();
    this.startNextTurnOrIdle();
  }

  /**
   * Completes an ended turn once all events are committed, and starts the next queued turn. A runner
   * without turns and readers becomes idle.
   */
  startNextTurnOrIdle(): void {
    if (this.liveTask.hasPendingEvents) return;
    if (this.#currentTurn?.hasEnded) {
      // Reject requests that wait for a turn that continues after a restart, so that clients retry then.
      this.#isLeftForRestart = this.#isTurnLeftForRestart(this.#currentTurn);
      if (this.#isLeftForRestart) {
        // The readers and the sender of the message continue with the log of the store, if another node continues.
        this.#hasMoved = this.#context.followHandedOverTurn?.(this, this.#currentTurn) ?? false;
        if (!this.#hasMoved) this.#currentTurn.stoppedTask.reject(createServerClosingError());
        this.#context.releaseLease(this.liveTask.lease, this.liveTask.createHandoverAppend());
      } else this.#currentTurn.stoppedTask.resolve(this.liveTask.getSnapshot());
      this.#currentTurn = undefined;
      this.liveTask.notifyTurnChange();
    }
    if (this.#currentTurn) return;
    const next = this.#canStartQueuedTurn() ? this.#queue.takeFirst() : undefined;
    if (next) this.#startTurn(next.turn, undefined, next.position);
    else if (this.#requestCount === 0 && (this.#readerCount === 0 || this.#moveReaders()))
      this.#context.onIdle(this);
  }

  /** Makes the readers of a task without a running turn follow the log, if another node can begin its next turn. */
  #moveReaders(): boolean {
    const { state } = this.liveTask;
    if (!this.#context.openForReading || this.#isLeftForRestart || !state || isTerminal(state)) return false;
    this.#hasMoved = true;
    this.liveTask.notifyTurnChange();
    return true;
  }

  /** Returns true if the first queued turn may start. Rejects all queued turns of a task that has ended. */
  #canStartQueuedTurn(): boolean {
    const { taskId, state } = this.liveTask;
    if (this.#queue.length > 0 && state && isTerminal(state))
      this.#queue.clear(createTaskEndedError(taskId, state));
    return !this.#isStopping && !this.#isLostTurnOfTask && this.#context.startsTurns();
  }

  onTurnStop(): void {
    this.#currentTurn?.stoppedTask.resolve(this.liveTask.getSnapshot());
  }

  onAllCommitted(): void {
    this.startNextTurnOrIdle();
  }

  /** Ends all turns of the runner because the store could not commit. */
  onCommitFailed(error: A2AError): void {
    // Another node can continue the task, so its readers follow the log.
    this.#hasMoved = this.#context.openForReading !== undefined;
    const turn = this.#currentTurn;
    this.#currentTurn = undefined;
    turn?.abort(error.message);
    turn?.endWithError(error);
    this.#queue.clear(error);
    this.#context.onIdle(this);
    void this.#releaseLeaseAfterAgentEnd();
  }

  onLateCommitResult(): void {
    void this.#releaseLeaseAfterAgentEnd();
  }

  /** Releases the lease once the agent has stopped, so that a recovered turn does not overlap with its agent. */
  async #releaseLeaseAfterAgentEnd(): Promise<void> {
    const { clock, cancelGraceMs, releaseLease } = this.#context;
    const graceEnd = new Deferred();
    const cancelTimer = clock.schedule(cancelGraceMs, () => graceEnd.resolve());
    await Promise.race([this.#agentEnd, graceEnd.promise]);
    cancelTimer();
    releaseLease(this.liveTask.lease);
  }

  #enqueueTaskStatusEvent(state: TaskState, text?: string): TaskEvent {
    const message =
      text === undefined
        ? undefined
        : toTaskMessageFromAgent(this.liveTask, { parts: [{ text }] }, this.#context.generateId);
    const event = toStatusUpdate(this.liveTask, state, this.liveTask.getNextStatusTimestamp(), message);
    const refusal = this.#enqueueEvent(event);
    if (refusal) this.#reportError(new Error(refusal.refusalReason));
    return event;
  }

  /** Enqueues an event of the agent or the runner. The end of the task discards its queued messages. */
  #enqueueEvent(event: TaskEvent): EventRefusal | undefined {
    const { liveTask } = this;
    const isLast =
      this.#queue.length > 0 && "statusUpdate" in event && isTerminal(event.statusUpdate.status.state);
    if (!isLast) return liveTask.validateAndEnqueueEvent(event);
    const refusal = liveTask.validateAndEnqueueEvent(withDiscardedMessageIds(event, this.#queue.messageIds));
    if (!refusal) liveTask.removeQueuedTurnsThrough(this.#queue.lastPosition);
    return refusal;
  }

  /** An adapter that creates its own error id stores the id in the member `errorId` of the error. */
  #reportError(error: unknown, errorId: string | undefined = getAdapterErrorId(error)): void {
    const traceparent = this.#currentTurn?.span?.traceparent;
    const report = {
      where: "agent",
      error,
      taskId: this.liveTask.taskId,
      ...(traceparent === undefined ? {} : { traceparent }),
    };
    this.#context.observer.onError?.(errorId ? { ...report, errorId } : report);
  }
}

function getAdapterErrorId(error: unknown): string | undefined {
  return error instanceof Error && "errorId" in error ? String(error.errorId) : undefined;
}
