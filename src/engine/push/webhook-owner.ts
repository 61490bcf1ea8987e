import type { TaskScope } from "../caller.ts";

/**
 * Returns the owner whose fair share a webhook uses. A principal counts as one owner across all tenants, because the
 * stored scope does not show whether the principal has chosen the tenant. Unauthenticated callers are one owner.
 */
export function getWebhookOwner({ principal }: Pick<TaskScope, "principal">): string {
  return principal;
}
