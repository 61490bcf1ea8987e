import type { TaskScope } from "../engine/index.ts";

/** Returns a string that identifies a scope. Different scopes always have different keys. */
export function getScopeKey({ tenant, principal, agent }: TaskScope): string {
  return `${tenant.length}:${principal.length}:${tenant}${principal}${agent}`;
}
