import type { Caller } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";

/**
 * The tenants that are served: their names, or who says whether a caller may be in one. "" stands for requests that name
 * none.
 */
export type TenantsOption =
  | readonly string[]
  | ((tenant: string, caller: Caller) => boolean | Promise<boolean>);

/** Refuses callers in tenants that are not served (K-02 of our reading; A2A §13.1 says only that tenants are apart). */
export type TenantAssertion = (caller: Caller) => Promise<void>;

export function createTenantAssertion(tenants: TenantsOption): TenantAssertion {
  const names = typeof tenants === "function" ? undefined : new Set(tenants);
  return async (caller) => {
    const { tenant } = caller;
    const isServed = typeof tenants === "function" ? await tenants(tenant, caller) : names?.has(tenant);
    if (isServed !== true) throw createUnknownTenantError(tenant);
  };
}

/** The one that cards may name: more than one would tell each tenant of the others. */
export function findSingleTenant(tenants: TenantsOption | undefined): string | undefined {
  return typeof tenants === "object" && tenants.length === 1 ? tenants[0] : undefined;
}

function createUnknownTenantError(tenant: string): A2AError {
  const text =
    tenant === ""
      ? `This agent is served to tenants; name yours in "tenant" or as the first part of the path (in A2A 0.3, which has neither, send credentials that belong to one).`
      : `There is no tenant ${JSON.stringify(tenant.slice(0, 80))} here; check the name with whoever runs this agent.`;
  return new A2AError("NOT_FOUND", text);
}
