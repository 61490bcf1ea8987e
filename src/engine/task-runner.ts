import {
  type A2AError,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type Task,
} from "../protocol/index.ts";
import type { Deferred } from "../data-structures/index.ts";
import { AgentOutputWriter } from "./agent-output-writer.ts";
import { hasPersistedTurns } from "./replaceable-agent.ts";
import type { Caller, TaskScope } from "./caller.ts";
import { createHandoverAppend } from "./create-handover-append.ts";
import { createServerClosingError, createTaskEndedError } from "./task-errors.ts";
import { toTurnRestartData } from "./turn-restart-data.ts";
import { LiveTask } from "./live-task.ts";
import type { LiveTaskListener } from "./live-task-dependencies.ts";
import type { TaskFeed } from "./task-feed.ts";
import type { StoredTask } from "./task-store.ts";
import { TaskTurns } from "./task-turns.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import { TurnExecutor } from "./turn-executor.ts";
import { enqueueTurnStart, restoreTurnStart } from "./turn-start.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

/** Dependencies that all runners of an engine share. */
export interface TaskRunnerDependencies extends TurnDependencies {
  /** Called when the runner has no turns, and neither requests nor readers need the runner. */
  readonly onIdle: (runner: TaskRunner) => void;
  /**
   * Settles the sender of a turn's message once another node has continued the turn. Returns false if this node cannot
   * follow the turn.
   */
  readonly followHandedOverTurn?: (runner: TaskRunner, turn: Turn) => boolean;
  /** Called when the runner begins a turn. */
  readonly onTurnStart?: (runner: TaskRunner) => void;
}

/**
 * Runs the turns of a task, one at a time (E11). The runner commits the start of each turn, executes the agent, and
 * starts the next queued turn. The runner never waits for a reader (E2).
 */
export class TaskRunner implements LiveTaskListener, TaskFeed {
  readonly liveTask: LiveTask;
  readonly turns: TaskTurns;
  readonly executor: TurnExecutor;
  readonly #context: TaskRunnerDependencies;
  readonly #output: AgentOutputWriter;
  #requestCount = 0;
  #readerCount = 0;
  #hasMoved = false;

  constructor(
    context: TaskRunnerDependencies,
    ids: { scope: TaskScope; taskId: string; contextId: string },
    stored?: StoredTask,
  ) {
    this.#context = context;
    this.liveTask = new LiveTask(context, this, ids, stored);
    this.turns = new TaskTurns(context, this.liveTask, ids.scope, stored);
    this.#output = new AgentOutputWriter(context, this.liveTask, this.turns);
    this.executor = new TurnExecutor(context, this.liveTask, this.turns, this.#output, this);
  }

  get mustKeepTurnInStore(): boolean {
    return this.turns.mustKeepTurnInStore;
  }

  get hasUnfinishedTurn(): boolean {
    return this.turns.hasUnfinishedTurn;
  }

  get isWaitingWithinTurn(): boolean {
    return this.turns.isWaitingWithinTurn;
  }

  get hasReaders(): boolean {
    return this.#readerCount > 0 || this.#requestCount > 0;
  }

  /** True if another node may continue the task, so that its readers must follow the log in the store. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /** True if other nodes can continue the task. */
  get isSharedWithNodes(): boolean {
    return this.#context.isShared;
  }

  /** True if the runner is idle, and its task waits for a message. */
  get canRest(): boolean {
    const { state, hasPendingEvents, hasCommitFailed } = this.liveTask;
    const isUsed = this.#requestCount > 0 || (this.#readerCount > 0 && !this.#hasMoved);
    const isIdle = !this.turns.hasUnfinishedTurn && !isUsed && !hasPendingEvents && !hasCommitFailed;
    return isIdle && !this.turns.isAwaitingRecovery && state !== undefined && isInterrupted(state);
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
    this.turns.current = turn;
  }

  /** Discards a runner whose task was never created. */
  discardWithoutTask(): void {
    this.turns.current = undefined;
    this.#context.onIdle(this);
  }

  /**
   * Starts a turn, or queues the turn if another turn is running. `output` is the output of an agent that
   * started before its task existed.
   */
  startOrQueueTurn(turn: Turn, output?: StartedAgentIterator): void {
    const { current, queue } = this.turns;
    if ((current && current !== turn) || queue.length > 0) void this.queueTurn(turn).catch(() => {});
    else this.#startTurn(turn, output);
  }

  /** Queues a turn. Resolves when the queued turn is durable. Rejects if the turn cannot be stored. */
  queueTurn(turn: Turn): Promise<void> {
    return this.liveTask.enqueueQueuedTurn(this.turns.queue.add(turn));
  }

  /** Starts a turn. `queuePosition` is the position of a turn that has waited in the queue. */
  #startTurn(turn: Turn, output?: StartedAgentIterator, queuePosition?: number): void {
    try {
      this.#enqueueAndExecuteTurn(turn, output, queuePosition);
    } catch (error) {
      // Otherwise, the store would receive the message of a turn that no agent processes.
      turn.endWithError(error);
      this.liveTask.onCommitFailed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #enqueueAndExecuteTurn(
    turn: Turn,
    output: StartedAgentIterator | undefined,
    queuePosition: number | undefined,
  ): void {
    const { liveTask } = this;
    // A request can have found the runner just before a commit failed.
    if (liveTask.failure) return turn.endWithError(liveTask.failure);
    const startPoint = enqueueTurnStart(turn, liveTask, queuePosition, this.turns.agent);
    if (!startPoint) {
      turn.endWithError(createTaskEndedError(liveTask.taskId, liveTask.state));
      this.startNextTurnOrIdle();
      return;
    }
    this.turns.current = turn;
    this.#context.onTurnStart?.(this);
    this.executor.countAndTraceTurn(turn);
    const isPersisted = this.executor.isPersisted(turn);
    const restartData = isPersisted ? toTurnRestartData(turn, startPoint.seq) : undefined;
    liveTask.storedTurn.persist(restartData, restartData && turn.findSteps());
    const { task } = startPoint;
    // Requests must no longer see the task waiting for the input that it has just received.
    if (isInterrupted(task.status.state))
      turn.startPoint = { ...startPoint, workingEvent: this.#output.writeStatus("TASK_STATE_WORKING") };
    this.executor.executeAgent(turn, task, output);
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
    const task = restoreTurnStart(turn, this.liveTask, seq, initialTask, mode);
    this.turns.current = turn;
    this.#context.onTurnStart?.(this);
    await this.executor.executeNextAttempt(turn, seq, task, wakeAt);
  }

  /**
   * Signals the running agent to stop. If the agent does not stop within the grace period, the runner
   * ignores the agent's later output (E8).
   */
  cancel(reason: string, caller: Caller, metadata: JsonObject): void {
    const turn = this.turns.current;
    if (!turn || turn.hasEnded) {
      const task = this.liveTask.getSnapshot();
      this.#output.writeStatus("TASK_STATE_CANCELED");
      void this.executor.notifyAgentOfTaskCancellation(task, caller, metadata);
    } else if (!turn.cancelMetadata) {
      turn.cancelMetadata = metadata;
      this.executor.stopAgent(turn, reason, this.#context.cancelGraceMs);
    }
  }

  /** Stops the running agent, so that the next turn can begin. The task becomes INPUT_REQUIRED. */
  interruptTurn(): void {
    const turn = this.turns.current;
    if (!turn || turn.hasEnded || turn.isInterrupted) return;
    turn.isInterrupted = true;
    this.executor.stopAgent(turn, "A message interrupted the agent.", this.#context.cancelGraceMs);
  }

  /**
   * Offers a message to the running agent and returns true if the agent accepts the message. If the agent
   * accepts the message, `durableSeq` resolves with the sequence number of the message.
   */
  offerMessageToAgent(message: Message, caller: Caller, durableSeq: Deferred<number>): boolean {
    const { liveTask } = this;
    if (!this.turns.agent.deliver?.(message, liveTask.getSnapshot(), caller)) return false;
    const { messageId } = message;
    const refusal = liveTask.validateAndEnqueueMessageEvent({ message }, { messageId, durableSeq });
    if (refusal) throw createTaskEndedError(liveTask.taskId, liveTask.state);
    return true;
  }

  /**
   * Stops the agent when the server closes. The task fails with `reason`, unless the agent ends the task
   * first or can continue the turn after a restart. Resolves once the final state of the task is committed.
   * Rejects if the task waits for a restart of the server.
   */
  async stopAgent(reason: string, graceMs: number): Promise<void> {
    this.turns.stopStartingTurns();
    this.liveTask.notifyTurnChange();
    const turn = this.turns.current;
    if (!turn) return;
    if (!turn.hasEnded) {
      turn.stopReason = reason;
      this.executor.stopAgent(turn, reason, graceMs);
      await new Promise<void>((resolve) => turn.onEnd(resolve));
    }
    if (this.turns.current === turn) await turn.stoppedTask.promise;
  }

  /**
   * Stops the agent if another node can continue its turn, and otherwise waits until the turn ends. Resolves once the
   * turn is handed over or has ended.
   */
  async handOverOrFinishTurn(): Promise<void> {
    const { store, cancelGraceMs } = this.#context;
    if (hasPersistedTurns(this.turns.agent) && store.isDurable && this.liveTask.state !== undefined)
      await this.stopAgent("The server hands its running turns over to other servers.", cancelGraceMs);
    else await this.turns.waitForTurnEnd();
  }

  /** Fails a task whose turn has no running agent. */
  failOrphanedTask(reason: string): void {
    this.#output.writeStatus("TASK_STATE_FAILED", reason);
  }

  /** Ends a turn. The turn remains the current turn until its last events are committed. */
  onTurnEnd(turn: Turn): void {
    if (turn.hasEnded) return;
    if (this.liveTask.state === undefined) {
      // The agent did not stop before its task existed.
      this.discardWithoutTask();
      turn.endWithError(createServerClosingError());
      return;
    }
    turn.end();
    this.liveTask.commitTurnEnd();
    this.startNextTurnOrIdle();
  }

  /**
   * Completes an ended turn once all events are committed, and starts the next queued turn. A runner
   * without turns and readers becomes idle.
   */
  startNextTurnOrIdle(): void {
    const { liveTask, turns } = this;
    if (liveTask.hasPendingEvents) return;
    if (turns.current?.hasEnded) {
      this.#completeTurn(turns.current);
      turns.current = undefined;
      liveTask.notifyTurnChange();
    }
    if (turns.current) return;
    const next = turns.takeNext();
    if (next) this.#startTurn(next.turn, undefined, next.position);
    else if (this.#requestCount === 0 && (this.#readerCount === 0 || this.#moveReaders()))
      this.#context.onIdle(this);
  }

  /** Settles the sender of an ended turn's message, or releases a turn that continues after a restart or elsewhere. */
  #completeTurn(turn: Turn): void {
    const { liveTask, turns } = this;
    turns.isLeftForRestart = turns.canContinueAfterRestart(turn);
    if (!turns.isLeftForRestart) {
      turn.stoppedTask.resolve(liveTask.getSnapshot());
      return;
    }
    // The readers and the sender of the message continue with the log of the store, if another node continues.
    this.#hasMoved = this.#context.followHandedOverTurn?.(this, turn) ?? false;
    // Reject requests that wait for a turn that continues after a restart, so that clients retry then.
    if (!this.#hasMoved) turn.stoppedTask.reject(createServerClosingError());
    this.#context.releaseLease(liveTask.lease, createHandoverAppend(liveTask, turn.wakeAt));
  }

  /** Makes the readers of a task without a running turn follow the log, if another node can begin its next turn. */
  #moveReaders(): boolean {
    const { state } = this.liveTask;
    const canMove = this.isSharedWithNodes && !this.turns.isLeftForRestart;
    if (!canMove || !state || isTerminal(state)) return false;
    this.#hasMoved = true;
    this.liveTask.notifyTurnChange();
    return true;
  }

  onTurnStop(): void {
    this.turns.current?.stoppedTask.resolve(this.liveTask.getSnapshot());
  }

  onAllCommitted(): void {
    this.startNextTurnOrIdle();
  }

  /** Ends all turns of the runner because the store could not commit. */
  onCommitFailed(error: A2AError, mayHoldLease: boolean): void {
    // Another node can continue the task, so its readers follow the log.
    this.#hasMoved = this.isSharedWithNodes;
    const { current: turn, queue } = this.turns;
    this.turns.current = undefined;
    turn?.abort(error.message);
    turn?.endWithError(error);
    queue.clear(error);
    this.#context.onIdle(this);
    if (mayHoldLease) void this.executor.releaseLeaseAfterAgentEnd();
  }

  onLateCommitResult(): void {
    void this.executor.releaseLeaseAfterAgentEnd();
  }
}
