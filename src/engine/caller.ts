/** Who asks. (tenant, principal) owns tasks and contexts; somebody else's task is the same as no task. */
export interface Caller {
  /** Opaque; "" when the agent has no tenants. */
  readonly tenant: string;
  /** A stable name of the authenticated user; "" when nobody is authenticated. */
  readonly principal: string;
  /** True when the credentials are for no tenant and the request named this one. Whoever chooses is one caller in all of them. */
  readonly choseTenant?: boolean;
  /** What the credentials permit, where they say so; for agents to look at. Owns nothing, and is not kept. */
  readonly scopes?: readonly string[];
  /** What a token says of the caller, where it was a JWT. Not kept either. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Whose tasks: the owner and the agent. What every store operation is confined to. */
export interface TaskScope extends Pick<Caller, "tenant" | "principal"> {
  /** Id of the agent within its server. */
  readonly agent: string;
}

/** A string that is the same for the same caller and for nobody else. */
export function getCallerKey({ tenant, principal }: Pick<Caller, "tenant" | "principal">): string {
  return `${tenant.length}:${tenant}${principal}`;
}
