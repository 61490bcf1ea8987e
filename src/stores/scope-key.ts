import type { TaskScope } from "../engine/index.ts";

/** A scope as one string. Two scopes never have the same one, whatever characters their names are made of. */
export function getScopeKey({ tenant, principal, agent }: TaskScope): string {
  return `${tenant.length}:${principal.length}:${tenant}${principal}${agent}`;
}
