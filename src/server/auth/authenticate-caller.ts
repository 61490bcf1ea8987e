import type { Caller } from "../../engine/index.ts";
import { createUnauthenticatedError } from "./authenticator.ts";
import type { AuthenticateFunction, AuthRequest } from "./auth-scheme.ts";

const ANONYMOUS_CALLER: Caller = { tenant: "", principal: "" };

/**
 * Returns the caller of a request. Rejects with UNAUTHENTICATED if `authenticate` returns no caller. On a
 * server without `authenticate`, all requests have the same anonymous caller.
 */
export async function authenticateCaller(
  request: AuthRequest,
  authenticate: AuthenticateFunction | undefined,
): Promise<Caller> {
  if (!authenticate) return ANONYMOUS_CALLER;
  const { method, path, query } = request;
  // A plain object lets the `authenticate` function destructure its argument.
  const caller = await authenticate({
    method,
    path,
    query,
    header: (name) => request.header(name.toLowerCase()),
    certificate: () => request.certificate?.(),
    remoteAddress: request.remoteAddress,
  });
  if (!caller) throw createUnauthenticatedError();
  return validateAndNormalizeCaller(caller);
}

/**
 * Validates the result of an `authenticate` function, because untyped code can return any value. If the
 * caller has no tenant, sets the tenant to `""`.
 */
function validateAndNormalizeCaller(caller: Caller): Caller {
  const { tenant, principal }: { readonly tenant?: unknown; readonly principal?: unknown } = caller;
  if (typeof principal !== "string" || (tenant !== undefined && typeof tenant !== "string"))
    throw new TypeError(
      `"authenticate" did not return a caller; return an object such as { tenant: "", principal: "ada" }.`,
    );
  return tenant === undefined ? { ...caller, tenant: "" } : caller;
}
