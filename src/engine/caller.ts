import type { ContextScope } from "./context-scope.ts";

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
