import {
  A2AError,
  isTerminal,
  LogEvent,
  formatTaskState,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type SendMessageRequest,
  type SendMessageResponse,
  type SubscribeToTaskRequest,
  type Task,
} from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import type { Caller, TaskScope } from "./caller.ts";
import { systemClock, type Clock } from "./clock.ts";
import { selectListedContextIds } from "./context-scope.ts";
import { generateUuidV7, type IdGenerator } from "./id-generator.ts";
import type { Committer } from "./event-committer.ts";
import { limitHistory } from "./limit-history.ts";
import { getMessageAction, type MessageAcceptResult } from "./message-accept-result.ts";
import { MessageAcceptor } from "./message-acceptor.ts";
import { awaitMessageCommitAndGetTask, awaitStartOfTurn, openMessageStream } from "./message-response.ts";
import { resolveEngineLimits } from "./engine-limits.ts";
import { listTasks } from "./list-tasks.ts";
import { withSafeListeners } from "./observer.ts";
import type { PushConfigOperations } from "./push/push-config-operations.ts";
import { createPushNotSupportedError } from "./push/push-not-supported-error.ts";
import { chooseMessageResponse } from "./decide-message-outcome.ts";
import type { QueuedTurnData } from "./queued-turn-data.ts";
import { TaskRecovery } from "./task-recovery.ts";
import { requireResumeSeq } from "./compute-subscription-log-range.ts";
import type { EngineOptions, EnginePushOptions } from "./engine-options.ts";
import { createServerClosingError, isChangeByOtherWriter } from "./task-errors.ts";
import { answerTaskRequest } from "./nodes/answer-task-request.ts";
import { FollowedTask } from "./nodes/followed-task.ts";
import { NodeLink } from "./nodes/node-link.ts";
import { TurnSubmitter } from "./nodes/turn-submitter.ts";
import { TurnHandover } from "./nodes/turn-handover.ts";
import { OwnerRequests } from "./nodes/owner-requests.ts";
import type { CancelPayload } from "./nodes/request-payload.ts";
import { waitWhileProcessIsNeeded } from "./process-need.ts";
import { ReplaceableAgent } from "./replaceable-agent.ts";
import { RunnerRegistry } from "./runner-registry.ts";
import { countWaitingTurns, type WaitingTurnCounts } from "./waiting-turn-counts.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { TaskRunner } from "./task-runner.ts";
import type { Turn } from "./turn.ts";
import { StreamLimit } from "./stream-limit.ts";
import type { TaskLease } from "./task-leases.ts";
import type { LogAppend, TaskStore } from "./task-store.ts";
import { LogSubscription, createSingleEventSubscription, type Subscription } from "./log-subscription.ts";

/**
 * Implements the operations of one agent (A2A §3.1). The server must identify the caller and validate the
 * request before it calls the engine.
 */
export class Engine {
  /**
   * Operations on push notification configs, or `undefined` if the agent does not support push
   * notifications.
   */
  readonly pushConfigs: PushConfigOperations | undefined;
  readonly #agent: ReplaceableAgent;
  /** Id of the agent, which is part of the keys of its tasks. */
  readonly agentId: string;
  readonly #store: TaskStore;
  readonly #committer: Committer;
  readonly #runners: RunnerRegistry;
  readonly #link: NodeLink | undefined;
  readonly #ownerRequests: OwnerRequests | undefined;
  readonly #messageAcceptor: MessageAcceptor;
  readonly #recovery: TaskRecovery;
  readonly #turnHandover: TurnHandover;
  readonly #streamLimit: StreamLimit;
  readonly #clock: Clock;
  readonly #listPageBytes: number;
  #isClosing = false;
  #startedRunCount = 0;
  #startsTurns: boolean;

  constructor(options: EngineOptions) {
    const { agentId, store, generateId = generateUuidV7, deduplicateMessages = true } = options;
    const limits = resolveEngineLimits(options.limits);
    const agent = new ReplaceableAgent(options.agent, limits.queuedTurns);
    this.#agent = agent;
    this.agentId = agentId;
    this.#startsTurns = options.startsTurns ?? true;
    this.#store = store;
    this.#listPageBytes = limits.listPageBytes;
    this.#clock = options.clock ?? systemClock;
    this.#committer = options.committer;
    this.#streamLimit = new StreamLimit(limits.streams);
    const clock = options.clock ?? systemClock;
    const observer = withSafeListeners(options.observer ?? {});
    this.#link = "nodeLink" in options ? options.nodeLink : NodeLink.create({ store, clock, observer });
    const link = this.#link;
    this.#ownerRequests = link && new OwnerRequests(link, generateId);
    const runnerContext = {
      agent,
      store,
      committer: options.committer,
      clock,
      generateId,
      observer,
      runTracing: options.runTracing,
      mergeChunks: options.mergeChunks ?? true,
      deduplicateMessages,
      taskSizeLimit: limits.taskSize,
      cancelGraceMs: options.cancelGraceMs ?? 5000,
      outbox: options.push?.outbox,
      restoreQueuedTurn: (scope: TaskScope, queued: QueuedTurnData) =>
        this.#messageAcceptor.restoreQueuedTurn(scope, queued),
      releaseLease: (lease: TaskLease, handover?: LogAppend) => this.#recovery.releaseLease(lease, handover),
      startsTurns: () => this.#startsTurns,
      onRunStart: (): void => void this.#startedRunCount++,
      followHandedOverTurn: (runner: TaskRunner, turn: Turn): boolean => {
        if (!link || this.#isClosing) return false;
        this.#turnHandover.followTurn(runner, turn);
        return true;
      },
      onCommit: link && ((taskId: string) => link.notifyCommit(taskId)),
    };
    const runners = new RunnerRegistry(runnerContext, link, {
      requestPass: () => this.#recovery.requestPass(),
      isWaitingSuspect: (scope, taskId) => this.#recovery.isWaitingSuspect(scope, taskId),
    });
    this.#runners = runners;
    this.#turnHandover = new TurnHandover(store, runners);
    options.push?.outbox.onWebhookFound((scope, taskId) => {
      const runner = runners.findLive(scope, taskId);
      if (runner) runner.liveTask.mayHaveWebhooks = true;
    });
    const messageAcceptor = new MessageAcceptor({
      agent,
      store,
      runners,
      generateId,
      limits,
      deduplicateMessages,
      ownerRequests: this.#ownerRequests,
      turnSubmitter:
        link &&
        new TurnSubmitter({
          committer: options.committer,
          clock,
          link,
          runners,
          observer,
          deduplicateMessages,
        }),
      startsTurns: () => this.#startsTurns,
      assertOpen: () => this.#assertOpen(),
    });
    this.#messageAcceptor = messageAcceptor;
    const { turnAttempts } = limits;
    this.#recovery = new TaskRecovery({
      agent,
      agentId,
      store,
      runners,
      messageAcceptor,
      turnAttempts,
      clock,
      observer,
      startsTurns: this.#startsTurns,
      // The last commits of a stopped node can have ended tasks whose webhooks no node delivers to.
      onNodesLost: () => void (link && options.push?.outbox.loadDueWebhooks()),
    });
    this.pushConfigs = options.push && this.#createPushConfigOperations(options.push, generateId);
  }

  /**
   * Starts the recovery of tasks, and resolves after the first attempt to recover all tasks with a running turn
   * of an earlier process. Depending on `Agent.afterRestart`, the engine restarts, resumes, or fails each task
   * (E9). Messages that wait for their turn are processed. If the store fails, the engine repeats the recovery
   * until the store is available again. Call `open` before any other method of the engine.
   */
  async open(): Promise<void> {
    this.#link?.serveAgent(
      this.agentId,
      (request) =>
        answerTaskRequest(request, {
          runners: this.#runners,
          messageAcceptor: this.#messageAcceptor,
          cancelTask: (canceled, caller) => this.cancelTask(canceled, caller),
        }),
      () => this.#recovery.wakeWaitingTurnPoller(),
    );
    await this.#recovery.start();
  }

  /** Number of agent runs that this engine has started. */
  get startedRunCount(): number {
    return this.#startedRunCount;
  }

  /** Numbers of turns that wait on this node. */
  get waitingTurnCounts(): WaitingTurnCounts {
    return countWaitingTurns(this.#runners.list(), this.#agent.contextTurns?.waitingTurnCount ?? 0);
  }

  /** Starts the turns that no living node runs, up to the limit on concurrent runs. Rejects if the store fails. */
  async startDueTurns(): Promise<void> {
    await this.#recovery.startDueTurns();
  }

  /** Resolves once each agent has ended, or waits and needs no process. Other nodes can then claim released turns. */
  async waitUntilIdle(): Promise<void> {
    await waitWhileProcessIsNeeded(() => this.#runners.list());
    // After a failure of the store, the recovery repeats the releases.
    await this.#recovery.releaseAbandonedLeases().catch(() => {});
  }

  /**
   * Prepares the engine to close, while other nodes continue. The engine starts no more agents, and commits new messages
   * for other nodes. Turns that may continue elsewhere are handed over at once. Resolves once no agent is running. If
   * only this process can open the store, the engine continues to start agents, and `drain` waits for the running ones.
   */
  async drain(): Promise<void> {
    if (this.#link) {
      this.#startsTurns = false;
      this.#recovery.stopStartingTurns();
    }
    await Promise.allSettled(
      this.#runners
        .list()
        .map((runner) => (this.#link ? runner.handOverOrFinishTurn() : runner.turns.waitForTurnEnd())),
    );
  }

  /**
   * Stops all agent runs. The engine ignores the output of agents that do not stop within `graceMs`
   * milliseconds. Unfinished tasks fail with a reason, unless `Agent.afterRestart` allows the next process to
   * continue their turns.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#committer.limitStoreWait(graceMs);
    this.#recovery.stop();
    const reason = "The server was stopped while the agent was running; send the message again.";
    await Promise.allSettled(this.#runners.list().map((runner) => runner.stopAgent(reason, graceMs)));
    await this.#recovery.releaseAbandonedLeases().catch(() => {});
    this.#link?.closeAgent(this.agentId);
  }

  /** Replaces the agent. Running turns finish with the earlier agent, and later turns use the new agent. */
  replaceAgent(agent: Agent): void {
    this.#agent.replace(agent);
  }

  /** Returns true if an agent works on the task, or if a request reads the task. */
  isTaskInUse(scope: TaskScope, taskId: string): boolean {
    return this.#runners.isActive(scope, taskId);
  }

  /**
   * Ends a task that an operator erases. A task that has not ended is canceled, and the agent is notified.
   */
  async endTaskForErasure(scope: TaskScope, taskId: string): Promise<void> {
    await this.#cancelIfUnfinished(scope, taskId, "The task was erased.", { caller: scope, metadata: {} });
  }

  /** Removes an erased task from memory, and ends the subscriptions of the task. */
  forgetErasedTask(scope: TaskScope, taskId: string): void {
    this.#runners.forgetErasedTask(scope, taskId);
  }

  /**
   * Sends a message (SendMessage). If `returnImmediately` is true, `sendMessage` resolves with the task
   * immediately. By default, `sendMessage` waits until the turn stops, and then resolves with the task or
   * with the agent's reply.
   */
  async sendMessage(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
  ): Promise<SendMessageResponse> {
    const accepted = await this.#acceptMessage(request, caller, service);
    if ("reply" in accepted) return { message: accepted.reply };
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const response = chooseMessageResponse(getMessageAction(accepted), returnImmediately ?? false);
    const mustWait =
      "turn" in accepted && response !== "current-task" && (await awaitStartOfTurn(accepted, this.#clock));
    const task = mustWait
      ? await accepted.turn.stoppedTask.promise
      : await awaitMessageCommitAndGetTask(accepted);
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
    const releaseStream = this.#streamLimit.acquire(caller);
    try {
      const accepted = await this.#acceptMessage(request, caller, { ...service, isStreaming: true });
      if ("reply" in accepted) {
        releaseStream();
        return createSingleEventSubscription(LogEvent.create(0, { message: accepted.reply }));
      }
      return await openMessageStream(accepted, service, releaseStream, this.#store, this.#clock);
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
    const found = await this.#runners.readTask(scope, id);
    if (!found) throw A2AError.taskNotFound(id);
    return { task: limitHistory(found.task, historyLength), seq: found.seq };
  }

  /** Resolves with one page of the caller's tasks (ListTasks, A2A §3.1.4). */
  listTasks(request: ListTasksRequest, caller: Caller): Promise<ListTasksResponse> {
    const { contextScope } = caller;
    const contextIds = contextScope && selectListedContextIds(contextScope, request.contextId);
    const scope = this.#toTaskScope(caller);
    return listTasks(this.#store, scope, request, this.#listPageBytes, this.#clock, contextIds);
  }

  /**
   * Resolves with the context of a task, which never changes, or with `undefined` if the caller has no such task. Also
   * finds tasks outside of `caller.contextScope`.
   */
  async findContextId(taskId: string, caller: Caller): Promise<string | undefined> {
    const scope = this.#toTaskScope(caller);
    const live = this.#runners.findLive(scope, taskId);
    return live ? live.liveTask.contextId : (await this.#store.load(scope, taskId))?.task.contextId;
  }

  /**
   * Cancels a task (CancelTask) and resolves with the task once the agent has stopped. If the task is
   * already canceled, `cancelTask` returns the task unchanged.
   */
  async cancelTask({ id, metadata = {} }: CancelTaskRequest, caller: Caller): Promise<Task> {
    const scope = this.#toTaskScope(caller);
    const canceled = await this.#cancelIfUnfinished(scope, id, "The task was canceled.", {
      caller,
      metadata,
    });
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
    reason: string,
    payload: CancelPayload,
  ): Promise<{ readonly task: Task; readonly hadEnded: boolean } | undefined> {
    for (;;) {
      const opened = await this.#runners.openForWriting(scope, taskId);
      if (!opened) return undefined;
      const { liveTask } = opened;
      try {
        if (opened instanceof FollowedTask) {
          const task = await this.#ownerRequests?.cancelTask(opened, payload);
          if (task) return { task, hadEnded: false };
          // The turn has ended, so this node can cancel the task.
          continue;
        }
        const hadEnded = liveTask.state === undefined || isTerminal(liveTask.state);
        if (!hadEnded) opened.cancel(reason, payload.caller, payload.metadata);
        while (!liveTask.hasEndedAtSeq(liveTask.seq)) await liveTask.waitForCommit();
        return { task: liveTask.getSnapshot(), hadEnded };
      } catch (error) {
        if (!this.#link || !isChangeByOtherWriter(error)) throw error;
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
    { resumeAfterSeq, includesMessages }: ServiceParameters = {},
  ): Promise<Subscription> {
    const runner = await this.#runners.openForReading(this.#toTaskScope(caller), id);
    if (!runner) throw A2AError.taskNotFound(id);
    const { liveTask } = runner;
    try {
      if (resumeAfterSeq === undefined && liveTask.hasEndedAtSeq(liveTask.seq)) {
        const text = `Task ${id} has ended and sends no more events; read it with GetTask.`;
        throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId: id } });
      }
      const span =
        resumeAfterSeq === undefined
          ? {
              afterSeq: liveTask.seq,
              openingEvent: LogEvent.create(liveTask.seq, { task: liveTask.getSnapshot() }),
            }
          : { afterSeq: requireResumeSeq(liveTask.seq, resumeAfterSeq) };
      return new LogSubscription(
        runner,
        this.#store,
        { ...span, includesMessages },
        this.#streamLimit.acquire(caller),
      );
    } finally {
      runner.release();
    }
  }

  #toTaskScope({ tenant, principal }: Caller): TaskScope {
    return { agent: this.agentId, tenant, principal };
  }

  #assertOpen(): void {
    if (this.#isClosing) throw createServerClosingError();
  }

  #acceptMessage(
    request: SendMessageRequest,
    caller: Caller,
    serviceParameters: ServiceParameters,
  ): Promise<MessageAcceptResult> {
    this.#assertOpen();
    const scope = this.#toTaskScope(caller);
    const inbound = { request, caller, serviceParameters };
    if (!request.configuration?.taskPushNotificationConfig)
      return this.#messageAcceptor.acceptMessage(scope, inbound);
    if (!this.pushConfigs) throw createPushNotSupportedError();
    return this.pushConfigs
      .assertMessagePushConfigAccepted(request, scope)
      .then(() => this.#messageAcceptor.acceptMessage(scope, inbound));
  }

  #createPushConfigOperations(
    { outbox, validateWebhook, createConfigOperations, redactSecrets = false }: EnginePushOptions,
    generateId: IdGenerator,
  ): PushConfigOperations | undefined {
    const { pushStore } = this.#store;
    const onChange = (scope: TaskScope, taskId: string, id: string, key?: number): void => {
      const runner = this.#runners.findLive(scope, taskId);
      if (runner) runner.liveTask.mayHaveWebhooks = true;
      outbox.notifyWebhookChange(scope, taskId, id, key);
    };
    return (
      pushStore &&
      createConfigOperations({
        agentId: this.agentId,
        store: pushStore,
        validateWebhook,
        generateId,
        redactSecrets,
        limits: outbox.limits,
        onChange,
      })
    );
  }
}
