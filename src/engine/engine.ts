import {
  A2AError,
  isInterrupted,
  isTerminal,
  LogEvent,
  stateName,
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
import type { Caller, Scope } from "./caller.ts";
import { systemClock, type Clock } from "./clock.ts";
import { randomId, type NewId } from "./new-id.ts";
import type { Committer } from "./committer.ts";
import { withHistory } from "./history.ts";
import { Inbox, type Accepted } from "./inbox.ts";
import { engineLimits, Places, type EngineLimits } from "./limits.ts";
import { listTasks } from "./listing.ts";
import { safely, type Observer } from "./observer.ts";
import type { Outbox } from "./push/outbox.ts";
import { pushNotSupported, Webhooks, type CheckWebhook } from "./push/webhooks.ts";
import { recover, type RecoveryContext } from "./recovery.ts";
import { closing, type Runner } from "./runner.ts";
import { Runners } from "./runners.ts";
import type { ServiceParameters } from "./service.ts";
import type { TaskStore } from "./store.ts";
import {
  hasAsked,
  LogSubscription,
  streamOf,
  type Subscription,
  type SubscriptionSpan,
} from "./subscription.ts";

/** What an engine needs to send push notifications; its store must have `push`. */
export interface EnginePush {
  /** Several engines that share a store share one. Opened and closed by whoever made it. */
  readonly outbox: Outbox;
  readonly check: CheckWebhook;
  /** Answer configurations without their token and credentials. Default false: their owner reads them. */
  readonly redact?: boolean;
}

export interface EngineOptions {
  readonly agent: Agent;
  /** Name of the agent within its server; tasks in the store belong to it. */
  readonly agentId: string;
  /** Must be open. Several engines may share one, and then share `committer`. */
  readonly store: TaskStore;
  readonly committer: Committer;
  /** Without it there are no push notifications. */
  readonly push?: EnginePush | undefined;
  readonly observer?: Observer;
  readonly clock?: Clock;
  readonly newId?: NewId;
  readonly limits?: Partial<EngineLimits>;
  /** Merge chunks of text that wait for the same commit. Default true. */
  readonly merge?: boolean;
  /** Recognise a message that comes again by its id (E10). Default true. */
  readonly deduplicate?: boolean;
  /** How long a cancelled agent may take to stop before it is cut off, in milliseconds. Default 5,000. */
  readonly cancelGraceMs?: number;
}

/** The operations of one agent (A2A §3.1), for callers that are known and requests that are well-formed. */
export class Engine {
  /** The operations on push notification configurations; undefined where there are none. */
  readonly webhooks: Webhooks | undefined;
  readonly #agentId: string;
  readonly #store: TaskStore;
  readonly #runners: Runners;
  readonly #inbox: Inbox;
  readonly #recovery: RecoveryContext;
  readonly #streams: Places;
  #closing = false;

  constructor(options: EngineOptions) {
    const { agent, store, committer, newId = randomId, clock = systemClock } = options;
    const limits = engineLimits(options.limits);
    this.#agentId = options.agentId;
    this.#store = store;
    this.#streams = new Places("open streams", limits.streams);
    this.#runners = new Runners({
      agent,
      store,
      committer,
      clock,
      newId,
      observer: safely(options.observer ?? {}),
      merge: options.merge ?? true,
      deduplicate: options.deduplicate ?? true,
      cancelGraceMs: options.cancelGraceMs ?? 5000,
      outbox: options.push?.outbox,
      keepTurns: (agent.afterRestart ?? "fail") !== "fail",
    });
    this.webhooks = options.push && this.#webhooks(options.push, newId);
    const deduplicate = options.deduplicate ?? true;
    const inbox = new Inbox({ agent, store, runners: this.#runners, newId, limits, deduplicate });
    this.#inbox = inbox;
    const { agentId } = options;
    this.#recovery = { agent, agentId, store, runners: this.#runners, inbox, attempts: limits.attempts };
  }

  /**
   * Settles what an earlier process left behind: its unfinished tasks go on as the agent says (`afterRestart`), or fail with
   * a reason (E9). To be called before anything else.
   */
  async open(): Promise<void> {
    await recover(this.#recovery);
  }

  /**
   * Stops the agents; those that do not end within `graceMs` are cut off. Unfinished tasks fail with a reason, or stay as
   * they are for the next `open`, where the agent goes on `afterRestart`.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const reason = "The server was stopped while the agent was at work; send the message again.";
    await Promise.allSettled(this.#runners.all().map((runner) => runner.stop(reason, graceMs)));
  }

  /** SendMessage: the task once it stops (or at once, with `returnImmediately`), or the agent's plain reply. */
  async send(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
  ): Promise<SendMessageResponse> {
    const accepted = await this.#accept(request, caller, service);
    if ("reply" in accepted) return { message: accepted.reply };
    const { returnImmediately, historyLength } = request.configuration ?? {};
    const waits = "turn" in accepted && !returnImmediately;
    const task = waits ? await accepted.turn.stopped.promise : await this.#present(accepted);
    return { task: withHistory(task, historyLength) };
  }

  /**
   * SendStreamingMessage: the task, then its events until the turn stops; or the plain reply. `service.after`: when the
   * caller sends a message again after a cut.
   */
  async stream(
    request: SendMessageRequest,
    caller: Caller,
    service: ServiceParameters = {},
  ): Promise<Subscription> {
    const leave = this.#streams.take();
    try {
      const accepted = await this.#accept(request, caller, service);
      if ("reply" in accepted) {
        leave();
        return streamOf(LogEvent.of(0, { message: accepted.reply }));
      }
      return await this.#follow(accepted, service.after, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** GetTask. */
  async get({ id, historyLength }: GetTaskRequest, caller: Caller): Promise<Task> {
    const scope = this.#scope(caller);
    const live = this.#runners.live(scope, id)?.live;
    const task = live ? live.snapshot() : (await this.#store.load(scope, id))?.task;
    if (!task) throw A2AError.taskNotFound(id);
    return withHistory(task, historyLength);
  }

  /** ListTasks. */
  list(request: ListTasksRequest, caller: Caller): Promise<ListTasksResponse> {
    return listTasks(this.#store, this.#scope(caller), request);
  }

  /** CancelTask: the task as it is once the agent has stopped. A task that is canceled already is answered as it is. */
  async cancel({ id, metadata = {} }: CancelTaskRequest, caller: Caller): Promise<Task> {
    const runner = await this.#find(id, caller);
    const { live } = runner;
    try {
      if (live.state && !isTerminal(live.state)) runner.cancel("The task was canceled.", caller, metadata);
      else if (live.state !== "TASK_STATE_CANCELED") {
        const is = live.state ? stateName(live.state) : "gone";
        const text = `Task ${id} is ${is} and can not be canceled any more.`;
        throw new A2AError("TASK_NOT_CANCELABLE", text, { metadata: { taskId: id } });
      }
      while (!live.endedAt(live.seq)) await live.changed();
      return live.snapshot();
    } finally {
      runner.letGo();
    }
  }

  /**
   * SubscribeToTask: the task as it is, then every later event until the task ends. With `after` exactly the events
   * behind that one instead, also of a task that has ended meanwhile.
   */
  async subscribe(
    { id }: SubscribeToTaskRequest,
    caller: Caller,
    { after }: ServiceParameters = {},
  ): Promise<Subscription> {
    const runner = await this.#find(id, caller);
    const { live } = runner;
    try {
      if (after === undefined && live.endedAt(live.seq)) {
        const text = `Task ${id} has ended and sends no more events; read it with GetTask.`;
        throw new A2AError("UNSUPPORTED_OPERATION", text, { metadata: { taskId: id } });
      }
      const span =
        after === undefined
          ? { after: live.seq, opening: LogEvent.of(live.seq, { task: live.snapshot() }) }
          : { after: within(live.seq, after) };
      return new LogSubscription(runner, this.#store, span, this.#streams.take());
    } finally {
      runner.letGo();
    }
  }

  #scope({ tenant, principal }: Caller): Scope {
    return { agent: this.#agentId, tenant, principal };
  }

  async #find(taskId: string, caller: Caller): Promise<Runner> {
    const runner = await this.#runners.find(this.#scope(caller), taskId);
    if (!runner) throw A2AError.taskNotFound(taskId);
    return runner;
  }

  #accept(request: SendMessageRequest, caller: Caller, service: ServiceParameters): Promise<Accepted> {
    if (this.#closing) throw closing();
    const scope = this.#scope(caller);
    const asked = { request, caller, service };
    if (!request.configuration?.taskPushNotificationConfig) return this.#inbox.accept(scope, asked);
    if (!this.webhooks) throw pushNotSupported();
    return this.webhooks.admit(request, scope).then(() => this.#inbox.accept(scope, asked));
  }

  #webhooks({ outbox, check, redact = false }: EnginePush, newId: NewId): Webhooks | undefined {
    const { push } = this.#store;
    const onChange = (scope: Scope, taskId: string, id: string, key?: number): void => {
      const runner = this.#runners.live(scope, taskId);
      if (runner) runner.live.watched = true;
      outbox.changed(scope, taskId, id, key);
    };
    return push && new Webhooks({ agentId: this.#agentId, store: push, check, newId, redact, onChange });
  }

  /** The task as it is, once the message is durable. */
  async #present(accepted: Exclude<Accepted, { reply: unknown }>): Promise<Task> {
    const { runner } = accepted;
    if ("turn" in accepted) await accepted.turn.accepted.promise;
    const task = runner.live.snapshot();
    if ("seq" in accepted) runner.letGo();
    return task;
  }

  /** The stream that answers a message. */
  async #follow(
    accepted: Exclude<Accepted, { reply: unknown }>,
    after: number | undefined,
    leave: () => void,
  ): Promise<Subscription> {
    const { runner } = accepted;
    // A reader from here on, so that the first commit finds one and is kept at hand for it.
    if ("turn" in accepted) runner.hold();
    try {
      const seq = "turn" in accepted ? await accepted.turn.accepted.promise : accepted.seq;
      const span = spanOf(accepted, seq, after);
      const over = isAtEnd(runner, span) || (span.after > seq && (await hasAsked(runner, this.#store, span)));
      if (!over) return new LogSubscription(runner, this.#store, span, leave);
      leave();
      return streamOf(span.opening);
    } finally {
      runner.letGo();
    }
  }
}

/** Where a message's stream begins: behind what the caller has, else with the task as the message's turn found it. */
function spanOf(
  accepted: Exclude<Accepted, { reply: unknown }>,
  seq: number,
  after: number | undefined,
): SubscriptionSpan {
  const { live } = accepted.runner;
  if (after !== undefined) return { after: within(live.seq, after), turn: seq };
  // The first turn is the whole log: the task's birth is its opening.
  if (seq === 1) return { after: 0, turn: seq };
  const found = "turn" in accepted ? accepted.turn.found : undefined;
  const { seq: at, task } = found ?? { seq: live.seq, task: live.snapshot() };
  return { after: at, opening: LogEvent.of(at, { task }), turn: seq };
}

/** True when nobody is at work, the task waits for its user, and the reader knows all of it. */
function isAtEnd({ live, turn }: Runner, { after }: SubscriptionSpan): boolean {
  return !turn && after >= live.seq && live.state !== undefined && isInterrupted(live.state);
}

/** A resume point, which must be in the log. */
function within(last: number, after: number): number {
  if (after <= last) return after;
  const description = `${after} is behind the task's last event, ${last}; subscribe without it`;
  throw A2AError.invalidParams([{ field: "Last-Event-ID", description }]);
}
