import type { Caller } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";

/**
 * The tenants that the server accepts. The value is a list of tenant names, or a function that decides
 * whether a caller can use a tenant. The empty tenant name represents requests without a tenant.
 */
export type TenantsOption =
  | readonly string[]
  | ((tenant: string, caller: Caller) => boolean | Promise<boolean>);

/**
 * Rejects with NOT_FOUND if the server does not accept the caller's tenant (K-02). A2A §13.1 requires only
 * the isolation of tenants.
 */
export type TenantAcceptanceCheck = (caller: Caller) => Promise<void>;

export function createTenantAcceptanceCheck(tenants: TenantsOption): TenantAcceptanceCheck {
  const names = typeof tenants === "function" ? undefined : new Set(tenants);
  return async (caller) => {
    const { tenant } = caller;
    const isServed = typeof tenants === "function" ? await tenants(tenant, caller) : names?.has(tenant);
    if (isServed !== true) throw createUnknownTenantError(tenant);
  };
}

/**
 * Returns the only tenant that the server accepts. Returns `undefined` if the server accepts several tenants.
 * An agent card must not reveal the tenants of other callers.
 */
export function findOnlyTenantAcceptedByServer(tenants: TenantsOption | undefined): string | undefined {
  return typeof tenants === "object" && tenants.length === 1 ? tenants[0] : undefined;
}

function createUnknownTenantError(tenant: string): A2AError {
  const text =
    tenant === ""
      ? `This agent requires a tenant; send it in "tenant" or as the first part of the path. A2A 0.3 supports neither: send credentials that belong to a tenant.`
      : `This server has no tenant ${JSON.stringify(tenant.slice(0, 80))}; check the name with the operator of the server.`;
  return new A2AError("NOT_FOUND", text);
}
