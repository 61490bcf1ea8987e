import {
  A2AError,
  fold,
  isInterrupted,
  isEventRefusal,
  isTerminal,
  copyTask,
  formatTaskState,
  type JsonObject,
  type Message,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import type { Deferred } from "../data-structures/index.ts";
import { toTaskMessage, toStatusUpdate, toTaskEvent } from "./to-task-event.ts";
import type { Agent } from "./agent.ts";
import { ArtifactRestart } from "./artifact-restart.ts";
import type { Caller, TaskScope } from "./caller.ts";
import { toPersistedTurn } from "./persisted-turn.ts";
import type { IdGenerator } from "./id-generator.ts";
import { LiveTask, type LiveTaskListener, type LiveTaskContext } from "./live-task.ts";
import { getWebhookRegistration } from "./push/push-config-operations.ts";
import type { AgentOutput, Turn } from "./turn.ts";

/** What all runners of an engine share. */
export interface RunnerContext extends LiveTaskContext {
  readonly agent: Agent;
  readonly generateId: IdGenerator;
  /** How long an agent may take to stop, in milliseconds. */
  readonly cancelGraceMs: number;
  /** The runner has neither work nor readers left. */
  readonly onIdle: (runner: Runner) => void;
}

/**
 * Brings a task forward: one turn at a time (E11) it has the agent work and writes what it says, and what it leaves
 * unsaid, into the live task. Nothing here waits for a reader (E2).
 */
export class Runner implements LiveTaskListener {
  readonly liveTask: LiveTask;
  readonly #context: RunnerContext;
  readonly #queue: Turn[] = [];
  #currentTurn: Turn | undefined;
  #readerCount = 0;

  constructor(
    context: RunnerContext,
    ids: { scope: TaskScope; taskId: string; contextId: string },
    stored?: { task: Task; seq: number },
  ) {
    this.#context = context;
    this.liveTask = new LiveTask(context, this, ids, stored);
  }

  /** The turn that is at work, or whose last events are being committed. */
  get currentTurn(): Turn | undefined {
    return this.#currentTurn;
  }

  get hasReaders(): boolean {
    return this.#readerCount > 0;
  }

  /** How many turns wait behind it. */
  get queuedCount(): number {
    return this.#queue.length;
  }

  /** Keeps this runner alive for a reader, or for somebody who has found it, until that one lets go. */
  retain(): this {
    this.#readerCount++;
    return this;
  }

  release(): void {
    this.#readerCount--;
    this.startNextOrIdle();
  }

  /** Has the turn's agent heard before there is a task; `startOrQueueTurn` or `discard` follows. */
  reserveForTurn(turn: Turn): void {
    this.#currentTurn = turn;
  }

  /** There is no task after all. */
  discard(): void {
    this.#currentTurn = undefined;
    this.#context.onIdle(this);
  }

  /** Begins a turn, or queues it behind the running one. `speech`: its agent, when that speaks already. */
  startOrQueueTurn(turn: Turn, speech?: AgentOutput): void {
    if (this.#currentTurn && this.#currentTurn !== turn) {
      this.#queue.push(turn);
      return;
    }
    const { liveTask: live } = this;
    const found = this.buildTurnTask(turn.message);
    turn.startPoint = { task: found, seq: live.seq + 1 };
    const event: TaskEvent = live.state === undefined ? { task: found } : { message: turn.message };
    const { message, acceptedSeq: accepted, request, serviceParameters: service } = turn;
    const webhook = getWebhookRegistration(request, live.taskId, service);
    const refusal = live.acceptMessage(event, message.messageId, accepted, webhook);
    if (refusal) {
      turn.fail(createTaskEndedError(live.taskId, live.state));
      this.startNextOrIdle();
      return;
    }
    this.#currentTurn = turn;
    this.#trackWorkingAgent(turn);
    if (this.#context.persistTurns) live.persistTurn(toPersistedTurn(turn, turn.startPoint.seq));
    // Who asks from now on must not be told that the task waits for what it has just been given.
    if (live.state && isInterrupted(live.state)) this.#writeState("TASK_STATE_WORKING");
    void this.#runTurn(turn, found, speech);
  }

  /**
   * Has the agent work again on a turn that an earlier process began with the message at `seq`. `startPoint`: the task as the
   * turn found it. Begins once the attempt is durable: a turn that kills its process does so only so often.
   */
  async restartTurn(turn: Turn, seq: number, found: Task, how: "restart" | "resume"): Promise<void> {
    const { liveTask: live } = this;
    const task = how === "restart" ? found : copyTask(live.getSnapshot());
    turn.startPoint = { task: copyTask(found), seq };
    if (how === "restart") turn.artifactRestart = new ArtifactRestart(turn.startPoint.task);
    turn.acceptedSeq.resolve(seq);
    this.#currentTurn = turn;
    this.#trackWorkingAgent(turn);
    this.#writeState("TASK_STATE_WORKING");
    live.persistTurn(toPersistedTurn(turn, seq));
    await live.waitForCommit();
    if (!turn.hasEnded) void this.#runTurn(turn, task);
  }

  #trackWorkingAgent(turn: Turn): void {
    const { committer } = this.#context;
    committer.incrementWorkingAgents();
    turn.onEnd(() => committer.decrementWorkingAgents());
  }

  /** Asks the agent to stop; one that does not within the grace period is fenced off (E8). */
  cancel(reason: string, caller: Caller, metadata: JsonObject): void {
    const turn = this.#currentTurn;
    if (!turn || turn.hasEnded) {
      const found = this.liveTask.getSnapshot();
      this.#writeState("TASK_STATE_CANCELED");
      void this.#notifyTaskCanceled(found, caller, metadata);
    } else if (!turn.cancelMetadata) {
      turn.cancelMetadata = metadata;
      turn.abort(reason);
      this.#scheduleFence(turn, this.#context.cancelGraceMs);
    }
  }

  /** Lets the agent take a message for the turn that is at work; `acceptedSeq` is told its seq. False: it does not. */
  offerMessage(message: Message, caller: Caller, accepted: Deferred<number>): boolean {
    const { liveTask: live } = this;
    if (!this.#context.agent.deliver?.(message, copyTask(live.getSnapshot()), caller)) return false;
    const refusal = live.acceptMessage({ message }, message.messageId, accepted);
    if (refusal) throw createTaskEndedError(live.taskId, live.state);
    return true;
  }

  async #notifyTaskCanceled(found: Task, caller: Caller, metadata: JsonObject): Promise<void> {
    try {
      await this.#context.agent.onTaskCanceled?.(found, caller, metadata);
    } catch (error) {
      this.#reportError(error);
    }
  }

  /**
   * Stops the agent because the server closes: the task fails with that reason unless the agent ends it otherwise, or can
   * go on with it after a restart. Resolves once all of that is committed; rejects when the task waits for the restart.
   */
  async stopAgent(reason: string, graceMs: number): Promise<void> {
    for (const queued of this.#queue.splice(0)) queued.fail(createServerClosingError());
    const turn = this.#currentTurn;
    if (!turn) return;
    if (!turn.hasEnded) {
      turn.stopReason = reason;
      turn.abort(reason);
      this.#scheduleFence(turn, graceMs);
      await new Promise<void>((resolve) => turn.onEnd(resolve));
    }
    if (this.#currentTurn === turn) await turn.stoppedTask.promise;
  }

  /** Records that nobody works on this task any more, though its state says so. */
  failOrphan(reason: string): void {
    this.#writeState("TASK_STATE_FAILED", reason);
  }

  /** The task as a turn with that message finds it. */
  buildTurnTask(message: Message): Task {
    const { liveTask: live } = this;
    if (live.state === undefined) {
      const status = { state: "TASK_STATE_SUBMITTED", timestamp: live.getTimestamp() } as const;
      return { id: live.taskId, contextId: live.contextId, status, history: [message] };
    }
    const found = fold(copyTask(live.getSnapshot()), { message });
    return isEventRefusal(found) ? live.getSnapshot() : found;
  }

  async #runTurn(turn: Turn, found: Task, speech?: AgentOutput): Promise<void> {
    const { observer, agent } = this.#context;
    const who = { scope: this.liveTask.scope, taskId: this.liveTask.taskId };
    observer.onRun?.({ ...who, phase: "begin" });
    try {
      await this.#consumeEvents(turn, speech ?? turn.startAgent(agent, found));
      this.#writeFinalState(turn);
      observer.onRun?.({ ...who, phase: "end" });
    } catch (error) {
      this.#writeFailure(turn, error);
      observer.onRun?.({ ...who, phase: "end", error });
    }
    this.#endTurn(turn);
  }

  /** Writes down what the agent says until it ends or is cut off, no faster than the store takes it. */
  async #consumeEvents(turn: Turn, { iterator, firstResult: first }: AgentOutput): Promise<void> {
    const { liveTask: live } = this;
    const timestamp = (): string => live.getTimestamp();
    let ended = false;
    try {
      let step = first ?? (await iterator.next());
      while (!step.done) {
        if (turn.isFenced) return;
        const said = toTaskEvent(live, step.value, timestamp, this.#context.generateId);
        const event = turn.artifactRestart ? turn.artifactRestart.rewriteEvent(said) : said;
        if (this.#isRepeatedWorking(turn, event)) {
          step = await iterator.next();
          continue;
        }
        const refusal = live.acceptEvent(event);
        if (refusal)
          throw new A2AError(
            "INVALID_AGENT_RESPONSE",
            `The agent went on wrongly: ${refusal.refusalReason}.`,
          );
        if ("statusUpdate" in event) turn.lastState = event.statusUpdate.status.state;
        const room = live.waitForCapacity();
        if (room) await room;
        step = await iterator.next();
      }
      ended = true;
    } finally {
      // An agent that is left before its end is told so, but not waited for.
      if (!ended) void this.closeIterator(iterator);
    }
  }

  /** An agent that begins by saying that it works, in a turn that has said so already. */
  #isRepeatedWorking(turn: Turn, event: TaskEvent): boolean {
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

  /** Tells an agent that nobody listens to it any more. */
  async closeIterator(iterator: AgentOutput["iterator"]): Promise<void> {
    try {
      await iterator.return?.();
    } catch (error) {
      this.#reportError(error);
    }
  }

  /** The agent returned: what it has not said itself is said now. */
  #writeFinalState(turn: Turn): void {
    const { state } = this.liveTask;
    if (turn.isFenced || !state || isTerminal(state)) return;
    if (turn.cancelMetadata) this.#writeState("TASK_STATE_CANCELED");
    else if (turn.stopReason) {
      if (!this.#isLeftForRestart(turn)) this.#writeState("TASK_STATE_FAILED", turn.stopReason);
    } else if (!turn.lastState || !isInterrupted(turn.lastState)) this.#writeState("TASK_STATE_COMPLETED");
  }

  /** True when the server stopped the agent within a turn that a later one begins again. */
  #isLeftForRestart({ stopReason, cancelMetadata: cancelled }: Turn): boolean {
    const { persistTurns: keepTurns, store } = this.#context;
    return stopReason !== undefined && !cancelled && keepTurns && store.isDurable === true;
  }

  #writeFailure(turn: Turn, thrown: unknown): void {
    const { state } = this.liveTask;
    if (turn.cancelMetadata || turn.stopReason) this.#writeFinalState(turn);
    else if (turn.isFenced || !state || isTerminal(state)) this.#reportError(thrown);
    else this.#writeState("TASK_STATE_FAILED", this.#buildFailureText(thrown));
  }

  /** What a caller may know: an A2AError is made for callers, anything else stays in the server's log. */
  #buildFailureText(thrown: unknown): string {
    const errorId = this.#context.generateId().slice(0, 8);
    this.#reportError(thrown, errorId);
    return thrown instanceof A2AError
      ? thrown.message
      : `The agent failed. The server's log has the cause under error id ${errorId}.`;
  }

  #scheduleFence(turn: Turn, graceMs: number): void {
    const forget = this.#context.clock.schedule(graceMs, () => {
      this.#writeFinalState(turn);
      turn.isFenced = true;
      if (this.liveTask.state === undefined) this.#abandonTurn(turn);
      else this.#endTurn(turn);
    });
    turn.onEnd(forget);
  }

  /** Gives up an agent that never said whether there is a task. */
  #abandonTurn(turn: Turn): void {
    this.discard();
    turn.fail(createServerClosingError());
  }

  /** The turn is over once its last events are committed. */
  #endTurn(turn: Turn): void {
    if (turn.hasEnded) return;
    turn.end();
    this.startNextOrIdle();
  }

  /** Once nothing is left to commit, a turn that ended makes room for the next; a runner that nobody needs goes. */
  startNextOrIdle(): void {
    if (this.liveTask.hasPendingEvents) return;
    if (this.#currentTurn?.hasEnded) {
      // Whoever waits for a turn that goes on after a restart hears nothing of a task at work, and asks again then.
      if (this.#isLeftForRestart(this.#currentTurn))
        this.#currentTurn.stoppedTask.reject(createServerClosingError());
      else this.#currentTurn.stoppedTask.resolve(this.liveTask.getSnapshot());
      this.#currentTurn = undefined;
    }
    if (this.#currentTurn) return;
    const next = this.#queue.shift();
    if (next) this.startOrQueueTurn(next);
    else if (this.#readerCount === 0) this.#context.onIdle(this);
  }

  onTurnStop(): void {
    this.#currentTurn?.stoppedTask.resolve(this.liveTask.getSnapshot());
  }

  onAllCommitted(): void {
    this.startNextOrIdle();
  }

  /** The store has given the task up, and so does this. */
  onCommitFailed(error: A2AError): void {
    const turns = this.#currentTurn ? [this.#currentTurn, ...this.#queue] : [...this.#queue];
    this.#currentTurn = undefined;
    this.#queue.length = 0;
    for (const turn of turns) {
      turn.abort(error.message);
      turn.fail(error);
    }
    this.#context.onIdle(this);
  }

  #writeState(state: TaskState, text?: string): void {
    const message =
      text === undefined
        ? undefined
        : toTaskMessage(this.liveTask, { parts: [{ text }] }, this.#context.generateId);
    const refusal = this.liveTask.acceptEvent(
      toStatusUpdate(this.liveTask, state, this.liveTask.getTimestamp(), message),
    );
    if (refusal) this.#reportError(new Error(refusal.refusalReason));
  }

  #reportError(error: unknown, errorId?: string): void {
    const seen = { where: "agent", error, taskId: this.liveTask.taskId };
    this.#context.observer.onError?.(errorId ? { ...seen, errorId } : seen);
  }
}

/** The refusal of a message by a server that closes. */
export function createServerClosingError(): A2AError {
  return new A2AError("UNAVAILABLE", "The server is closing; try again in a moment.", { retryAfter: 1 });
}

/** The refusal of a message to a task that takes no more (A2A §3.1.1). */
export function createTaskEndedError(taskId: string, state: TaskState | undefined): A2AError {
  const is = state ? formatTaskState(state) : "gone";
  return new A2AError(
    "UNSUPPORTED_OPERATION",
    `Task ${taskId} is ${is} and takes no more messages; send the message without a taskId to begin a new task in the same context.`,
    { metadata: { taskId } },
  );
}
