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
   * True if the request chose the tenant because the credentials are not bound to a tenant. Per-caller
   * limits then apply to the principal across all tenants.
   */
  readonly choseTenant?: boolean;
  /**
   * Scopes that the caller's credentials grant. The agent can check the scopes, which do not affect
   * ownership and are not persisted.
   */
  readonly scopes?: readonly string[];
  /** Claims of the caller's JWT, if the credentials are a JWT. The claims are not persisted. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The owner and the agent of a set of tasks. Every store operation is limited to one scope. */
export interface TaskScope extends Pick<Caller, "tenant" | "principal"> {
  /** Id of the agent in the agent's server. */
  readonly agent: string;
}

/** Returns a unique string for the caller. */
export function getCallerKey({ tenant, principal }: Pick<Caller, "tenant" | "principal">): string {
  return `${tenant.length}:${tenant}${principal}`;
}
