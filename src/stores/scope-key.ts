import type { TaskScope } from "../engine/index.ts";

/** Returns a unique string for the scope. */
export function getScopeKey({ tenant, principal, agent }: TaskScope): string {
  return `${tenant.length}:${principal.length}:${tenant}${principal}${agent}`;
}
