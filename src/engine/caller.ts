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
   * Scopes that the caller's credentials grant. Agents can check the scopes. The scopes of a caller do not
   * affect task ownership and are not persisted.
   */
  readonly scopes?: readonly string[];
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

/** Returns a string that uniquely identifies a pair of tenant and principal. */
export function getCallerKey({ tenant, principal }: Pick<Caller, "tenant" | "principal">): string {
  return `${tenant.length}:${tenant}${principal}`;
}
