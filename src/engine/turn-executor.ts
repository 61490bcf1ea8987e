import type { JsonObject, Task } from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import type { Agent } from "./agent.ts";
import type { AgentOutputWriter } from "./agent-output-writer.ts";
import type { Caller } from "./caller.ts";
import type { LiveTask } from "./live-task.ts";
import { hasPersistedTurns } from "./replaceable-agent.ts";
import { sleepUntil } from "./steps/sleep-until.ts";
import { suspendTurn } from "./suspend-turn.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TaskTurns } from "./task-turns.ts";
import { toTurnRestartData } from "./turn-restart-data.ts";
import { createCallReporter, startTurnSpan } from "./turn-span.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

interface TurnEndListener {
  /** Called when the agent of a turn has ended, or when its further output is ignored. */
  onTurnEnd(turn: Turn): void;
}

/** Executes the agent of the current turn, and stops the agent. */
export class TurnExecutor {
  readonly #context: TurnDependencies;
  readonly #liveTask: LiveTask;
  readonly #turns: TaskTurns;
  readonly #output: AgentOutputWriter;
  readonly #listener: TurnEndListener;
  #agentEnd: Promise<void> = Promise.resolve();

  constructor(
    context: TurnDependencies,
    liveTask: LiveTask,
    turns: TaskTurns,
    output: AgentOutputWriter,
    listener: TurnEndListener,
  ) {
    this.#context = context;
    this.#liveTask = liveTask;
    this.#turns = turns;
    this.#output = output;
    this.#listener = listener;
  }

  /** Counts and traces the turn as a working agent until the turn ends. */
  countAndTraceTurn(turn: Turn): void {
    const { committer } = this.#context;
    committer.incrementWorkingAgents();
    turn.onEnd(() => committer.decrementWorkingAgents());
    startTurnSpan(turn, this.#liveTask, this.#context);
  }

  /** Executes the agent until it ends. `output` is the output of an agent that has already started. */
  executeAgent(turn: Turn, task: Task, output?: StartedAgentIterator): void {
    this.#agentEnd = this.#executeUntilEnd(turn, task, output).catch((error: unknown) =>
      // The end of the turn could not be written. Recovery settles the task.
      this.#liveTask.onCommitFailed(error instanceof Error ? error : new Error(String(error))),
    );
  }

  async #executeUntilEnd(turn: Turn, task: Task, output?: StartedAgentIterator): Promise<void> {
    const { contextTurns } = this.#context.agent;
    const { scope } = this.#liveTask;
    // An agent with output has already entered its context.
    const predecessorEnd = output ? undefined : contextTurns?.enterTurn(scope, turn);
    // Another node can receive the same message, so the agent starts only with the lease of the task.
    const mustWaitForLease = this.#context.store.nodes?.hasOtherNodes === true && !output;
    if (mustWaitForLease) await turn.durableSeq.promise.catch(() => {});
    if (predecessorEnd) await predecessorEnd;
    if (turn.hasEnded) return;
    this.#context.onRunStart();
    this.#reportRun(turn, "begin");
    try {
      if (predecessorEnd || mustWaitForLease) turn.signal.throwIfAborted();
      await turn.runInSpan(() => this.#output.writeOutput(turn, output ?? this.#startAgent(turn, task)));
      this.#output.writeFinalState(turn);
    } catch (error) {
      turn.agentError = error;
      this.#output.writeFailure(turn, error);
    }
    this.#reportRun(turn, "end");
    this.#listener.onTurnEnd(turn);
  }

  #reportRun({ attempt, span, serviceParameters, agentError }: Turn, phase: "begin" | "end"): void {
    const { observer } = this.#context;
    // The trace ids of a run are created on first use.
    if (!observer.onRun) return;
    const { scope, taskId, contextId, state } = this.#liveTask;
    const { parentTask } = serviceParameters;
    const run = { scope, taskId, contextId, attempt, traceparent: span?.traceparent, parentTask };
    const error = agentError === undefined ? {} : { error: agentError };
    observer.onRun(phase === "begin" ? { ...run, phase } : { ...run, phase, state, ...error });
  }

  /** Starts the agent in the span of its turn. `task` is the task at the start of the turn. */
  startAgent(turn: Turn, task: Task): StartedAgentIterator {
    startTurnSpan(turn, this.#liveTask, this.#context);
    return turn.runInSpan(() => this.#startAgent(turn, task));
  }

  #startAgent(turn: Turn, task: Task): StartedAgentIterator {
    const { clock, observer } = this.#context;
    // Without a persisted turn, no later attempt needs the steps.
    const commitSteps = (): Promise<void> =>
      this.isPersisted(turn) ? this.#liveTask.commitSteps(turn.steps) : Promise.resolve();
    const suspend = (wakeAt: number): (() => void) => this.#suspendTurn(turn, wakeAt);
    const reportCall = createCallReporter(observer, this.#liveTask);
    const { taskId } = this.#liveTask;
    const reportWarning =
      observer.onWarning &&
      ((message: string): void => observer.onWarning?.({ where: "agent", message, taskId }));
    const reportError = (error: unknown): void => this.#output.reportError(error);
    const host = { clock, commitSteps, suspendTurn: suspend, reportCall, reportError, reportWarning };
    return turn.startAgent(this.#assignAgent(turn), task, host);
  }

  /**
   * Executes the next attempt at a turn that began at the sequence number `seq`. `wakeAt` is the time of a suspended turn,
   * in milliseconds since 1970. If only this process can open the store, the attempt begins at that time.
   */
  executeNextAttempt(turn: Turn, seq: number, task: Task, wakeAt: number): Promise<void> {
    const { clock, isShared } = this.#context;
    if (wakeAt <= clock.now() || isShared) return this.#startNextAttempt(turn, seq, task);
    turn.wakeAt = wakeAt;
    turn.endAdmission();
    this.#agentEnd = this.#sleepAndStartNextAttempt(wakeAt, turn, seq, task);
    return Promise.resolve();
  }

  /**
   * Starts the agent once the store has recorded the attempt. The number of attempts is therefore limited even if the
   * turn crashes the server process.
   */
  async #startNextAttempt(turn: Turn, seq: number, task: Task): Promise<void> {
    const liveTask = this.#liveTask;
    this.countAndTraceTurn(turn);
    const restartData = toTurnRestartData(turn, seq);
    if (turn.attempt === 1) liveTask.commitTurnStart(restartData, turn.findSteps());
    else {
      this.#output.writeStatus("TASK_STATE_WORKING");
      liveTask.storedTurn.persist(restartData, turn.findSteps());
    }
    await liveTask.waitForCommit();
    if (!turn.hasEnded) this.executeAgent(turn, task);
  }

  async #sleepAndStartNextAttempt(wakeAt: number, turn: Turn, seq: number, task: Task): Promise<void> {
    try {
      await sleepUntil(wakeAt, this.#context.clock, turn.signal);
    } catch (error) {
      this.#output.writeFailure(turn, error);
      this.#listener.onTurnEnd(turn);
      return;
    }
    turn.wakeAt = undefined;
    // The live task reports a commit that fails, and ends the turn.
    await this.#startNextAttempt(turn, seq, task).catch(() => {});
  }

  #suspendTurn(turn: Turn, wakeAt: number): () => void {
    if (!this.isPersisted(turn) || !this.#context.store.isDurable) return () => {};
    return suspendTurn(turn, wakeAt, this.#liveTask, this.#context, () => this.#endSuspendedAttempt(turn));
  }

  /** Ends the attempt at a suspended turn, unless messages wait for the turn on this node. */
  #endSuspendedAttempt(turn: Turn): void {
    const { state } = this.#liveTask;
    const isStopping = turn.hasEnded || turn.isAborted;
    const hasQueue = this.#turns.queue.length > 0;
    if (isStopping || hasQueue || !state || state === "TASK_STATE_INPUT_REQUIRED") return;
    turn.stopReason = "The turn is suspended.";
    this.stopAgent(turn, turn.stopReason, this.#context.cancelGraceMs);
  }

  /**
   * Signals the agent of the turn to stop. If the agent does not stop within `graceMs`, the turn ends, and the agent's
   * later output is ignored (E8).
   */
  stopAgent(turn: Turn, reason: string, graceMs: number): void {
    turn.abort(reason);
    const cancelTimer = this.#context.clock.schedule(graceMs, () => {
      this.#output.writeFinalState(turn);
      turn.isFenced = true;
      this.#listener.onTurnEnd(turn);
    });
    turn.onEnd(cancelTimer);
  }

  /** Closes the agent's iterator and reports errors to the observer. */
  closeIterator(iterator: StartedAgentIterator["iterator"]): Promise<void> {
    return this.#output.closeIterator(iterator);
  }

  /** Informs the agent that its task was canceled while the agent was not running. */
  async notifyAgentOfTaskCancellation(task: Task, caller: Caller, metadata: JsonObject): Promise<void> {
    try {
      await this.#context.agent.current.onTaskCanceled?.(task, caller, metadata);
    } catch (error) {
      this.#output.reportError(error);
    }
  }

  /** Releases the lease once the agent has stopped, so that a recovered turn does not overlap with its agent. */
  async releaseLeaseAfterAgentEnd(): Promise<void> {
    const { clock, cancelGraceMs, releaseLease } = this.#context;
    const graceEnd = new Deferred();
    const cancelTimer = clock.schedule(cancelGraceMs, () => graceEnd.resolve());
    await Promise.race([this.#agentEnd, graceEnd.promise]);
    cancelTimer();
    releaseLease(this.#liveTask.lease);
  }

  /** Returns true if the store persists the turn, so that a later process can continue the turn. */
  isPersisted(turn: Turn): boolean {
    return hasPersistedTurns(this.#assignAgent(turn));
  }

  /** Returns the agent of a turn, which is the current agent at the first call. */
  #assignAgent(turn: Turn): Agent {
    return (turn.agent ??= this.#context.agent.current);
  }
}
