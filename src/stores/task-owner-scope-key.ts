import type { TaskScope } from "../engine/index.ts";

/** Returns a string that is different for every scope. */
export function getScopeKey({ tenant, principal, agent }: TaskScope): string {
  return `${tenant.length}:${principal.length}:${tenant}${principal}${agent}`;
}

/** Returns a string that is different for every task. */
export function getTaskKey(scope: TaskScope, taskId: string): string {
  return `${taskId} ${getScopeKey(scope)}`;
}

export function isSameScope(a: TaskScope, b: TaskScope): boolean {
  return a.principal === b.principal && a.tenant === b.tenant && a.agent === b.agent;
}

/** Returns the scope in a row of a database. */
export function toScope({ tenant, principal, agent }: TaskScope): TaskScope {
  return { tenant, principal, agent };
}
