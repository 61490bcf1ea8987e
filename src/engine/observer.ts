import type { LogEvent, TaskState } from "../protocol/index.ts";
import type { AgentCallReport, Run } from "./agent.ts";
import type { ServiceParameters, TaskScope } from "./caller.ts";
import type { StoreGauges, StoreMigrationReport, StoreStateChange } from "./store-health.ts";

/**
 * Listeners for the activity of an engine. The engine calls the listeners synchronously after each activity
 * and ignores their errors, so a listener cannot affect a task.
 */
export interface Observer {
  /** Called after the store has committed an event. */
  onEvent?(seen: { scope: TaskScope; taskId: string; event: LogEvent }): void;
  /** Called when an agent starts or ends its work on a turn. */
  onRun?(seen: RunReport): void;
  /** Called after an agent has called a language model or a tool, if the adapter of the agent reports the call. */
  onAgentCall?(seen: { scope: TaskScope; taskId: string; call: AgentCallReport }): void;
  /** Called after each commit of the task store. A commit contains the pending events of all tasks. */
  onCommit?(seen: CommitReport): void;
  /**
   * Called after each successful or failed delivery of a push notification, and when delivery to a webhook
   * stops permanently. `reason` contains no secrets.
   */
  onPush?(seen: PushDeliveryReport): void;
  /**
   * Called after each sweep that deleted data, that follows an eviction, that found more data than `maxBytes` allows, or
   * that found deletions to delay after a jump of the clock.
   */
  onSweep?(seen: SweepReport): void;
  /**
   * Called after each change of the state of the task store, for example after the disk has become full. The
   * change to `healthy` reports the end of the fault.
   */
  onStoreState?(seen: StoreStateChange): void;
  /**
   * Called while the task store migrates data of an earlier version of Colloquy: before the backup, at most once
   * per second before a step, and at the end.
   */
  onStoreMigration?(seen: StoreMigrationReport): void;
  /**
   * Called when the store has opened and then every 10 seconds, with the connections, the leases, and the commits of
   * the PostgreSQL store. Other stores have no gauges.
   */
  onStoreGauges?(seen: StoreGauges): void;
  /**
   * Called with each error that no caller receives, and with each error whose details are hidden from the
   * caller.
   */
  onError?(seen: {
    where: string;
    error: unknown;
    taskId?: string;
    errorId?: string;
    /** W3C `traceparent` of the agent's run in which the error occurred. */
    traceparent?: string;
  }): void;
  /**
   * Called for a probable mistake in the code of an agent or in the configuration of the server. No caller receives the
   * message.
   */
  onWarning?(seen: { where: string; message: string; taskId?: string }): void;
  /**
   * Called when the server rejects credentials, for example because a token has expired. `reason` contains
   * no secrets. Callers receive the same message for all invalid credentials.
   */
  onCredentialsRejected?(seen: { scheme: string; reason: string }): void;
  /**
   * Called after the server has disconnected clients that took no byte of a response for `limits.writeStallMs`. At most
   * once per minute and remote address.
   */
  onReaderStalled?(seen: StalledReaderReport): void;
  /** Called when the server starts the response to a request. */
  onRequest?(seen: RequestReport): void;
  /** Called before an operator sees tasks of other callers, or acts on such a task. */
  onOperatorAccess?(seen: OperatorAccessReport): void;
}

/** A look at tasks of other callers, or an action on such a task. */
export interface OperatorAccessReport {
  /** Principal of the operator. */
  readonly operator: string;
  /** For example `list tasks`, `read task`, or `CancelTask`. */
  readonly action: string;
  readonly agent?: string;
  readonly taskId?: string;
  /** Owner of the task. */
  readonly owner?: Pick<TaskScope, "tenant" | "principal">;
  /** IP address of the operator, or of a proxy. */
  readonly remoteAddress?: string;
}

/** A commit of the task store. */
export interface CommitReport {
  /** Number of committed events, or of events that could not be committed. */
  readonly events: number;
  readonly durationMs: number;
  readonly error?: unknown;
}

/** Start or end of an agent's work on a turn. */
export interface RunReport {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
  readonly phase: "begin" | "end";
  readonly attempt: number;
  /** W3C `traceparent` of the run's span, unless the server does not trace runs. */
  readonly traceparent?: string | undefined;
  /** The task of the agent that sent the message, as the caller states. */
  readonly parentTask?: { readonly taskId: string; readonly agent?: string | undefined } | undefined;
  /** The error that the agent threw. */
  readonly error?: unknown;
  /** State of the task at the end of the run. */
  readonly state?: TaskState | undefined;
}

/** Clients that were disconnected because they did not read a response. */
export interface StalledReaderReport {
  /** The caller of the last request, unless the caller is anonymous. */
  readonly caller?: Pick<TaskScope, "tenant" | "principal">;
  /** IP address of the clients, or of their proxy. */
  readonly remoteAddress: string | undefined;
  /** Number of connections that were closed since the last report about this address. */
  readonly connections: number;
  readonly timeoutMs: number;
}

/** Outcome of a request. */
export interface RequestReport {
  /** HTTP method, or `gRPC`. */
  readonly method: string;
  /** URL path without the query, because the query may contain credentials. */
  readonly path: string;
  /** HTTP status code, or status name of gRPC, for example `OK`. */
  readonly status: number | string;
  /** Time in milliseconds between the arrival of the request and the start of the response. */
  readonly durationMs: number;
  /** The `traceparent` header of the request. The server has not validated the header. */
  readonly traceparent?: string | undefined;
}

/** Result of delivering an event to a webhook. */
export interface PushDeliveryReport {
  /** The tenant, the principal, and the agent of the task. */
  readonly scope: TaskScope;
  /** Id of the task. */
  readonly taskId: string;
  /** Id of the push configuration. */
  readonly configId: string;
  /** Sequence number of the event. */
  readonly seq: number;
  /** `failed` if the server tries again, and `dead` if the server has stopped the delivery. */
  readonly outcome: "delivered" | "failed" | "dead";
  /** True if the earlier delivery to the webhook succeeded or does not exist. Present if the outcome is `failed`. */
  readonly isFirstFailure?: boolean;
  /** Description of the failure. Present unless the outcome is `delivered`. */
  readonly reason?: string;
  /** Time until the next attempt in milliseconds. Present if the outcome is `failed`. */
  readonly retryInMs?: number;
}

/** Result of a sweep, which deletes old tasks from the store. */
export interface SweepReport {
  /** Number of tasks that were deleted completely. */
  readonly deletedTasks: number;
  /** Number of tasks whose events were deleted, and which remain in the store. */
  readonly trimmedTasks: number;
  /**
   * Number of tasks that the memory store has deleted since the last sweep, because of `maxBytes` or
   * `maxFinishedTasks`.
   */
  readonly evictedTasks: number;
  /** Number of evicted tasks that waited for their user. */
  readonly evictedWaitingTasks: number;
  /** True if the store is larger than `maxBytes`, and has no ended tasks left that may be deleted. */
  readonly isOverMaxBytes: boolean;
  /** Present in the first report after the wall clock has jumped ahead, if the jump has made tasks due. */
  readonly delayed?: DelayedDeletions;
}

/**
 * Deletions that wait because the wall clock has jumped ahead, or because the last sweep was long ago. A clock that is
 * wrong would otherwise delete tasks before their time.
 */
export interface DelayedDeletions {
  /** Time in milliseconds by which the wall clock is ahead of the time that the server trusts. */
  readonly clockAheadMs: number;
  /** Running time in milliseconds until the server trusts the wall clock. */
  readonly delayMs: number;
  /** Number of ended tasks that wait for their deletion. */
  readonly endedTasks: number;
  /** Number of tasks that wait for their user, and whose deletion waits. */
  readonly waitingTasks: number;
  /** Number of other tasks whose events wait for their deletion. */
  readonly trimmedTasks: number;
}

const LISTENER_NAMES = Object.keys({
  onEvent: true,
  onRun: true,
  onAgentCall: true,
  onCommit: true,
  onPush: true,
  onSweep: true,
  onStoreState: true,
  onStoreMigration: true,
  onStoreGauges: true,
  onError: true,
  onWarning: true,
  onCredentialsRejected: true,
  onReaderStalled: true,
  onRequest: true,
  onOperatorAccess: true,
} satisfies Record<keyof Observer, true>) as (keyof Observer)[];

/**
 * Returns an observer whose listeners cannot throw. Missing listeners stay missing, because frequently executed code
 * checks for them before building the report.
 */
export function withSafeListeners(observer: Observer): Observer {
  const listeners = LISTENER_NAMES.flatMap((name) => {
    const listener = observer[name]?.bind(observer) as ((seen: unknown) => void) | undefined;
    return listener ? [[name, withListenerErrorsSuppressed(listener)] as const] : [];
  });
  return Object.fromEntries(listeners);
}

function withListenerErrorsSuppressed<A>(listener: (seen: A) => void): (seen: A) => void {
  return (seen) => {
    try {
      // The engine ignores synchronous and asynchronous errors of a listener, because no caller can handle
      // them.
      const result: unknown = listener(seen);
      if (result instanceof Promise) result.catch(() => {});
    } catch {}
  };
}

/** Continues the traces of requests in the runs of agents. The engine itself records no spans. */
export interface RunTracing {
  /** Starts the span of an agent's run, which handles the message of the turn. */
  startRun(turn: TracedTurn, task: TracedTask): RunSpan;
}

/** The turn of a traced run. */
export interface TracedTurn {
  readonly serviceParameters: ServiceParameters;
  readonly attempt: number;
  /** The earlier attempt, if a server process has stopped during the run. */
  readonly earlierRun: EarlierRun | undefined;
  /** Returns a function that reports a call of the agent, or `undefined` if nothing observes the calls. */
  findCallReporter(task: TracedTask): Run["reportCall"];
}

/** The task of a traced run. */
export interface TracedTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly contextId: string;
}

/** An attempt at a turn that a stopped server process has started. */
export interface EarlierRun {
  /** W3C `traceparent` of the span of the attempt. */
  readonly traceparent: string;
  /**
   * Start of the span in milliseconds since 1970, if the span is lost because the process was killed. Undefined if the
   * process has ended the span.
   */
  readonly lostSince: number | undefined;
}

/** The span of an agent's run. */
export interface RunSpan {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
  /** Runs a part of the agent's work, so that its calls belong to the span. */
  run<T>(work: () => T): T;
  /** Ends the span. `state` is the state of the task, and `error` is the error that the agent threw. */
  end(outcome: { readonly state: TaskState | undefined; readonly error: unknown }): void;
}
