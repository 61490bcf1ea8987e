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
    const { agent, store, committer, generateId: newId = generateUuidV7, clock = systemClock } = options;
    const limits = resolveEngineLimits(options.limits);
    this.#agentId = options.agentId;
    this.#store = store;
    this.#streamLimit = new ConcurrencyLimit("open streams", limits.streams);
    this.#runners = new RunnerRegistry({
      agent,
      store,
      committer,
      clock,
      generateId: newId,
      observer: withSafeListeners(options.observer ?? {}),
      mergeChunks: options.mergeChunks ?? true,
      deduplicateMessages: options.deduplicateMessages ?? true,
      cancelGraceMs: options.cancelGraceMs ?? 5000,
      outbox: options.push?.outbox,
      persistTurns: (agent.afterRestart ?? "fail") !== "fail",
    });
    this.pushConfigs = options.push && this.#createPushConfigOperations(options.push, newId);
    const deduplicate = options.deduplicateMessages ?? true;
    const inbox = new Inbox({
      agent,
      store,
      runners: this.#runners,
      generateId: newId,
      limits,
      deduplicateMessages: deduplicate,
    });
    this.#inbox = inbox;
    const { agentId } = options;
    this.#recoveryContext = {
      agent,
      agentId,
      store,
      runners: this.#runners,
      inbox,
      turnAttempts: limits.turnAttempts,
    };
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
    const leave = this.#streamLimit.acquireWithRelease();
    try {
      const accepted = await this.#acceptMessage(request, caller, service);
      if ("reply" in accepted) {
        leave();
        return createSingleEventSubscription(LogEvent.create(0, { message: accepted.reply }));
      }
      return await this.#createMessageStream(accepted, service.resumeAfterSeq, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** GetTask. */
  async getTask({ id, historyLength }: GetTaskRequest, caller: Caller): Promise<Task> {
    const scope = this.#toScope(caller);
    const live = this.#runners.findLive(scope, id)?.liveTask;
    const task = live ? live.getSnapshot() : (await this.#store.load(scope, id))?.task;
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
    const { liveTask: live } = runner;
    try {
      if (live.state && !isTerminal(live.state)) runner.cancel("The task was canceled.", caller, metadata);
      else if (live.state !== "TASK_STATE_CANCELED") {
        const is = live.state ? formatTaskState(live.state) : "gone";
        const text = `Task ${id} is ${is} and can not be canceled any more.`;
        throw new A2AError("TASK_NOT_CANCELABLE", text, { metadata: { taskId: id } });
      }
      while (!live.hasEndedAt(live.seq)) await live.waitForCommit();
      return live.getSnapshot();
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
    { resumeAfterSeq: after }: ServiceParameters = {},
  ): Promise<Subscription> {
    const runner = await this.#requireRunner(id, caller);
    const { liveTask: live } = runner;
    try {
      if (after === undefined && live.hasEndedAt(live.seq)) {
        const text = `Task ${id} has ended and sends no more events; read it with GetTask.`;
        throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId: id } });
      }
      const span =
        after === undefined
          ? { afterSeq: live.seq, openingEvent: LogEvent.create(live.seq, { task: live.getSnapshot() }) }
          : { afterSeq: requireResumeSeq(live.seq, after) };
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
    service: ServiceParameters,
  ): Promise<AcceptResult> {
    if (this.#isClosing) throw createServerClosingError();
    const scope = this.#toScope(caller);
    const inbound = { request, caller, serviceParameters: service };
    if (!request.configuration?.taskPushNotificationConfig) return this.#inbox.accept(scope, inbound);
    if (!this.pushConfigs) throw createPushNotSupportedError();
    return this.pushConfigs
      .assertConfigAccepted(request, scope)
      .then(() => this.#inbox.accept(scope, inbound));
  }

  #createPushConfigOperations(
    { outbox, validateWebhook: check, redactSecrets: redact = false }: EnginePushOptions,
    newId: IdGenerator,
  ): PushConfigOperations | undefined {
    const { pushStore: push } = this.#store;
    const onChange = (scope: TaskScope, taskId: string, id: string, key?: number): void => {
      const runner = this.#runners.findLive(scope, taskId);
      if (runner) runner.liveTask.mayHaveWebhooks = true;
      outbox.notifyWebhookChange(scope, taskId, id, key);
    };
    return (
      push &&
      new PushConfigOperations({
        agentId: this.#agentId,
        store: push,
        validateWebhook: check,
        generateId: newId,
        redactSecrets: redact,
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
    after: number | undefined,
    leave: () => void,
  ): Promise<Subscription> {
    const { runner } = accepted;
    // A reader from here on, so that the first commit finds one and is kept at hand for it.
    if ("turn" in accepted) runner.retain();
    try {
      const seq = "turn" in accepted ? await accepted.turn.acceptedSeq.promise : accepted.seq;
      const span = computeSubscriptionSpan(accepted, seq, after);
      const over =
        isCaughtUpWhileInterrupted(runner, span) ||
        (span.afterSeq > seq && (await hasRequestedInput(runner, this.#store, span)));
      if (!over) return new LogSubscription(runner, this.#store, span, leave);
      leave();
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
  after: number | undefined,
): SubscriptionSpan {
  const { liveTask: live } = accepted.runner;
  if (after !== undefined) return { afterSeq: requireResumeSeq(live.seq, after), turnSeq: seq };
  // The first turn is the whole log: the task's birth is its opening.
  if (seq === 1) return { afterSeq: 0, turnSeq: seq };
  const found = "turn" in accepted ? accepted.turn.startPoint : undefined;
  const { seq: at, task } = found ?? { seq: live.seq, task: live.getSnapshot() };
  return { afterSeq: at, openingEvent: LogEvent.create(at, { task }), turnSeq: seq };
}

/** True when nobody is at work, the task waits for its user, and the reader knows all of it. */
function isCaughtUpWhileInterrupted(
  { liveTask: live, currentTurn: turn }: Runner,
  { afterSeq: after }: SubscriptionSpan,
): boolean {
  return !turn && after >= live.seq && live.state !== undefined && isInterrupted(live.state);
}

/** A resume point, which must be in the log. */
function requireResumeSeq(last: number, after: number): number {
  if (after <= last) return after;
  const description = `${after} is behind the task's last event, ${last}; subscribe without it`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}
