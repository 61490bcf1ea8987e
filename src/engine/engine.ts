import {
  A2AError,
  isInterrupted,
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
import { generateUuidV7, type IdGenerator } from "./id-generator.ts";
import type { Committer } from "./committer.ts";
import { limitHistory } from "./history.ts";
import { Inbox, type AcceptResult } from "./inbox.ts";
import { resolveEngineLimits, ConcurrencyLimit, type EngineLimits } from "./limits.ts";
import { listTasks } from "./list-tasks.ts";
import { withSafeListeners, type Observer } from "./observer.ts";
import type { Outbox } from "./push/outbox.ts";
import {
  createPushNotSupportedError,
  PushConfigOperations,
  type WebhookValidator,
} from "./push/push-config-operations.ts";
import { recoverTasks, type RecoveryContext } from "./recovery.ts";
import { createServerClosingError, type Runner } from "./runner.ts";
import { RunnerRegistry } from "./runner-registry.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { TaskStore } from "./task-store.ts";
import {
  hasRequestedInput,
  LogSubscription,
  createSingleEventSubscription,
  type Subscription,
  type SubscriptionSpan,
} from "./subscription.ts";

/** What an engine needs to send push notifications; its store must have `push`. */
export interface EnginePushOptions {
  /** Several engines that share a store share one. Opened and closed by whoever made it. */
  readonly outbox: Outbox;
  readonly validateWebhook: WebhookValidator;
  /** Answer configurations without their token and credentials. Default false: their owner reads them. */
  readonly redactSecrets?: boolean;
}

export interface EngineOptions {
  readonly agent: Agent;
  /** Name of the agent within its server; tasks in the store belong to it. */
  readonly agentId: string;
  /** Must be open. Several engines may share one, and then share `committer`. */
  readonly store: TaskStore;
  readonly committer: Committer;
  /** Without it there are no push notifications. */
  readonly push?: EnginePushOptions | undefined;
  readonly observer?: Observer;
  readonly clock?: Clock;
  readonly generateId?: IdGenerator;
  readonly limits?: Partial<EngineLimits>;
  /** Merge chunks of text that wait for the same commit. Default true. */
  readonly mergeChunks?: boolean;
  /** Recognise a message that comes again by its id (E10). Default true. */
  readonly deduplicateMessages?: boolean;
  /** How long a cancelled agent may take to stop before it is cut off, in milliseconds. Default 5,000. */
  readonly cancelGraceMs?: number;
}

/** The operations of one agent (A2A §3.1), for callers that are known and requests that are well-formed. */
export class Engine {
  /** The operations on push notification configurations; undefined where there are none. */
  readonly pushConfigs: PushConfigOperations | undefined;
  readonly #agentId: string;
  readonly #store: TaskStore;
  readonly #runners: RunnerRegistry;
  readonly #inbox: Inbox;
  readonly #recoveryContext: RecoveryContext;
  readonly #streamLimit: ConcurrencyLimit;
  #isClosing = false;

  constructor(options: EngineOptions) {
    const { agent, agentId, store, generateId = generateUuidV7, deduplicateMessages = true } = options;
    const limits = resolveEngineLimits(options.limits);
    this.#agentId = agentId;
    this.#store = store;
    this.#streamLimit = new ConcurrencyLimit("open streams", limits.streams);
    const runners = new RunnerRegistry({
      agent,
      store,
      committer: options.committer,
      clock: options.clock ?? systemClock,
      generateId,
      observer: withSafeListeners(options.observer ?? {}),
      mergeChunks: options.mergeChunks ?? true,
      deduplicateMessages,
      cancelGraceMs: options.cancelGraceMs ?? 5000,
      outbox: options.push?.outbox,
      persistTurns: (agent.afterRestart ?? "fail") !== "fail",
    });
    this.#runners = runners;
    const inbox = new Inbox({ agent, store, runners, generateId, limits, deduplicateMessages });
    this.#inbox = inbox;
    this.#recoveryContext = { agent, agentId, store, runners, inbox, turnAttempts: limits.turnAttempts };
    this.pushConfigs = options.push && this.#createPushConfigOperations(options.push, generateId);
  }

  /**
   * Settles what an earlier process left behind: its unfinished tasks go on as the agent says (`afterRestart`), or fail with
   * a reason (E9). To be called before anything else.
   */
  async open(): Promise<void> {
    await recoverTasks(this.#recoveryContext);
  }

  /**
   * Stops the agents; those that do not end within `graceMs` are cut off. Unfinished tasks fail with a reason, or stay as
   * they are for the next `open`, where the agent goes on `afterRestart`.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const reason = "The server was stopped while the agent was at work; send the message again.";
    await Promise.allSettled(this.#runners.list().map((runner) => runner.stopAgent(reason, graceMs)));
  }

  /** SendMessage: the task once it stops (or at once, with `returnImmediately`), or the agent's plain reply. */
  async sendMessage(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
  ): Promise<SendMessageResponse> {
    const accepted = await this.#acceptMessage(request, caller, service);
    if ("reply" in accepted) return { message: accepted.reply };
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const waits = "turn" in accepted && !returnImmediately;
    const task = waits ? await accepted.turn.stoppedTask.promise : await this.#awaitCurrentTask(accepted);
    return { task: limitHistory(task, historyLength) };
  }

  /**
   * SendStreamingMessage: the task, then its events until the turn stops; or the plain reply. `service.after`: when the
   * caller sends a message again after a cut.
   */
  async sendStreamingMessage(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
  ): Promise<Subscription> {
    const releaseStream = this.#streamLimit.acquireWithRelease();
    try {
      const accepted = await this.#acceptMessage(request, caller, service);
      if ("reply" in accepted) {
        releaseStream();
        return createSingleEventSubscription(LogEvent.create(0, { message: accepted.reply }));
      }
      return await this.#createMessageStream(accepted, service.resumeAfterSeq, releaseStream);
    } catch (error) {
      releaseStream();
      throw error;
    }
  }

  /** GetTask. */
  async getTask({ id, historyLength }: GetTaskRequest, caller: Caller): Promise<Task> {
    const scope = this.#toScope(caller);
    const liveTask = this.#runners.findLive(scope, id)?.liveTask;
    const task = liveTask ? liveTask.getSnapshot() : (await this.#store.load(scope, id))?.task;
    if (!task) throw A2AError.taskNotFound(id);
    return limitHistory(task, historyLength);
  }

  /** ListTasks. */
  listTasks(request: ListTasksRequest, caller: Caller): Promise<ListTasksResponse> {
    return listTasks(this.#store, this.#toScope(caller), request);
  }

  /** CancelTask: the task as it is once the agent has stopped. A task that is canceled already is answered as it is. */
  async cancelTask({ id, metadata = {} }: CancelTaskRequest, caller: Caller): Promise<Task> {
    const runner = await this.#requireRunner(id, caller);
    const { liveTask } = runner;
    try {
      if (liveTask.state && !isTerminal(liveTask.state))
        runner.cancel("The task was canceled.", caller, metadata);
      else if (liveTask.state !== "TASK_STATE_CANCELED") {
        const state = liveTask.state ? formatTaskState(liveTask.state) : "gone";
        const text = `Task ${id} is ${state} and can no longer be canceled; read it with GetTask.`;
        throw new A2AError("TASK_NOT_CANCELABLE", text, { metadata: { taskId: id } });
      }
      while (!liveTask.hasEndedAt(liveTask.seq)) await liveTask.waitForCommit();
      return liveTask.getSnapshot();
    } finally {
      runner.release();
    }
  }

  /**
   * SubscribeToTask: the task as it is, then every later event until the task ends. With `afterSeq` exactly the events
   * behind that one instead, also of a task that has ended meanwhile.
   */
  async subscribeToTask(
    { id }: SubscribeToTaskRequest,
    caller: Caller,
    { resumeAfterSeq }: ServiceParameters = {},
  ): Promise<Subscription> {
    const runner = await this.#requireRunner(id, caller);
    const { liveTask } = runner;
    try {
      if (resumeAfterSeq === undefined && liveTask.hasEndedAt(liveTask.seq)) {
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
      return new LogSubscription(runner, this.#store, span, this.#streamLimit.acquireWithRelease());
    } finally {
      runner.release();
    }
  }

  #toScope({ tenant, principal }: Caller): TaskScope {
    return { agent: this.#agentId, tenant, principal };
  }

  async #requireRunner(taskId: string, caller: Caller): Promise<Runner> {
    const runner = await this.#runners.findAndRetain(this.#toScope(caller), taskId);
    if (!runner) throw A2AError.taskNotFound(taskId);
    return runner;
  }

  #acceptMessage(
    request: SendMessageRequest,
    caller: Caller,
    serviceParameters: ServiceParameters,
  ): Promise<AcceptResult> {
    if (this.#isClosing) throw createServerClosingError();
    const scope = this.#toScope(caller);
    const inbound = { request, caller, serviceParameters };
    if (!request.configuration?.taskPushNotificationConfig) return this.#inbox.accept(scope, inbound);
    if (!this.pushConfigs) throw createPushNotSupportedError();
    return this.pushConfigs
      .assertConfigAccepted(request, scope)
      .then(() => this.#inbox.accept(scope, inbound));
  }

  #createPushConfigOperations(
    { outbox, validateWebhook, redactSecrets = false }: EnginePushOptions,
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
      new PushConfigOperations({
        agentId: this.#agentId,
        store: pushStore,
        validateWebhook,
        generateId,
        redactSecrets,
        onChange,
      })
    );
  }

  /** The task as it is, once the message is durable. */
  async #awaitCurrentTask(accepted: Exclude<AcceptResult, { reply: unknown }>): Promise<Task> {
    const { runner } = accepted;
    if ("turn" in accepted) await accepted.turn.acceptedSeq.promise;
    const task = runner.liveTask.getSnapshot();
    if ("seq" in accepted) runner.release();
    return task;
  }

  /** The stream that answers a message. */
  async #createMessageStream(
    accepted: Exclude<AcceptResult, { reply: unknown }>,
    resumeAfterSeq: number | undefined,
    releaseStream: () => void,
  ): Promise<Subscription> {
    const { runner } = accepted;
    // A reader from here on, so that the first commit finds one and is kept at hand for it.
    if ("turn" in accepted) runner.retain();
    try {
      const seq = "turn" in accepted ? await accepted.turn.acceptedSeq.promise : accepted.seq;
      const span = computeSubscriptionSpan(accepted, seq, resumeAfterSeq);
      const hasStopped =
        isCaughtUpWhileInterrupted(runner, span) ||
        (span.afterSeq > seq && (await hasRequestedInput(runner, this.#store, span)));
      if (!hasStopped) return new LogSubscription(runner, this.#store, span, releaseStream);
      releaseStream();
      return createSingleEventSubscription(span.openingEvent);
    } finally {
      runner.release();
    }
  }
}

/** Where a message's stream begins: behind what the caller has, else with the task as the message's turn found it. */
function computeSubscriptionSpan(
  accepted: Exclude<AcceptResult, { reply: unknown }>,
  seq: number,
  resumeAfterSeq: number | undefined,
): SubscriptionSpan {
  const { liveTask } = accepted.runner;
  if (resumeAfterSeq !== undefined)
    return { afterSeq: requireResumeSeq(liveTask.seq, resumeAfterSeq), turnSeq: seq };
  // The first turn is the whole log: the task's birth is its opening.
  if (seq === 1) return { afterSeq: 0, turnSeq: seq };
  const startPoint = "turn" in accepted ? accepted.turn.startPoint : undefined;
  const { seq: afterSeq, task } = startPoint ?? { seq: liveTask.seq, task: liveTask.getSnapshot() };
  return { afterSeq, openingEvent: LogEvent.create(afterSeq, { task }), turnSeq: seq };
}

/** True when nobody is at work, the task waits for its user, and the reader knows all of it. */
function isCaughtUpWhileInterrupted(
  { liveTask, currentTurn }: Runner,
  { afterSeq }: SubscriptionSpan,
): boolean {
  return (
    !currentTurn && afterSeq >= liveTask.seq && liveTask.state !== undefined && isInterrupted(liveTask.state)
  );
}

/** A resume point, which must be in the log. */
function requireResumeSeq(lastSeq: number, resumeAfterSeq: number): number {
  if (resumeAfterSeq <= lastSeq) return resumeAfterSeq;
  const description = `${resumeAfterSeq} is greater than the number of the task's last event, ${lastSeq}; subscribe without it`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}
