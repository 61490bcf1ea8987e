import {
  A2AError,
  type EventRefusal,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type SendMessageRequest,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../base/data-structures/index.ts";
import type { Agent, AgentEvent, Run } from "./agent.ts";
import type { Caller, ServiceParameters, TaskScope } from "./caller.ts";
import type { Clock } from "./clock.ts";
import type { Committer } from "./committer.ts";
import { guardAbortListeners, releaseAbortListeners } from "./guard-abort-listeners.ts";
import { generateErrorId, type IdGenerator } from "./id-generator.ts";
import type { EarlierRun, Observer, RunSpan, RunTracing, TracedTask } from "./observer.ts";
import { hasPersistedTurns, type ReplaceableAgent } from "./replaceable-agent.ts";
import type { FinishedStep, TaskStore } from "./task-store.ts";
import { sleepUntil, TurnSteps } from "./turn-steps.ts";
import type { TurnTimer, TurnWatch } from "./turn-limits.ts";
import { toTaskEventFromAgent } from "./to-task-event.ts";
import {
  excuseAttempt,
  countAsGroupOfTwo,
  toTurnRestartData,
  type TurnRestartData,
  type RestartedTurnArtifactRewriter,
} from "./turn-restart-data.ts";

/**
 * Time in milliseconds after which a suspended attempt ends. Meanwhile, the node receives the requests that have started
 * the attempt.
 */
const SUSPENDED_ATTEMPT_MS = 1000;

/**
 * Output of a running agent. If the agent started before its task existed, `firstResult` is the agent's
 * first result.
 */
export interface StartedAgentIterator {
  readonly iterator: AsyncIterator<AgentEvent>;
  readonly firstResult?: IteratorResult<AgentEvent>;
}

/** The task at the start of a turn, and the sequence number of the turn's message. */
export interface TurnStartPoint {
  readonly task: Task;
  readonly seq: number;
  /**
   * Event that directly follows the message and moves an interrupted task to WORKING. If the task was not
   * interrupted, `workingEvent` is `undefined`.
   */
  readonly workingEvent?: TaskEvent | undefined;
}

/** The message of a turn, and its sender. */
export interface TurnRequest {
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
}

/** The members of the persisted data that count the attempts at a turn, including the current attempt. */
export type TurnAttempt = Partial<
  Pick<TurnRestartData, "attempt" | "excusedAttempts" | "groupSize" | "outlivedRuns">
>;

const FIRST_ATTEMPT: TurnAttempt = {};

/** Dependencies that the turns of all tasks of an engine share. */
export interface TurnDependencies {
  readonly agent: ReplaceableAgent;
  readonly store: TaskStore;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly generateId: IdGenerator;
  /** Continues the traces of requests in the runs of agents. */
  readonly runTracing?: RunTracing | undefined;
  /** Time limit in milliseconds for a canceled agent to stop. */
  readonly cancelGraceMs: number;
  readonly turnWatch: TurnWatch;
  /** True if other nodes can open the store, and continue the tasks. */
  readonly isShared: boolean;
  readonly otherNodes: { readonly areAlive: boolean };
  /** Called before an agent starts. */
  readonly onRunStart: () => void;
  /** Creates the run that the agent of a turn receives. `startTask` is the task at the start of the turn. */
  readonly createRun: (turn: Turn, startTask: Task) => Run;
}

/** The active task to which a turn writes. */
export interface TaskOfTurn {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  /** State that the task will have when all pending events are committed. */
  readonly state: TaskState | undefined;
  /** Number of turns that wait for the end of the turn. */
  readonly queuedTurnCount: number;
  getNextStatusTimestamp(): string;
  /** Writes an event of the agent. Throws an error if the task is too large, or returns why it refuses the event. */
  writeAgentEvent(event: TaskEvent): EventRefusal | undefined;
  writeStatus(state: TaskState, text?: string): TaskEvent;
  /** Returns `undefined` while the agent can continue, or a promise that resolves when the agent can continue. */
  waitForCapacity(): Promise<void> | undefined;
  /** Resolves once all accepted changes are committed. */
  waitUntilNothingIsPending(): Promise<void>;
  /** Commits the finished steps of the current turn. */
  commitSteps(): Promise<void>;
  /** Persists the turn in a separate commit, because its start has no event. */
  commitTurnStart(turn: TurnRestartData): void;
  /** Persists the turn in the next commit. */
  persistTurn(turn: TurnRestartData | undefined): void;
  reportError(error: unknown, errorId?: string): void;
  /** Called when the agent of the turn has ended, or when its further output is ignored. */
  onTurnEnd(turn: Turn): void;
  onCommitFailed(error: Error): void;
}

/**
 * The processing of one message to a task, including everything that the agent does in response. The turn starts the
 * agent, and writes the agent's events into the task.
 */
export class Turn {
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
  /** The caller's message, with the ids of its task and context. */
  readonly message: Message;
  /** Resolves with the sequence number of the message once the message is durable. */
  readonly durableSeq: Deferred<number> = new Deferred();
  /** Resolves with the task once a committed status ends or interrupts the turn. */
  readonly stoppedTask: Deferred<Task> = new Deferred();
  startPoint: TurnStartPoint | undefined;
  /** Metadata of the CancelTask request, if a client has canceled the task. */
  cancelMetadata: JsonObject | undefined;
  /** Text of the status CANCELED, if the server has canceled the task. */
  cancelText: string | undefined;
  /** True if a message with the steering signal `interrupt` stops the agent. */
  isInterrupted = false;
  /** Reason for stopping the agent, if the server stopped the agent. */
  stopReason: string | undefined;
  /** Reason for stopping an agent that has exceeded a time limit of the turn (E24). */
  limitReason: string | undefined;
  /** Continues without the first event of an agent that runs before its task exists, and has not stopped in time. */
  abandonFirstEvent: (() => void) | undefined;
  /** Ends the count of the turn as a running agent. Safe to repeat. */
  endAdmission: () => void = () => {};
  /** Time in milliseconds since 1970 until which the turn waits and needs no process, or `undefined`. */
  wakeAt: number | undefined;
  /** Rewrites artifact events if an earlier attempt at the turn may have left partial artifacts. */
  artifactRestart: RestartedTurnArtifactRewriter | undefined;
  /** Number of attempts at the turn, including the current attempt. */
  readonly attempt: number;
  /** Number of earlier attempts that do not count as failed. */
  readonly excusedAttempts: number;
  /** Number of suspect turns that started together with this attempt, or `undefined` if the turn is not suspect. */
  groupSize: number | undefined;
  outlivedRuns: number;
  /** The span of the agent's run. Undefined if runs are not traced, and while the turn waits in a queue. */
  span: RunSpan | undefined;
  /** Time in milliseconds since 1970 at which the span of a persisted turn began. */
  spanStartedAt: number | undefined;
  /** The traced attempt before this attempt. */
  earlierRun: EarlierRun | undefined;
  readonly #context: TurnDependencies;
  #task: TaskOfTurn | undefined;
  #isCounted = false;
  /** The agent of the turn since the start of the turn, even if the engine replaces its agent. */
  #agent: Agent | undefined;
  /** Measures the turn while its agent works. */
  #timer: TurnTimer | undefined;
  #isWaitingForUser = false;
  /** Last task state that the agent set in this turn. */
  #lastState: TaskState | undefined;
  /** The error that the agent threw. */
  #agentError: unknown;
  /** True if the agent's further output is ignored. */
  #isFenced = false;
  #hasEnded = false;
  #agentEnd: Promise<void> | undefined;
  /** Created for the first step, because most turns have no steps. */
  #steps: TurnSteps | undefined;
  /**
   * The abort controller is created on first use, because its creation costs more than the rest of a short
   * turn.
   */
  #abortController: AbortController | undefined;
  #endCallbacks: (() => void)[] | undefined;

  constructor(
    context: TurnDependencies,
    { request, caller, serviceParameters }: TurnRequest,
    message: Message,
    { attempt = 1, excusedAttempts = 0, groupSize, outlivedRuns = 0 }: TurnAttempt = FIRST_ATTEMPT,
  ) {
    this.#context = context;
    this.request = request;
    this.message = message;
    this.caller = caller;
    this.serviceParameters = serviceParameters;
    this.attempt = attempt;
    this.excusedAttempts = excusedAttempts;
    this.groupSize = groupSize;
    this.outlivedRuns = outlivedRuns;
  }

  /** The task that the turn writes. The task sets itself when it becomes the task of the turn. */
  get task(): TaskOfTurn {
    if (!this.#task) throw new Error("The turn has no task yet.");
    return this.#task;
  }

  set task(task: TaskOfTurn) {
    this.#task = task;
  }

  /** True if the agent has finished or its output is ignored. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Settles when the agent has ended, which can be later than the turn. Undefined before the agent starts. */
  get agentEnd(): Promise<void> | undefined {
    return this.#agentEnd;
  }

  /** False while the turn waits in a queue. */
  get hasBegun(): boolean {
    return this.startPoint !== undefined;
  }

  /** The agent of the turn, which is the current agent of the engine at the first call. */
  get agent(): Agent {
    return (this.#agent ??= this.#context.agent.current);
  }

  /** True if the store persists the turn, so that a later process can continue the turn. */
  get isPersisted(): boolean {
    return hasPersistedTurns(this.agent);
  }

  /** True if the server stopped the agent and a later server process will start the turn again. */
  get canContinueAfterRestart(): boolean {
    const { stopReason, cancelMetadata, limitReason } = this;
    const isStoppedForRestart = stopReason !== undefined && !cancelMetadata && !limitReason;
    return isStoppedForRestart && this.isPersisted && !!this.#context.store.isDurable;
  }

  /** Signal that aborts with the turn. */
  get signal(): AbortSignal {
    if (!this.#abortController) {
      this.#abortController = new AbortController();
      guardAbortListeners(this.#abortController.signal, (error) => this.#task?.reportError(error));
    }
    return this.#abortController.signal;
  }

  /** Sequence number of the turn's message. A turn without a start point creates its task. */
  get seq(): number {
    return this.startPoint?.seq ?? 1;
  }

  get isAborted(): boolean {
    return this.#abortController?.signal.aborted ?? false;
  }

  /** A signal without readers needs no guard, because it calls no listener after it has aborted. */
  abort(reason: string): void {
    this.#abortController ??= new AbortController();
    const name = this.limitReason ? "TimeoutError" : "AbortError";
    this.#abortController.abort(new DOMException(reason, name));
  }

  get steps(): TurnSteps {
    return (this.#steps ??= new TurnSteps(this));
  }

  /** Commits the finished steps. Without a persisted turn, no later attempt needs the steps. */
  async commitSteps(): Promise<void> {
    this.noteProgress();
    if (this.isPersisted) await this.withoutTimer(() => this.task.commitSteps());
  }

  /** Returns the steps of the turn, or `undefined` if the turn has no steps yet. */
  findSteps(): TurnSteps | undefined {
    return this.#steps;
  }

  /** Restores the steps that earlier attempts at the turn have finished. */
  restoreSteps(stored: readonly FinishedStep[]): void {
    if (stored.length > 0) this.#steps = new TurnSteps(this, stored);
  }

  /** Returns the data with which a later process continues the turn. */
  toRestartData(): TurnRestartData {
    return toTurnRestartData(this);
  }

  /** Counts and traces the turn as a working agent until the turn ends. */
  begin(): void {
    this.#startSpan();
    if (this.#hasEnded) return;
    this.#isCounted = true;
    this.#context.committer.incrementWorkingAgents();
  }

  /**
   * Starts the span of the turn, which ends with the turn. A turn whose span cannot start continues without a span,
   * because traces must not affect tasks.
   */
  #startSpan(): void {
    const { runTracing, clock, observer } = this.#context;
    if (!runTracing || this.span || this.#hasEnded) return;
    try {
      this.span = runTracing.startRun(this, this.task);
      if (this.isPersisted) this.spanStartedAt = clock.now();
    } catch (error) {
      observer.onError?.({ where: "telemetry", error, taskId: this.task.taskId });
    }
  }

  #endSpan(): void {
    try {
      this.span?.end({ state: this.#task?.state, error: this.#agentError });
    } catch (error) {
      const { taskId } = this.message;
      this.#context.observer.onError?.({ where: "telemetry", error, ...(taskId && { taskId }) });
    }
  }

  /** Returns a function that reports the calls of the agent, or `undefined` if nothing observes the calls. */
  findCallReporter({ scope, taskId }: TracedTask): Run["reportCall"] {
    const { observer } = this.#context;
    return observer.onAgentCall && ((call) => observer.onAgentCall?.({ scope, taskId, call }));
  }

  /** Returns a function that reports mistakes of the agent, or `undefined` if nothing observes warnings. */
  findWarningReporter(): Run["reportWarning"] {
    const { observer } = this.#context;
    const { taskId } = this.task;
    return observer.onWarning && ((message) => observer.onWarning?.({ where: "agent", message, taskId }));
  }

  /** Starts the agent in the span of the turn. `startTask` is the task at the start of the turn. */
  startAgent(startTask: Task): StartedAgentIterator {
    this.#startSpan();
    return this.runInSpan(() => this.#startAgent(startTask));
  }

  #startAgent(startTask: Task): StartedAgentIterator {
    this.#timer = this.#context.turnWatch.start(this.agent, (reason) => this.#stopAtLimit(reason));
    const output = this.agent.execute(this.#context.createRun(this, startTask));
    const events = this.serviceParameters.needsTask ? withRepliesAsCompletedStatus(output) : output;
    return { iterator: events[Symbol.asyncIterator]() };
  }

  /** Runs a part of the agent's work in the span of the turn. */
  runInSpan<T>(work: () => T): T {
    return this.span ? this.span.run(work) : work();
  }

  /**
   * Runs the agent until it ends. `startTask` is the task at the start of the turn. `output` is the output of an agent
   * that has already started.
   */
  run(startTask: Task, output?: StartedAgentIterator): void {
    this.#agentEnd = this.#run(startTask, output);
  }

  /** Never rejects. If the end of the turn cannot be written, recovery settles the task. */
  async #run(startTask: Task, output: StartedAgentIterator | undefined): Promise<void> {
    const { task } = this;
    const { agent, otherNodes } = this.#context;
    try {
      // An agent with output has already entered its context.
      const predecessorEnd = output ? undefined : agent.contextTurns?.enterTurn(task.scope, this);
      // Another node can receive the same message, so the agent starts only with the lease of the task.
      const mustWaitForLease = otherNodes.areAlive && !output;
      if (mustWaitForLease) await this.durableSeq.promise.catch(() => {});
      if (predecessorEnd) await predecessorEnd;
      if (this.#hasEnded) return;
      this.#context.onRunStart();
      this.#reportRun("begin");
      try {
        // The turn can have been stopped while its start was stored, or while it waited for its context.
        if (!output) this.#abortController?.signal.throwIfAborted();
        await this.runInSpan(() => this.#writeOutput(output ?? this.#startAgent(startTask)));
        this.#writeFinalState();
      } catch (error) {
        // An agent that obeys an abort usually throws it on, which is no failure of the agent.
        const obeysAbort = this.isAborted && error instanceof Error && error.name === "AbortError";
        if (!obeysAbort || this.limitReason) this.#agentError = error;
        this.#writeFailure(error);
      }
      this.#reportRun("end");
      task.onTurnEnd(this);
    } catch (error) {
      task.onCommitFailed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #reportRun(phase: "begin" | "end"): void {
    const { observer } = this.#context;
    // The trace ids of a run are created on first use.
    if (!observer.onRun) return;
    const { scope, taskId, contextId, state } = this.task;
    const { attempt, span, serviceParameters } = this;
    const { parentTask } = serviceParameters;
    const run = { scope, taskId, contextId, attempt, traceparent: span?.traceparent, parentTask };
    const error = this.#agentError === undefined ? {} : { error: this.#agentError };
    observer.onRun(phase === "begin" ? { ...run, phase } : { ...run, phase, state, ...error });
  }

  /**
   * Writes the agent's events until the agent ends or its output is ignored. If the store cannot commit
   * events fast enough, the agent waits.
   */
  async #writeOutput({ iterator, firstResult }: StartedAgentIterator): Promise<void> {
    let ended = false;
    try {
      let step = firstResult ?? (await iterator.next());
      while (!step.done) {
        if (this.#isFenced) return;
        this.#writeEvent(step.value);
        const capacity = this.task.waitForCapacity();
        if (capacity) await this.withoutTimer(() => capacity);
        step = await iterator.next();
      }
      ended = true;
    } finally {
      // Close an iterator that is abandoned before its end. Only an aborted turn waits for it, because `cancelGraceMs`
      // limits the wait, and another node may continue the turn.
      const closing = ended ? undefined : this.closeIterator(iterator);
      if (this.isAborted) await closing;
    }
  }

  #writeEvent(yielded: AgentEvent): void {
    const { task } = this;
    const converted = toTaskEventFromAgent(task, yielded, this.#context.generateId);
    const event = this.artifactRestart?.rewriteArtifactEvent(converted) ?? converted;
    this.#timer?.noteProgress();
    if (this.#isRepeatedWorkingStatus(event)) return;
    const refusal = task.writeAgentEvent(event);
    if (refusal) {
      const text = `The agent yielded an event that the task cannot accept: ${refusal.refusalReason}.`;
      throw new A2AError("INVALID_AGENT_RESPONSE", text);
    }
    if (!("statusUpdate" in event)) return;
    this.#lastState = event.statusUpdate.status.state;
    // If a message waits for the end of the turn, the user has nothing to do.
    this.#setWaitingForUser(isInterrupted(this.#lastState) && task.queuedTurnCount === 0);
  }

  /** The time in which a task waits for its user does not count, also if its agent is still running. */
  #setWaitingForUser(isWaiting: boolean): void {
    if (isWaiting === this.#isWaitingForUser) return;
    this.#isWaitingForUser = isWaiting;
    if (isWaiting) this.#timer?.pause();
    else this.#timer?.resume();
  }

  /** Called when a message begins to wait for the end of the turn. */
  onMessageQueued(): void {
    this.#setWaitingForUser(false);
  }

  /** Returns true if the turn starts with a WORKING status although the task is already WORKING. */
  #isRepeatedWorkingStatus(event: TaskEvent): boolean {
    if (this.#lastState !== undefined || !("statusUpdate" in event)) return false;
    if (this.startPoint?.seq === 1 && this.attempt === 1) return false;
    const { status, metadata } = event.statusUpdate;
    return (
      status.state === "TASK_STATE_WORKING" &&
      this.task.state === status.state &&
      !status.message &&
      !metadata
    );
  }

  /** Closes the agent's iterator and reports errors to the observer. */
  async closeIterator(iterator: StartedAgentIterator["iterator"]): Promise<void> {
    try {
      await iterator.return?.();
    } catch (error) {
      this.task.reportError(error);
    }
  }

  /** Writes the final state of the task if the agent did not set a final state. */
  #writeFinalState(): void {
    const { task } = this;
    const { state } = task;
    if (this.#isFenced || !state || isTerminal(state)) return;
    if (this.cancelMetadata) task.writeStatus("TASK_STATE_CANCELED", this.cancelText);
    else if (this.limitReason) task.writeStatus("TASK_STATE_FAILED", this.limitReason);
    else if (this.stopReason) {
      // At INPUT_REQUIRED, the task waits for its user and needs no agent.
      if (!this.canContinueAfterRestart && state !== "TASK_STATE_INPUT_REQUIRED")
        task.writeStatus("TASK_STATE_FAILED", this.stopReason);
    } else if (!this.#lastState || !isInterrupted(this.#lastState))
      task.writeStatus(this.isInterrupted ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_COMPLETED");
  }

  #writeFailure(thrown: unknown): void {
    const { task } = this;
    const { state } = task;
    const isStopped = this.cancelMetadata || this.limitReason || this.stopReason || this.isInterrupted;
    if (isStopped) this.#writeFinalState();
    else if (this.#isFenced || !state || isTerminal(state)) task.reportError(thrown);
    else task.writeStatus("TASK_STATE_FAILED", this.#buildFailureText(thrown));
  }

  /**
   * Returns the failure message for the caller. The caller receives the message of an `A2AError`. The
   * message of any other error appears only in the server's log.
   */
  #buildFailureText(thrown: unknown): string {
    const errorId = generateErrorId(this.#context.generateId);
    this.task.reportError(thrown, errorId);
    return thrown instanceof A2AError
      ? thrown.message
      : `The agent failed. The server's log has the cause under error id ${errorId}.`;
  }

  /**
   * Runs the next attempt at a turn. `wakeAt` is the time of a suspended turn, in milliseconds since 1970. If only this process can open the store, the attempt begins at that time. Resolves once
   * the attempt has begun, or waits for its time.
   */
  async runNextAttempt(startTask: Task, wakeAt: number): Promise<void> {
    const { clock, isShared } = this.#context;
    if (wakeAt <= clock.now() || isShared) return await this.#beginNextAttempt(startTask);
    this.wakeAt = wakeAt;
    this.endAdmission();
    this.#agentEnd = this.#sleepAndRunNextAttempt(wakeAt, startTask);
  }

  /**
   * Starts the agent once the store has recorded the attempt. The number of attempts is therefore limited even if the
   * turn crashes the server process.
   */
  async #beginNextAttempt(startTask: Task): Promise<void> {
    const { task } = this;
    this.begin();
    const restartData = this.toRestartData();
    if (this.attempt === 1) task.commitTurnStart(restartData);
    else {
      task.writeStatus("TASK_STATE_WORKING");
      task.persistTurn(restartData);
    }
    await task.waitUntilNothingIsPending();
    if (!this.#hasEnded) this.run(startTask);
  }

  /**
   * Persists that other suspect turns start while this turn is running, which has started alone. The store already
   * excuses a turn that is suspended.
   */
  async persistCompany(): Promise<void> {
    if (this.groupSize !== 1 || this.#hasEnded || !this.startPoint || this.wakeAt !== undefined) return;
    Object.assign(this, countAsGroupOfTwo(this));
    this.task.persistTurn(this.toRestartData());
    await this.task.commitSteps();
  }

  async #sleepAndRunNextAttempt(wakeAt: number, startTask: Task): Promise<void> {
    try {
      await sleepUntil(wakeAt, this.#context.clock, this.signal);
    } catch (error) {
      this.#writeFailure(error);
      this.task.onTurnEnd(this);
      return;
    }
    this.wakeAt = undefined;
    // The task reports a commit that fails, and ends the turn.
    await this.#beginNextAttempt(startTask).catch(() => {});
  }

  /**
   * Suspends a persisted turn, whose agent waits until `wakeAt`, in milliseconds since 1970. If only this process can
   * open the store, the turn no longer counts as a running agent. If several nodes share the store, the attempt ends
   * after a second, so that any node can continue the turn. Returns a function that ends the suspension.
   */
  suspend(wakeAt: number): () => void {
    const { clock, store, isShared } = this.#context;
    const isShort = wakeAt - clock.now() <= SUSPENDED_ATTEMPT_MS;
    if (!this.isPersisted || !store.isDurable || !this.startPoint || isShort) return () => {};
    this.wakeAt = wakeAt;
    const cancelTimer = isShared
      ? clock.schedule(SUSPENDED_ATTEMPT_MS, () => this.#endSuspendedAttempt())
      : (): void => {};
    if (!isShared) {
      this.endAdmission();
      // The end of the process during the suspension does not count as a failed attempt.
      const suspended = { ...excuseAttempt(this.toRestartData()), wakeAt };
      this.task.commitTurnStart(suspended);
    }
    return () => {
      cancelTimer();
      // The end of the attempt stores the time.
      if (!this.isAborted) this.wakeAt = undefined;
    };
  }

  /** Ends the attempt at a suspended turn, unless messages wait for the turn on this node. */
  #endSuspendedAttempt(): void {
    const { state, queuedTurnCount } = this.task;
    const isStopping = this.#hasEnded || this.isAborted;
    if (isStopping || queuedTurnCount > 0 || !state || state === "TASK_STATE_INPUT_REQUIRED") return;
    this.stopReason = "The turn is suspended.";
    this.stop(this.stopReason, this.#context.cancelGraceMs);
  }

  /**
   * Signals the agent to stop. If the agent does not stop within `graceMs`, the turn ends, and the agent's later output
   * is ignored (E8).
   */
  stop(reason: string, graceMs: number): void {
    const { task } = this;
    this.abort(reason);
    const cancelTimer = this.#context.clock.schedule(graceMs, () => {
      if (this.limitReason && task.state === undefined) return this.abandonFirstEvent?.();
      this.#writeFinalState();
      this.#isFenced = true;
      task.onTurnEnd(this);
    });
    this.onEnd(cancelTimer);
  }

  /** Stops an agent that has exceeded a time limit. */
  #stopAtLimit(reason: string): void {
    if (this.#hasEnded || this.isAborted) return;
    this.limitReason = reason;
    this.#context.observer.onWarning?.({ where: "agent", message: reason, taskId: this.task.taskId });
    this.stop(reason, this.#context.cancelGraceMs);
  }

  /** Shows that the agent is working (E24). */
  noteProgress(): void {
    this.#timer?.noteProgress();
  }

  /** Resolves like `wait`, whose time does not count as time of the agent. */
  async withoutTimer<T>(wait: () => Promise<T>): Promise<T> {
    this.#timer?.pause();
    try {
      return await wait();
    } finally {
      this.#timer?.resume();
    }
  }

  /** Calls `callback` when the turn ends. */
  onEnd(callback: () => void): void {
    if (this.#hasEnded) callback();
    else (this.#endCallbacks ??= []).push(callback);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#timer?.stop();
    this.endAdmission();
    if (this.#isCounted) this.#context.committer.decrementWorkingAgents();
    this.#endSpan();
    if (this.#abortController) releaseAbortListeners(this.#abortController.signal);
    if (this.#endCallbacks) for (const callback of this.#endCallbacks.splice(0)) callback();
  }

  /** Ends a turn that cannot start or whose events cannot be stored. */
  endWithError(error: unknown): void {
    this.#isFenced = true;
    this.durableSeq.reject(error);
    this.stoppedTask.reject(error);
    this.end();
  }
}

/** Converts a reply without a task to the message that completes the task. */
async function* withRepliesAsCompletedStatus(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  for await (const event of events) {
    const isReply = typeof event === "object" && event !== null && "message" in event;
    yield isReply ? { status: { state: "TASK_STATE_COMPLETED", message: event.message } } : event;
  }
}
