import {
  copyTask,
  fold,
  isEventRefusal,
  type Task,
  type TaskEvent,
  type Message,
  type SendMessageRequest,
  type TaskPushNotificationConfig,
} from "../protocol/index.ts";
import type { Caller, ContextScope, ServiceParameters } from "./caller.ts";

const PERSISTED_SERVICE_PARAMETERS = [
  "version",
  "extensions",
  "traceparent",
  "tracestate",
  "requestTraceparent",
  "parentTask",
  "needsTask",
  "isStreaming",
] as const;

/**
 * The persisted data of a running turn. The store keeps the persisted turn in addition to the task's log, so
 * that a later process can start the turn again. A persisted turn contains the agent's input, but neither the
 * scopes and claims of the caller nor the webhook. Stores treat a persisted turn as opaque JSON, except for `wakeAt`.
 */
export interface TurnRestartData {
  /** Sequence number of the turn's message. */
  readonly seq: number;
  /** Number of attempts at the turn so far. The turn of a node that starts no agents has 0 attempts. */
  readonly attempt: number;
  /**
   * Number of attempts that do not count as failed, because their node stopped normally, or died while other suspect
   * turns of the same group ran. Default: 0.
   */
  readonly excusedAttempts?: number;
  /** Number of suspect turns that this node started together with this attempt. Default: the turn was not suspect. */
  readonly groupSize?: number;
  /** Number of attempts in which this suspect turn was alone, before others started while it was running. Default: 0. */
  readonly outlivedRuns?: number;
  /** Time in milliseconds since 1970 before which no attempt has to start. Default: the next attempt starts at once. */
  readonly wakeAt?: number;
  readonly request: Omit<SendMessageRequest, "message">;
  readonly service: Pick<ServiceParameters, (typeof PERSISTED_SERVICE_PARAMETERS)[number]>;
  readonly choseTenant?: boolean;
  /** Contexts to which the caller was limited, so that a later attempt reads no more than the first. */
  readonly contextScope?: ContextScope;
  /** W3C `traceparent` of the span of this attempt. The span of the next attempt has a link to this span. */
  readonly runTraceparent?: string;
  /**
   * Time in milliseconds since 1970 at which the traced attempt began. Absent after the node of the attempt has stopped
   * normally, because the span of the attempt has then ended.
   */
  readonly runStartedAt?: number;
}

/** The parts of a turn that its persisted data contains, directly or in a shorter form. */
interface PersistableTurn {
  readonly seq: number;
  readonly request: SendMessageRequest;
  readonly serviceParameters: ServiceParameters;
  readonly caller: Caller;
  readonly attempt: number;
  readonly excusedAttempts: number;
  readonly groupSize: number | undefined;
  readonly outlivedRuns: number;
  readonly span: { readonly traceparent: string } | undefined;
  /** Time in milliseconds since 1970 at which the span began. */
  readonly spanStartedAt: number | undefined;
}

export function toTurnRestartData(turn: PersistableTurn): TurnRestartData {
  const { seq, request, serviceParameters, caller, attempt, span, spanStartedAt } = turn;
  const { excusedAttempts, groupSize, outlivedRuns } = turn;
  const { tenant, configuration = {}, metadata } = request;
  const { taskPushNotificationConfig: _secrets, ...publicConfiguration } = configuration;
  const service = PERSISTED_SERVICE_PARAMETERS.flatMap((name) =>
    serviceParameters[name] === undefined ? [] : [[name, serviceParameters[name]] as const],
  );
  return {
    seq,
    attempt,
    ...(excusedAttempts > 0 ? { excusedAttempts } : {}),
    ...(groupSize === undefined ? {} : { groupSize }),
    ...(outlivedRuns > 0 ? { outlivedRuns } : {}),
    request: {
      configuration: publicConfiguration,
      ...(tenant === undefined ? {} : { tenant }),
      ...(metadata === undefined ? {} : { metadata }),
    },
    service: Object.fromEntries(service),
    ...(caller.choseTenant ? { choseTenant: true } : {}),
    ...(caller.contextScope ? { contextScope: caller.contextScope } : {}),
    ...(span ? { runTraceparent: span.traceparent } : {}),
    ...(span && spanStartedAt !== undefined ? { runStartedAt: spanStartedAt } : {}),
  };
}

/** Returns the data of a turn whose current attempt does not count as failed. */
export function excuseAttempt({ groupSize: _ended, ...turn }: TurnRestartData): TurnRestartData {
  return { ...turn, excusedAttempts: (turn.excusedAttempts ?? 0) + 1 };
}

/**
 * Returns the changed data of a suspect turn that was alone, once others start while it is running. A death of the node
 * then does not count, as in a group of two.
 */
export function countAsGroupOfTwo({
  outlivedRuns = 0,
}: Pick<TurnRestartData, "outlivedRuns">): Required<Pick<TurnRestartData, "groupSize" | "outlivedRuns">> {
  return { groupSize: 2, outlivedRuns: outlivedRuns + 1 };
}

/** Returns the number of attempts at a turn that count as failed, because their node died. */
export function countFailedAttempts({ attempt, excusedAttempts = 0 }: TurnRestartData): number {
  return attempt - excusedAttempts;
}

/** Returns the caller of a persisted turn. The returned caller has no scopes and no claims. */
export function restoreCaller(
  { tenant, principal }: Caller,
  { choseTenant, contextScope }: Pick<TurnRestartData, "choseTenant" | "contextScope">,
): Caller {
  return {
    tenant,
    principal,
    ...(choseTenant ? { choseTenant } : {}),
    ...(contextScope ? { contextScope } : {}),
  };
}

/**
 * The persisted data of a turn that waits for the current turn of its task. The store keeps the queue of each
 * task, so that a later process can run the queued turns in order. The data excludes the scopes and claims of
 * the caller. Stores treat the members except `position` as opaque JSON.
 */
export interface QueuedTurnData extends Omit<
  TurnRestartData,
  "seq" | "attempt" | "groupSize" | "outlivedRuns" | "runTraceparent" | "runStartedAt"
> {
  /** Position in the task's queue. Positions increase, and a task never reuses the position of a queued turn. */
  readonly position: number;
  /** The caller's message, with the ids of its task and context. */
  readonly message: Message;
  /** Webhook that the task registers when the turn begins. */
  readonly webhook?: TaskPushNotificationConfig;
}

/** A change of a task's stored queue. The store adds the new turns before it removes turns. */
export interface TurnQueueChange {
  readonly added: readonly QueuedTurnData[];
  /** The store removes every queued turn up to this position. By default, the store removes no turn. */
  readonly removedThrough?: number;
}

export function toQueuedTurnData(
  turn: PersistableTurn & { readonly message: Message },
  position: number,
): QueuedTurnData {
  const { seq: _seq, attempt: _attempt, ...data } = toTurnRestartData(turn);
  const webhook = turn.request.configuration?.taskPushNotificationConfig;
  return { position, message: turn.message, ...data, ...(webhook ? { webhook } : {}) };
}

/** Returns the request and the service parameters of a persisted turn. */
export function restoreQueuedRequest({ message, request, service, webhook }: QueuedTurnData): {
  readonly request: SendMessageRequest;
  readonly serviceParameters: ServiceParameters;
} {
  const configuration = { ...request.configuration, ...(webhook && { taskPushNotificationConfig: webhook }) };
  // The task exists, so a reply without a task must complete it.
  return {
    request: { ...request, configuration, message },
    serviceParameters: { ...service, needsTask: true },
  };
}

/**
 * Rewrites the artifact events of a restarted turn. An earlier attempt may have left partial artifacts in
 * the task. The first event for an artifact therefore restores the artifact's content from the start of the
 * turn and adds the new parts.
 */
export class RestartedTurnArtifactRewriter {
  readonly #initialTask: Task;
  readonly #seenArtifactIds = new Set<string>();

  /** `initialTask` is the task at the start of the turn. */
  constructor(initialTask: Task) {
    this.#initialTask = initialTask;
  }

  /** Returns the event to store for the current attempt at the turn. */
  rewriteArtifactEvent(event: TaskEvent): TaskEvent {
    if (!("artifactUpdate" in event)) return event;
    const { append, ...update } = event.artifactUpdate;
    const { artifactId } = update.artifact;
    const isFirst = !this.#seenArtifactIds.has(artifactId);
    this.#seenArtifactIds.add(artifactId);
    if (!append || !isFirst) return event;
    const grown = fold(copyTask(this.#initialTask), event);
    const artifact = isEventRefusal(grown)
      ? undefined
      : grown.artifacts?.find((one) => one.artifactId === artifactId);
    return artifact ? { artifactUpdate: { ...update, artifact } } : event;
  }
}
