import type { Caller } from "../../engine/index.ts";
import { createUnauthenticatedError } from "./authenticator.ts";
import type { AuthenticateFunction, AuthRequest } from "./auth-scheme.ts";

/** Everybody, where nobody is authenticated. */
export const ANONYMOUS_CALLER: Caller = { tenant: "", principal: "" };

export async function authenticateCaller(
  request: AuthRequest,
  authenticate: AuthenticateFunction,
): Promise<Caller> {
  const { method, path, query } = request;
  // A plain object, so that what it is given may be taken apart.
  const caller = await authenticate({
    method,
    path,
    query,
    header: (name) => request.header(name.toLowerCase()),
    certificate: () => request.certificate?.(),
  });
  if (!caller) throw createUnauthenticatedError();
  return normalizeCaller(caller);
}

/** For functions without types, too: the tenant may be left out, the principal may not. */
function normalizeCaller(caller: Caller): Caller {
  const { tenant, principal }: { readonly tenant?: unknown; readonly principal?: unknown } = caller;
  if (typeof principal !== "string" || (tenant !== undefined && typeof tenant !== "string"))
    throw new TypeError(`"authenticate" gave no caller; let it give { tenant: "", principal: "ada" }.`);
  return tenant === undefined ? { ...caller, tenant: "" } : caller;
}
