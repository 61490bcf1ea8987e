import { computeSha256Hex } from "../base/data-structures/index.ts";
import type { SteeringSignal } from "../protocol/index.ts";

/**
 * The authenticated principal that sends requests. A caller, identified by (tenant, principal), owns tasks
 * and contexts. Requests for another caller's task return `TASK_NOT_FOUND`.
 */
export interface Caller {
  /** Opaque tenant name. The tenant is the empty string when the agent has no tenants. */
  readonly tenant: string;
  /** Stable name of the authenticated principal, or the empty string without authentication. */
  readonly principal: string;
  /**
   * True if the request selected the tenant, because the caller's credentials are not bound to a tenant. If
   * `choseTenant` is true, per-caller limits apply to the principal across all tenants.
   */
  readonly choseTenant?: boolean;
  /**
   * Network of an anonymous client: its IPv4 address, or the IPv6 network `/64` that contains its address. All
   * anonymous clients are one caller, but limits apply to each network. Absent if the caller is not anonymous. Not
   * persisted.
   */
  readonly anonymousNetwork?: string;
  /**
   * Scopes that the caller's credentials grant. Agents can check the scopes. The scopes of a caller do not
   * affect task ownership and are not persisted.
   */
  readonly scopes?: readonly string[];
  /**
   * Contexts to which the caller's credentials are limited, such as a token of `mintContextToken`. Tasks in other
   * contexts do not exist for the caller. Persisted with unfinished turns. Default: all contexts of the caller.
   */
  readonly contextScope?: ContextScope;
  /** Claims of the caller's JWT, if the credentials are a JWT. The claims of a caller are not persisted. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/**
 * The owner and the agent of a set of tasks. Every store operation reads or changes the tasks of one scope.
 */
export interface TaskScope extends Pick<Caller, "tenant" | "principal"> {
  /** Id of the agent within its server. */
  readonly agent: string;
}

/**
 * Returns the key of the holder whose share the requests of a caller use. The holder is the caller, the
 * principal of a caller who chose the tenant, or the network of an anonymous client.
 */
export function getLimitHolderKey(caller: Caller): string {
  if (caller.anonymousNetwork !== undefined) return `network:${caller.anonymousNetwork}`;
  // A principal that can choose its tenant would otherwise have a separate share in each tenant.
  return getCallerKey(caller.choseTenant ? { ...caller, tenant: "" } : caller);
}

/** Returns a string that uniquely identifies a pair of tenant and principal. */
export function getCallerKey({ tenant, principal }: Pick<Caller, "tenant" | "principal">): string {
  return `${tenant.length}:${tenant}${principal}`;
}

/** Returns a string that identifies a task among the tasks of all agents and callers of a store. */
export function getTaskKey(scope: TaskScope, taskId: string): string {
  return `${scope.agent}/${taskId}/${getCallerKey(scope)}`;
}

/**
 * Limits a caller to some of the caller's contexts. Tasks in other contexts do not exist for the limited caller. A
 * context is accessible if `contextIds` contains its id, or if the id belongs to `namespace`.
 */
export interface ContextScope {
  /** Ids of accessible contexts. A context need not exist, because the first message starts it. */
  readonly contextIds: readonly string[];
  /**
   * Namespace in which the caller may start contexts. The ids of these contexts begin with the namespace and a dot. By
   * default, the caller starts no contexts, except those in `contextIds`.
   */
  readonly namespace?: string;
  /** Ids of the agents that the caller may use. Default: all agents. */
  readonly agentIds?: readonly string[];
}

/** Returns true if a limited caller may access a context. */
export function isContextInScope({ contextIds, namespace }: ContextScope, contextId: string): boolean {
  return contextIds.includes(contextId) || (namespace !== undefined && contextId.startsWith(`${namespace}.`));
}

export function isAgentInScope({ agentIds }: ContextScope, agentId: string): boolean {
  return agentIds === undefined || agentIds.includes(agentId);
}

/**
 * Returns the id of the context that a message without a context starts. A repeated message has the same context, so
 * that the engine recognizes it.
 */
export function createContextIdInNamespace(namespace: string, messageId: string): string {
  return `${namespace}.${computeSha256Hex(messageId).slice(0, 32)}`;
}

/**
 * Returns the contexts that a task list of a limited caller contains. Without a requested context, the list contains
 * the contexts that the scope names, because a namespace can contain any number of contexts.
 */
export function selectListedContextIds(
  scope: ContextScope,
  requestedContextId: string | undefined,
): readonly string[] {
  if (!requestedContextId) return [...new Set(scope.contextIds)];
  return isContextInScope(scope, requestedContextId) ? [requestedContextId] : [];
}

/** Request data that is not part of the operation's parameters (A2A §3.2.6). */
export interface ServiceParameters {
  /**
   * A2A version of the request in the form `Major.Minor`. Webhooks that the request registers receive
   * notifications in the same A2A version. Default: 1.0.
   */
  readonly version?: string;
  /** URIs of the extensions that are active for one request. Default: none. */
  readonly extensions?: readonly string[];
  /** Sequence number of the last event that the client received, if the request resumes a stream. */
  readonly resumeAfterSeq?: number | undefined;
  /**
   * The request's `traceparent` header (W3C Trace Context), which identifies the caller's span. The server
   * does not validate the `traceparent` header.
   */
  readonly traceparent?: string | undefined;
  /** The request's `tracestate` header. Undefined if the `traceparent` header is invalid. */
  readonly tracestate?: string | undefined;
  /**
   * W3C `traceparent` of the server's span for the request, which is the parent of the agent's run. Undefined if the
   * server does not trace its requests.
   */
  readonly requestTraceparent?: string | undefined;
  /** The task of the agent that sends the request, as the caller states. */
  readonly parentTask?: { readonly taskId: string; readonly agent?: string | undefined } | undefined;
  /**
   * True if the caller requires a task. If `needsTask` is true and the agent replies without a task, the
   * server creates a task that the reply completes.
   */
  readonly needsTask?: boolean | undefined;
  /** True if the stream also contains the users' messages, as `message` events. Default: false. */
  readonly includesMessages?: boolean;
  /**
   * True if a SubscribeToTask stream ends when the task waits for its user, as the stream of a message does.
   * Default: false.
   */
  readonly endsAtInputRequest?: boolean | undefined;
  /** Effect of the message on a running agent. By default, `Agent.deliver` and `whileWorking` decide. */
  readonly steering?: SteeringSignal | undefined;
  /**
   * Approximate size of the request in characters of JSON, such as the length of its body. By default, the engine
   * measures the request. A later attempt at the turn has no known size.
   */
  readonly requestSize?: number | undefined;
  /** True if the request is SendStreamingMessage. The engine sets `isStreaming`. */
  readonly isStreaming?: boolean;
}
