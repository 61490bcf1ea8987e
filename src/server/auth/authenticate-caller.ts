import type { Caller } from "../../engine/index.ts";
import { getAddressHolderKey } from "../remote-address.ts";
import { createUnauthenticatedError } from "./authenticator.ts";
import type { AuthenticateFunction, AuthRequest } from "./auth-scheme.ts";

/**
 * Returns the caller of a request. Rejects with UNAUTHENTICATED if `authenticate` returns no caller. On a server
 * without `authenticate`, all requests have the same anonymous caller, but limits apply to the network of each client.
 */
export async function authenticateCaller(
  request: AuthRequest,
  authenticate: AuthenticateFunction | undefined,
): Promise<Caller> {
  const { method, path, query, remoteAddress } = request;
  if (!authenticate) return withNetworkOfAnonymousCaller({ tenant: "", principal: "" }, remoteAddress);
  // A plain object lets the `authenticate` function destructure its argument.
  const caller = await authenticate({
    method,
    path,
    query,
    header: (name) => request.header(name.toLowerCase()),
    certificate: () => request.certificate?.(),
    remoteAddress,
  });
  if (!caller) throw createUnauthenticatedError();
  return withNetworkOfAnonymousCaller(validateAndNormalizeCaller(caller), remoteAddress);
}

function withNetworkOfAnonymousCaller(caller: Caller, remoteAddress: string | undefined): Caller {
  if (caller.principal !== "") return caller;
  return { ...caller, anonymousNetwork: getAddressHolderKey(remoteAddress) };
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
