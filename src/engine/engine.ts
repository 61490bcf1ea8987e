import {
  A2AError,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  formatTaskState,
  LogEvent,
  type SendMessageRequest,
  type SendMessageResponse,
  type SubscribeToTaskRequest,
  type Task,
} from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import {
  assembleEngine,
  assertEngineOpen,
  type EngineOptions,
  type EngineParts,
  type EngineState,
} from "./assemble-engine.ts";
import {
  type Caller,
  getLimitHolderKey,
  selectListedContextIds,
  type ServiceParameters,
  type TaskScope,
} from "./caller.ts";
import type { Committer } from "./committer.ts";
import { awaitTaskOfMessage, limitHistory, openMessageStream } from "./message-response.ts";
import { listTasks } from "./list-tasks.ts";
import {
  createSingleEventSubscription,
  LogSubscription,
  requireResumeSeq,
  type Subscription,
} from "./log-subscription.ts";
import { isChangeByOtherWriter } from "./task-errors.ts";
import type { MessageAcceptResult, TaskCancellation, TaskFeed } from "./task-feed.ts";
import { createPushNotSupportedError, type PushConfigOperations } from "./push-notifications.ts";
import type { ActiveTask } from "./active-task.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { Turn } from "./turn.ts";
import type { TaskStore } from "./task-store.ts";
import { type ClientConnection, UnreadTurns } from "./unread-turns.ts";

/** Agents start in a later microtask than the request, so that the caller has its promise before the agent runs. */
const NEXT_MICROTASK: Promise<void> = Promise.resolve();

/**
 * Implements the operations of one agent (A2A §3.1). The server must identify the caller and validate the
 * request before it calls the engine.
 */
export class Engine {
  /** Id of the agent, which is part of the keys of its tasks. */
  readonly agentId: string;
  readonly #store: TaskStore;
  readonly #committer: Committer;
  readonly #state: EngineState;
  readonly #parts: EngineParts;
  readonly #tasks: TaskRegistry;
  /** Created on first use. */
  #readerWatch: UnreadTurns | undefined;

  constructor(options: EngineOptions) {
    this.agentId = options.agentId;
    this.#store = options.store;
    options.agent.useStore?.(options.store, options.agentId);
    this.#committer = options.committer;
    this.#state = { isClosing: false, startsTurns: options.startsTurns ?? true, startedRunCount: 0 };
    this.#parts = assembleEngine(options, this.#state);
    this.#tasks = this.#parts.tasks;
  }

  /**
   * Operations on push notification configs, or `undefined` if the agent does not support push
   * notifications.
   */
  get pushConfigs(): PushConfigOperations | undefined {
    return this.#parts.pushConfigs;
  }

  /**
   * Starts the recovery of tasks, and resolves after the first attempt to recover all tasks with a running turn
   * of an earlier process. Depending on `Agent.afterRestart`, the engine restarts, resumes, or fails each task
   * (E9). Messages that wait for their turn are processed. If the store fails, the engine repeats the recovery
   * until the store is available again. Call `open` before any other method of the engine.
   */
  async open(): Promise<void> {
    const { otherNodes, messageAcceptor, recovery } = this.#parts;
    otherNodes.serve({
      isRunningHere: (scope, taskId) => this.#tasks.find(scope, taskId)?.isRunningHere ?? false,
      isWaitingSuspect: (scope, taskId) => recovery.isWaitingSuspect(scope, taskId),
      acceptMessage: (inbound) => messageAcceptor.acceptMessage(inbound),
      cancelIfUnfinished: (scope, taskId, cancellation) =>
        this.#cancelIfUnfinished(scope, taskId, cancellation),
      noteRemoteReader: (scope, taskId) => this.#unreadTurns?.noteRemoteReader(scope, taskId),
      startsTurns: () => this.#state.startsTurns,
      startWaitingTurns: () => recovery.startWaitingTurns(),
    });
    await recovery.start();
  }

  /** Number of agent runs that this engine has started. */
  get startedRunCount(): number {
    return this.#state.startedRunCount;
  }

  /** Numbers of turns that wait on this node. */
  get waitingTurnCounts(): WaitingTurnCounts {
    const { agent, recovery } = this.#parts;
    const waitingForContext = agent.contextTurns?.waitingTurnCount ?? 0;
    return countWaitingTurns(this.#tasks.list(), waitingForContext, recovery.waitingSuspectCount);
  }

  /** Starts the turns that no living node runs, up to the limit on concurrent runs. Rejects if the store fails. */
  async startDueTurns(): Promise<void> {
    await this.#parts.recovery.startDueTurns();
  }

  /** Resolves once each agent has ended, or waits and needs no process. Other nodes can then claim released turns. */
  async waitUntilIdle(): Promise<void> {
    await waitWhileProcessIsNeeded(() => this.#tasks.list());
    // After a failure of the store, the recovery repeats the releases.
    await this.#parts.recovery.releaseAbandonedLeases().catch(() => {});
  }

  /**
   * Prepares the engine to close, while other nodes continue. The engine starts no more agents, and commits new messages
   * for other nodes. Turns that may continue elsewhere are handed over at once. Resolves once no agent is running. If
   * only this process can open the store, the engine continues to start agents, and `drain` waits for the running ones.
   */
  async drain(): Promise<void> {
    const { isStoreShared } = this.#parts.otherNodes;
    if (isStoreShared) {
      this.#state.startsTurns = false;
      this.#parts.recovery.stopStartingTurns();
    }
    await Promise.allSettled(
      this.#tasks.list().map((task) => (isStoreShared ? task.handOverOrFinishTurn() : task.waitForTurnEnd())),
    );
  }

  /**
   * Stops all agent runs. The engine ignores the output of agents that do not stop within `graceMs`
   * milliseconds. Unfinished tasks fail with a reason, unless `Agent.afterRestart` allows the next process to
   * continue their turns.
   */
  async close(graceMs: number): Promise<void> {
    this.#state.isClosing = true;
    this.#committer.limitStoreWait(graceMs);
    this.#parts.recovery.stop();
    this.#readerWatch?.close();
    const reason = "The server was stopped while the agent was running; send the message again.";
    await Promise.allSettled(this.#tasks.list().map((task) => task.stopAgent(reason, graceMs)));
    await this.#parts.recovery.releaseAbandonedLeases().catch(() => {});
    this.#parts.otherNodes.close();
  }

  /** Replaces the agent. Running turns finish with the earlier agent, and later turns use the new agent. */
  replaceAgent(agent: Agent): void {
    agent.useStore?.(this.#store, this.agentId);
    this.#parts.agent.replace(agent);
  }

  /** Returns true if an agent works on the task, or if a request reads the task. */
  isTaskInUse(scope: TaskScope, taskId: string): boolean {
    return this.#tasks.isActive(scope, taskId);
  }

  /**
   * Ends a task that an operator erases. A task that has not ended is canceled, and the agent is notified.
   */
  async endTaskForErasure(scope: TaskScope, taskId: string): Promise<void> {
    await this.#cancelIfUnfinished(scope, taskId, {
      reason: "The task was erased.",
      caller: scope,
      metadata: {},
    });
  }

  /** Removes an erased task from memory, and ends the subscriptions of the task. */
  forgetErasedTask(scope: TaskScope, taskId: string): void {
    this.#tasks.forgetErasedTask(scope, taskId);
  }

  /**
   * Sends a message (SendMessage). If `returnImmediately` is true, `sendMessage` resolves with the task as soon as the
   * message is durable. By default, `sendMessage` waits until the turn stops, and then resolves with the task or
   * with the agent's reply. `client` is needed for agents with `whenUnread`.
   */
  async sendMessage(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
    client?: ClientConnection,
  ): Promise<SendMessageResponse> {
    await NEXT_MICROTASK;
    const acceptance = this.#acceptMessage(request, caller, service);
    const accepted = acceptance instanceof Promise ? await acceptance : acceptance;
    if ("reply" in accepted) return { message: accepted.reply };
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const untilStop = returnImmediately !== true;
    const unreadTurns = untilStop ? this.#unreadTurns : undefined;
    const waiting = awaitTaskOfMessage(accepted, untilStop, this.#parts);
    const task = await (unreadTurns?.readWhile(accepted.feed, waiting, client) ?? waiting);
    return { task: limitHistory(task, historyLength) };
  }

  /**
   * Sends a message and streams the response (SendStreamingMessage). Resolves with a subscription, which
   * delivers the task and its events until the turn stops. If the agent replies without a task, the
   * subscription delivers only the reply. To resume a stream after a lost connection, a client repeats the
   * message with `service.resumeAfterSeq`.
   */
  async sendStreamingMessage(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
  ): Promise<Subscription> {
    let releaseStream = this.#parts.streamQuota.acquire(getLimitHolderKey(caller));
    try {
      await NEXT_MICROTASK;
      const accepted = await this.#acceptMessage(request, caller, { ...service, isStreaming: true });
      if ("reply" in accepted) {
        releaseStream();
        return createSingleEventSubscription(LogEvent.create(0, { message: accepted.reply }));
      }
      releaseStream = this.#countReader(accepted.feed, releaseStream);
      return await openMessageStream(accepted, service, releaseStream, this.#store, this.#parts);
    } catch (error) {
      releaseStream();
      throw error;
    }
  }

  /** Resolves with a task (GetTask). */
  async getTask(request: GetTaskRequest, caller: Caller): Promise<Task> {
    return (await this.getTaskWithSeq(request, caller)).task;
  }

  /** Resolves with a task and the sequence number of the last event that the task contains. */
  async getTaskWithSeq(
    { id, historyLength }: GetTaskRequest,
    caller: Caller,
  ): Promise<{ readonly task: Task; readonly seq: number }> {
    const scope = this.#toTaskScope(caller);
    const found = await this.#tasks.read(scope, id);
    if (!found) throw A2AError.taskNotFound(id);
    return { task: limitHistory(found.task, historyLength), seq: found.seq };
  }

  /** Resolves with one page of the caller's tasks (ListTasks, A2A §3.1.4). */
  listTasks(request: ListTasksRequest, caller: Caller): Promise<ListTasksResponse> {
    const { contextScope } = caller;
    const contextIds = contextScope && selectListedContextIds(contextScope, request.contextId);
    const scope = this.#toTaskScope(caller);
    return listTasks(
      this.#store,
      scope,
      request,
      this.#parts.limits.listPageBytes,
      this.#parts.clock,
      contextIds,
    );
  }

  /**
   * Resolves with the context of a task, which never changes, or with `undefined` if the caller has no such task. Also
   * finds tasks outside of `caller.contextScope`.
   */
  async findContextId(taskId: string, caller: Caller): Promise<string | undefined> {
    return (await this.#tasks.read(this.#toTaskScope(caller), taskId))?.task.contextId;
  }

  /**
   * Cancels a task (CancelTask) and resolves with the task once the agent has stopped. If the task is
   * already canceled, `cancelTask` returns the task unchanged.
   */
  async cancelTask({ id, metadata = {} }: CancelTaskRequest, caller: Caller): Promise<Task> {
    const cancellation = { reason: "The task was canceled.", caller, metadata };
    const canceled = await this.#cancelIfUnfinished(this.#toTaskScope(caller), id, cancellation);
    if (!canceled) throw A2AError.taskNotFound(id);
    const { task, hadEnded } = canceled;
    const { state } = task.status;
    if (!hadEnded || state === "TASK_STATE_CANCELED") return task;
    const text = `Task ${id} is ${formatTaskState(state)} and can no longer be canceled; read it with GetTask.`;
    throw new A2AError("TASK_NOT_CANCELABLE", text, { metadata: { taskId: id } });
  }

  /**
   * Cancels a task that has not ended, on the node that runs its turn, and resolves with the ended task. `hadEnded` is
   * true for a task that has ended before. Resolves with `undefined` if the task does not exist.
   */
  async #cancelIfUnfinished(
    scope: TaskScope,
    taskId: string,
    cancellation: TaskCancellation,
  ): Promise<{ readonly task: Task; readonly hadEnded: boolean } | undefined> {
    const { recovery, requestWaitLimit } = this.#parts;
    await recovery.cancelWaitingSuspect(scope, taskId, cancellation);
    for (;;) {
      const opened = await this.#tasks.open(scope, taskId);
      if (!opened) return undefined;
      try {
        const hadEnded = await opened.cancelAndWait(cancellation, requestWaitLimit);
        // If the turn of another node has ended without the task, this node can cancel the task.
        if (opened.hasEndedAtSeq(opened.seq)) return { task: opened.getSnapshot(), hadEnded };
      } catch (error) {
        if (!isChangeByOtherWriter(error)) throw error;
      } finally {
        opened.release();
      }
    }
  }

  /**
   * Subscribes to a task (SubscribeToTask). The subscription starts with the current task, followed by
   * every later event until the task ends. If `resumeAfterSeq` is set, the subscription contains only the
   * events after that sequence number, even if the task has already ended.
   */
  async subscribeToTask(
    { id }: SubscribeToTaskRequest,
    caller: Caller,
    { resumeAfterSeq, includesMessages, endsAtInputRequest }: ServiceParameters = {},
  ): Promise<Subscription> {
    const feed = await this.#tasks.openFeed(this.#toTaskScope(caller), id);
    if (!feed) throw A2AError.taskNotFound(id);
    try {
      if (resumeAfterSeq === undefined && feed.hasEndedAtSeq(feed.seq)) {
        const text = `Task ${id} has ended and sends no more events; read it with GetTask.`;
        throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId: id } });
      }
      const span =
        resumeAfterSeq === undefined
          ? {
              afterSeq: feed.seq,
              openingEvent: LogEvent.create(feed.seq, { task: feed.getSnapshot() }),
            }
          : { afterSeq: requireResumeSeq(feed.seq, resumeAfterSeq) };
      return new LogSubscription(
        feed,
        this.#store,
        { ...span, includesMessages, ...(endsAtInputRequest ? { turnSeq: feed.seq } : {}) },
        this.#countReader(feed, this.#parts.streamQuota.acquire(getLimitHolderKey(caller))),
      );
    } finally {
      feed.release();
    }
  }

  /** Counts the reader of a stream until the returned function releases the stream. */
  #countReader(feed: TaskFeed, releaseStream: () => void): () => void {
    const removeReader = this.#unreadTurns?.addReader(feed);
    if (!removeReader) return releaseStream;
    return () => {
      releaseStream();
      removeReader();
    };
  }

  /** Absent unless the agent has the option `whenUnread: "cancel"`. */
  get #unreadTurns(): UnreadTurns | undefined {
    if (this.#parts.agent.current.whenUnread !== "cancel") return undefined;
    return (this.#readerWatch ??= new UnreadTurns(this.#parts));
  }

  #toTaskScope({ tenant, principal }: Caller): TaskScope {
    return { agent: this.agentId, tenant, principal };
  }

  #acceptMessage(
    request: SendMessageRequest,
    caller: Caller,
    serviceParameters: ServiceParameters,
  ): MessageAcceptResult | Promise<MessageAcceptResult> {
    assertEngineOpen(this.#state);
    const scope = this.#toTaskScope(caller);
    const inbound = { scope, request, caller, serviceParameters };
    if (!request.configuration?.taskPushNotificationConfig)
      return this.#parts.messageAcceptor.acceptMessage(inbound);
    if (!this.pushConfigs) throw createPushNotSupportedError();
    return this.pushConfigs
      .assertMessagePushConfigAccepted(request, scope)
      .then(() => this.#parts.messageAcceptor.acceptMessage(inbound));
  }
}

/** Why a turn waits. */
type TurnWaitReason = "task" | "context" | "time" | "recovery";

/**
 * Numbers of waiting turns of an engine by reason. `task`: another turn of the task runs. `context`: another turn of the
 * context runs. `time`: the agent has suspended the turn. `recovery`: the node of the turn died in at least two attempts,
 * so the turn starts after other such turns.
 */
type WaitingTurnCounts = Readonly<Record<TurnWaitReason, number>>;

/** The turns of a task, as far as their counts need them. */
interface CountedTurns {
  readonly queuedTurnCount: number;
  readonly currentTurn: Pick<Turn, "wakeAt" | "hasEnded"> | undefined;
}

/** Counts the waiting turns of tasks, and adds the numbers of turns that wait for other reasons. */
export function countWaitingTurns(
  tasks: Iterable<CountedTurns>,
  waitingForContext: number,
  waitingForRecovery: number,
): WaitingTurnCounts {
  let waitingForTask = 0;
  let waitingForTime = 0;
  for (const { queuedTurnCount, currentTurn } of tasks) {
    waitingForTask += queuedTurnCount;
    if (currentTurn?.wakeAt !== undefined && !currentTurn.hasEnded) waitingForTime++;
  }
  return {
    task: waitingForTask,
    context: waitingForContext,
    time: waitingForTime,
    recovery: waitingForRecovery,
  };
}

/**
 * Resolves once no task needs the process. A task needs the process while its agent works, or while the output of the
 * agent is not committed.
 */
async function waitWhileProcessIsNeeded(listTasks: () => readonly ActiveTask[]): Promise<void> {
  for (;;) {
    const working = listTasks().filter(isProcessNeeded);
    if (working.length === 0) return;
    await Promise.all(working.map(waitForTask));
  }
}

/**
 * The process may stop while the agent waits for its user or in `Run.suspend`. If several nodes share the store, this
 * node must release a suspended turn first.
 */
function isProcessNeeded(task: ActiveTask): boolean {
  const isSuspended = task.currentTurn?.wakeAt !== undefined && !task.isSharedWithNodes;
  const isWaiting = isSuspended || task.state === "TASK_STATE_INPUT_REQUIRED";
  return task.hasPendingEvents || (task.isAgentWorking && !isWaiting);
}

/** Resolves once the current turn of the task has ended or needs no process. */
async function waitForTask(task: ActiveTask): Promise<void> {
  const turn = task.currentTurn;
  turn?.onEnd(() => task.notifyTurnChange());
  while (task.currentTurn === turn && isProcessNeeded(task))
    await task.waitForCommitOrTurnChange().catch(() => task.waitForTurnEnd());
}
