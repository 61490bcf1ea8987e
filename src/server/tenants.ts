import type { Caller } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";

/**
 * The tenants that are served: a list of names, or a function that decides whether a caller may use a tenant.
 * The empty string represents requests that name no tenant.
 */
export type TenantsOption =
  | readonly string[]
  | ((tenant: string, caller: Caller) => boolean | Promise<boolean>);

/**
 * Rejects with NOT_FOUND for a caller whose tenant is not served (K-02). A2A §13.1 requires only that tenants
 * are isolated.
 */
export type TenantAssertion = (caller: Caller) => Promise<void>;

/** Creates the check of the `tenants` option. */
export function createTenantAssertion(tenants: TenantsOption): TenantAssertion {
  const names = typeof tenants === "function" ? undefined : new Set(tenants);
  return async (caller) => {
    const { tenant } = caller;
    const isServed = typeof tenants === "function" ? await tenants(tenant, caller) : names?.has(tenant);
    if (isServed !== true) throw createUnknownTenantError(tenant);
  };
}

/**
 * Returns the tenant that cards may name. Returns `undefined` for several tenants, because a card must not
 * reveal other tenants.
 */
export function findSingleTenant(tenants: TenantsOption | undefined): string | undefined {
  return typeof tenants === "object" && tenants.length === 1 ? tenants[0] : undefined;
}

function createUnknownTenantError(tenant: string): A2AError {
  const text =
    tenant === ""
      ? `This agent requires a tenant; send it in "tenant" or as the first part of the path. A2A 0.3 supports neither: send credentials that belong to a tenant.`
      : `This server has no tenant ${JSON.stringify(tenant.slice(0, 80))}; check the name with the operator of the server.`;
  return new A2AError("NOT_FOUND", text);
}
