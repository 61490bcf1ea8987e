import type { Scope } from "../engine/index.ts";

/** A scope as one string. Two scopes never have the same one, whatever characters their names are made of. */
export function scopeKey({ tenant, principal, agent }: Scope): string {
  return `${tenant.length}:${principal.length}:${tenant}${principal}${agent}`;
}
