import type { Caller } from "../../engine/index.ts";
import { isObject } from "../../protocol/index.ts";
import { getAddressHolderKey } from "../remote-address.ts";
import { createUnauthenticatedError } from "./authenticator.ts";
import type { AuthenticateFunction, AuthRequest } from "./auth-scheme.ts";

/**
 * Returns the caller of a request. Rejects with UNAUTHENTICATED if `authenticate` returns no caller. On a server
 * without `authenticate`, all requests have the same anonymous caller, but limits apply to the network of each client.
 */
export function authenticateCaller(
  request: AuthRequest,
  authenticate: AuthenticateFunction | undefined,
): Caller | Promise<Caller> {
  return authenticate
    ? callAuthenticate(request, authenticate)
    : withNetworkOfAnonymousCaller({ tenant: "", principal: "" }, request.remoteAddress);
}

async function callAuthenticate(request: AuthRequest, authenticate: AuthenticateFunction): Promise<Caller> {
  const { method, path, query, remoteAddress } = request;
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
  const { tenant, principal, contextScope }: { readonly [Name in keyof Caller]?: unknown } = caller;
  if (typeof principal !== "string" || (tenant !== undefined && typeof tenant !== "string"))
    throw new TypeError(
      `"authenticate" did not return a caller; return an object such as { tenant: "", principal: "ada" }.`,
    );
  if (contextScope !== undefined && !isContextScope(contextScope))
    throw new TypeError(
      `"authenticate" returned a caller with an invalid "contextScope"; set its member "contextIds" to a list of context ids.`,
    );
  return tenant === undefined ? { ...caller, tenant: "" } : caller;
}

/** Without this check, a mistake in untyped code could remove the limit. */
function isContextScope(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { contextIds, namespace, agentIds = [] } = value;
  return (
    isTextList(contextIds) && isTextList(agentIds) && (namespace === undefined || isNamespace(namespace))
  );
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

/** An empty namespace would contain all contexts whose ids begin with a dot. */
function isNamespace(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
