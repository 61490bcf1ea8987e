/**
 * The authenticated principal that sends requests. A caller, identified by (tenant, principal), owns tasks
 * and contexts. Requests for another caller's task return `TASK_NOT_FOUND`.
 */
export interface Caller {
  /** Opaque tenant name. The name is empty when the agent has no tenants. */
  readonly tenant: string;
  /** Stable name of the authenticated principal. The name is empty without authentication. */
  readonly principal: string;
  /**
   * True when the request chose this tenant and the credentials are not bound to a tenant. Per-caller limits
   * then apply to the principal across all tenants.
   */
  readonly choseTenant?: boolean;
  /**
   * Scopes that the credentials grant, for the agent to check. The scopes do not affect ownership and are not
   * persisted.
   */
  readonly scopes?: readonly string[];
  /** Claims of the caller's JWT, if the credentials are a JWT. The claims are not persisted. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The owner and the agent of a set of tasks. Every store operation is limited to one scope. */
export interface TaskScope extends Pick<Caller, "tenant" | "principal"> {
  /** Id of the agent in its server. */
  readonly agent: string;
}

/** Returns a string that identifies the caller. Different callers always have different keys. */
export function getCallerKey({ tenant, principal }: Pick<Caller, "tenant" | "principal">): string {
  return `${tenant.length}:${tenant}${principal}`;
}
