import {
  A2AError,
  fold,
  isInterrupted,
  isEventRefusal,
  isTerminal,
  copyTask,
  type JsonObject,
  type Message,
  type Task,
  type TaskEvent,
} from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import { toStatusUpdate } from "./to-task-event.ts";
import { AgentOutputWriter } from "./agent-output-writer.ts";
import type { Agent, Run } from "./agent.ts";
import { hasPersistedTurns } from "./replaceable-agent.ts";
import { RestartedTurnArtifactRewriter } from "./restarted-turn-artifacts.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { TaskTurnStatus } from "./decide-message-outcome.ts";
import { TurnQueue } from "./turn-queue.ts";
import { createServerClosingError, createTaskEndedError } from "./task-errors.ts";
import { sleepUntil } from "./steps/sleep-until.ts";
import { toTurnRestartData } from "./turn-restart-data.ts";
import { LiveTask } from "./live-task.ts";
import type { LiveTaskListener } from "./live-task-dependencies.ts";
import { extractMessageWebhookRegistration } from "./push/push-config-operations.ts";
import type { TaskFeed } from "./task-feed.ts";
import type { TaskRunnerDependencies } from "./task-runner-dependencies.ts";
import type { StoredTask } from "./task-store.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

/**
 * Time in milliseconds after which a suspended attempt ends. Meanwhile, the node receives the requests that have started
 * the attempt.
 */
const SUSPENDED_ATTEMPT_MS = 1000;

/**
 * Executes the turns of a task, one at a time (E11). The runner writes the agent's events into the live
 * task. If the agent sets no final state, the runner writes the final state. The runner never waits for a
 * reader (E2).
 */
export class TaskRunner implements LiveTaskListener, TaskFeed {
  readonly liveTask: LiveTask;
  readonly #context: TaskRunnerDependencies;
  readonly #queue: TurnQueue;
  readonly #output: AgentOutputWriter;
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
    this.#output = new AgentOutputWriter(
      context,
      this.liveTask,
      this.#queue,
      () => this.#currentTurn?.span?.traceparent,
    );
  }

  /** The running turn, or an ended turn whose last events are not yet committed. */
  get currentTurn(): Turn | undefined {
    return this.#currentTurn;
  }

  get hasRunningTurn(): boolean {
    const turn = this.#currentTurn;
    return turn !== undefined && (!turn.hasEnded || this.#output.isLeftForRestart(turn));
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
        workingEvent: this.#output.writeStatus("TASK_STATE_WORKING"),
      };
    this.#agentEnd = this.#runTurn(turn, task, output);
  }

  /**
   * Restarts a turn that an earlier server process accepted. `seq` is the sequence number of the turn's
   * message. `initialTask` is the task at the start of the turn. The agent run begins only once the store has
   * recorded the new attempt. The number of attempts is therefore limited even if the turn crashes the server
   * process. `wakeAt` is the time of a suspended turn. If only this process can open the store, the run begins then.
   */
  async restartTurnAfterServerRestart(
    turn: Turn,
    seq: number,
    initialTask: Task,
    mode: "restart" | "resume",
    wakeAt = 0,
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
    const { clock, openForReading } = this.#context;
    if (wakeAt <= clock.now() || openForReading) await this.#startNextAttempt(turn, seq, task);
    else {
      turn.wakeAt = wakeAt;
      turn.endAdmission();
      this.#agentEnd = this.#startNextAttemptAt(wakeAt, turn, seq, task);
    }
  }

  /** Waits until the time of a suspended turn, and then starts its next attempt. */
  async #startNextAttemptAt(wakeAt: number, turn: Turn, seq: number, task: Task): Promise<void> {
    try {
      await sleepUntil(wakeAt, this.#context.clock, turn.signal);
    } catch (error) {
      this.#output.writeFailure(turn, error);
      this.#endTurn(turn);
      return;
    }
    turn.wakeAt = undefined;
    // The live task reports a commit that fails, and ends the turn.
    await this.#startNextAttempt(turn, seq, task).catch(() => {});
  }

  /** Commits the start of a repeated attempt, and then starts the agent. */
  async #startNextAttempt(turn: Turn, seq: number, task: Task): Promise<void> {
    const { liveTask } = this;
    this.#countWorkingAgentUntilTurnEnd(turn);
    this.#startSpan(turn);
    const restartData = toTurnRestartData(turn, seq);
    if (turn.attempt === 1) liveTask.commitTurnStart(restartData, turn.findSteps());
    else {
      this.#output.writeStatus("TASK_STATE_WORKING");
      liveTask.persistTurn(restartData, turn.findSteps());
    }
    await liveTask.waitForCommit();
    if (!turn.hasEnded) this.#agentEnd = this.#runTurn(turn, task);
  }

  /** Starts the agent. `task` is the task at the start of the turn. */
  startAgent(turn: Turn, task: Task): StartedAgentIterator {
    const { clock } = this.#context;
    this.#startSpan(turn);
    // Without a persisted turn, no later attempt needs the steps.
    const commitSteps = (): Promise<void> =>
      this.#isPersisted(turn) ? this.liveTask.commitSteps(turn.steps) : Promise.resolve();
    const suspendTurn = (wakeAt: number): (() => void) => this.#suspendTurn(turn, wakeAt);
    const reportCall = this.#createCallReporter();
    const host = { clock, commitSteps, suspendTurn, reportCall };
    return turn.runInSpan(() => turn.startAgent(this.#assignAgent(turn), task, host));
  }

  #suspendTurn(turn: Turn, wakeAt: number): () => void {
    const { clock, store, openForReading } = this.#context;
    const isShort = wakeAt - clock.now() <= SUSPENDED_ATTEMPT_MS;
    if (!this.#isPersisted(turn) || !store.isDurable || !turn.startPoint || isShort) return () => {};
    turn.wakeAt = wakeAt;
    const cancelTimer = openForReading
      ? clock.schedule(SUSPENDED_ATTEMPT_MS, () => this.#handOverSuspendedTurn(turn))
      : (): void => {};
    if (!openForReading) {
      turn.endAdmission();
      const restartData = toTurnRestartData(turn, turn.startPoint.seq);
      // The end of the process during the suspension does not count as a failed attempt.
      const suspended = { ...restartData, handovers: turn.handovers + 1, wakeAt };
      this.liveTask.commitTurnStart(suspended, turn.findSteps());
    }
    return () => {
      cancelTimer();
      // The end of the attempt stores the time.
      if (!turn.signal.aborted) turn.wakeAt = undefined;
    };
  }

  /** Ends the attempt at a suspended turn, unless messages wait for the turn on this node. */
  #handOverSuspendedTurn(turn: Turn): void {
    const { state } = this.liveTask;
    const isStopping = turn.hasEnded || turn.signal.aborted;
    if (isStopping || this.#queue.length > 0 || !state || state === "TASK_STATE_INPUT_REQUIRED") return;
    turn.stopReason = "The turn is suspended.";
    turn.abort(turn.stopReason);
    this.#scheduleAgentOutputCutoff(turn, this.#context.cancelGraceMs);
  }

  #createCallReporter(): Run["reportCall"] {
    const { observer } = this.#context;
    if (!observer.onAgentCall) return undefined;
    const { scope, taskId } = this.liveTask;
    return (call) => observer.onAgentCall?.({ scope, taskId, call });
  }

  /** Starts the span of a turn, which ends with the turn. */
  #startSpan(turn: Turn): void {
    const { clock, runTracing } = this.#context;
    if (!runTracing || turn.span) return;
    const { scope, taskId, contextId } = this.liveTask;
    const { attempt, earlierRun } = turn;
    const { traceparent, tracestate, requestTraceparent, parentTask } = turn.serviceParameters;
    const span = runTracing.startRun({
      agentId: scope.agent,
      taskId,
      contextId,
      attempt,
      earlierRun,
      reportCall: this.#createCallReporter(),
      traceparent,
      tracestate,
      requestTraceparent,
      parentTask,
    });
    turn.span = span;
    turn.spanStartedAt = clock.now();
    turn.onEnd(() => span.end({ state: this.liveTask.state, error: turn.agentError }));
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
      this.#output.writeStatus("TASK_STATE_CANCELED");
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
      this.#output.reportError(error);
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

  /**
   * True while the agent works, or while its output is not committed. The process may stop while the agent waits for its
   * user or in `Run.suspend`. If several nodes share the store, this node must release a suspended turn first.
   */
  get isProcessNeeded(): boolean {
    const isSuspended = this.#currentTurn?.wakeAt !== undefined && !this.#context.openForReading;
    const { state, hasUncommittedEvents } = this.liveTask;
    return (
      hasUncommittedEvents || (this.isAgentWorking && !isSuspended && state !== "TASK_STATE_INPUT_REQUIRED")
    );
  }

  /** Resolves once the current turn has ended or needs no process. */
  async waitWhileProcessIsNeeded(): Promise<void> {
    const { liveTask } = this;
    const turn = this.#currentTurn;
    turn?.onEnd(() => liveTask.notifyTurnChange());
    while (this.#currentTurn === turn && this.isProcessNeeded)
      await liveTask.waitForCommitOrTurnChange().catch(() => this.waitForTurnEnd());
  }

  /** Resolves once the agent has ended. */
  async waitForTurnEnd(): Promise<void> {
    const turn = this.#currentTurn;
    if (turn && !turn.hasEnded) await new Promise<void>((resolve) => turn.onEnd(resolve));
  }

  /** Fails a task whose turn has no running agent. */
  failOrphanedTask(reason: string): void {
    this.#output.writeStatus("TASK_STATE_FAILED", reason);
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
    const { observer, agent } = this.#context;
    const { contextTurns } = agent;
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
      await turn.runInSpan(() => this.#output.writeOutput(turn, output ?? this.startAgent(turn, task)));
      this.#output.writeFinalState(turn);
      observer.onRun?.({ ...report, phase: "end", state: this.liveTask.state });
    } catch (error) {
      turn.agentError = error;
      this.#output.writeFailure(turn, error);
      observer.onRun?.({ ...report, phase: "end", state: this.liveTask.state, error });
    }
    this.#endTurn(turn);
  }

  /** Closes the agent's iterator and reports errors to the observer. */
  closeIterator(iterator: StartedAgentIterator["iterator"]): Promise<void> {
    return this.#output.closeIterator(iterator);
  }

  #scheduleAgentOutputCutoff(turn: Turn, graceMs: number): void {
    const cancelTimer = this.#context.clock.schedule(graceMs, () => {
      this.#output.writeFinalState(turn);
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
      this.#isLeftForRestart = this.#output.isLeftForRestart(this.#currentTurn);
      if (this.#isLeftForRestart) {
        // The readers and the sender of the message continue with the log of the store, if another node continues.
        this.#hasMoved = this.#context.followHandedOverTurn?.(this, this.#currentTurn) ?? false;
        if (!this.#hasMoved) this.#currentTurn.stoppedTask.reject(createServerClosingError());
        this.#context.releaseLease(
          this.liveTask.lease,
          this.liveTask.createHandoverAppend(this.#currentTurn.wakeAt),
        );
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
  onCommitFailed(error: A2AError, mayHoldLease: boolean): void {
    // Another node can continue the task, so its readers follow the log.
    this.#hasMoved = this.#context.openForReading !== undefined;
    const turn = this.#currentTurn;
    this.#currentTurn = undefined;
    turn?.abort(error.message);
    turn?.endWithError(error);
    this.#queue.clear(error);
    this.#context.onIdle(this);
    if (mayHoldLease) void this.#releaseLeaseAfterAgentEnd();
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
}
