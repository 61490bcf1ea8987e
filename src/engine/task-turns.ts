import { isInterrupted, isTerminal } from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import type { TaskScope } from "./caller.ts";
import type { TaskTurnStatus } from "./decide-message-outcome.ts";
import type { LiveTask } from "./live-task.ts";
import { hasPersistedTurns } from "./replaceable-agent.ts";
import { createServerClosingError, createTaskEndedError } from "./task-errors.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { StoredTask } from "./task-store.ts";
import { TurnQueue } from "./turn-queue.ts";
import type { Turn } from "./turn.ts";

type TaskTurnsDependencies = Pick<TurnDependencies, "agent" | "store" | "startsTurns" | "restoreQueuedTurn">;

/**
 * The turns of one task: the current turn, and the turns that wait for its end. The task of a turn that has no runner
 * waits for recovery.
 */
export class TaskTurns {
  readonly queue: TurnQueue;
  /** The running turn, or an ended turn whose last events are not yet committed. */
  current: Turn | undefined;
  /** True until a task with a turn of an earlier runner is settled. Requests must not see such a task. */
  isAwaitingRecovery: boolean;
  /** True if the server stopped a turn that the next server process continues. */
  isLeftForRestart = false;
  readonly #context: TaskTurnsDependencies;
  readonly #liveTask: Pick<LiveTask, "taskId" | "state">;
  #isStopping = false;

  constructor(
    context: TaskTurnsDependencies,
    liveTask: Pick<LiveTask, "taskId" | "state">,
    scope: TaskScope,
    stored: StoredTask | undefined,
  ) {
    this.#context = context;
    this.#liveTask = liveTask;
    this.isAwaitingRecovery = stored?.awaitsRecovery ?? false;
    this.queue = new TurnQueue(stored?.queuedTurns ?? [], (queued) =>
      context.restoreQueuedTurn(scope, queued),
    );
  }

  /** The agent of the running turn, or the agent of the next turn. */
  get agent(): Agent {
    return (this.isAgentWorking ? this.current?.agent : undefined) ?? this.#context.agent.current;
  }

  /** True while the agent of the current turn runs. */
  get isAgentWorking(): boolean {
    return this.current !== undefined && !this.current.hasEnded;
  }

  /** True if the store must keep the current turn as a running turn. */
  get mustKeepTurnInStore(): boolean {
    const { current } = this;
    return current !== undefined && (!current.hasEnded || this.canContinueAfterRestart(current));
  }

  /** True if an agent may change the task without a new message: a turn is running, waits, or continues after a restart. */
  get hasUnfinishedTurn(): boolean {
    return this.current !== undefined || this.queue.length > 0 || this.isLeftForRestart;
  }

  /** The unfinished turn of the task, which can change the task without a new message. */
  get status(): TaskTurnStatus {
    if (this.#isWithoutRunner) return "awaiting-recovery";
    return this.isAgentWorking || this.queue.length > 0 ? "running" : "none";
  }

  /** True while the running turn waits for its user and may continue without a message. */
  get isWaitingWithinTurn(): boolean {
    const { state } = this.#liveTask;
    return this.isAgentWorking && state !== undefined && isInterrupted(state);
  }

  /** True if the task has an unfinished turn that its runner does not run. */
  get #isWithoutRunner(): boolean {
    const { state } = this.#liveTask;
    if (this.isAwaitingRecovery) return true;
    return !this.current && state !== undefined && !isInterrupted(state) && !isTerminal(state);
  }

  /** Resolves once the agent of the current turn has ended. */
  async waitForTurnEnd(): Promise<void> {
    const turn = this.current;
    if (turn && !turn.hasEnded) await new Promise<void>((resolve) => turn.onEnd(resolve));
  }

  /** Returns true if the server stopped the agent and a later server process will start the turn again. */
  canContinueAfterRestart({ agent, stopReason, cancelMetadata }: Turn): boolean {
    const { agent: replaceable, store } = this.#context;
    const isPersisted = hasPersistedTurns(agent ?? replaceable.current);
    return stopReason !== undefined && !cancelMetadata && isPersisted && store.isDurable === true;
  }

  /** Returns the turn of a message that waits for its turn or has just begun. */
  findUnfinishedTurn(messageId: string): Turn | undefined {
    const { current } = this;
    return current?.message.messageId === messageId ? current : this.queue.findTurn(messageId);
  }

  /** Removes and returns the first queued turn, if it may start. Rejects all queued turns of a task that has ended. */
  takeNext(): ReturnType<TurnQueue["takeFirst"]> {
    const { taskId, state } = this.#liveTask;
    if (this.queue.length > 0 && state && isTerminal(state))
      this.queue.clear(createTaskEndedError(taskId, state));
    const canStart = !this.#isStopping && !this.#isWithoutRunner && this.#context.startsTurns();
    return canStart ? this.queue.takeFirst() : undefined;
  }

  /** Starts no more queued turns. A durable store keeps them for the next process. */
  stopStartingTurns(): void {
    this.#isStopping = true;
    this.queue.rejectRequests(createServerClosingError());
  }
}
