import type { Caller } from "../../engine/index.ts";
import type { SessionKey } from "../types.ts";

/**
 * Returns the session for a context. The context id is the session id, and the caller is the user. An
 * unauthenticated caller becomes a separate user for each context.
 *
 * Two callers never share a user. Principals that start with the reserved prefix `A2A_` are escaped, and the
 * tenant is part of the user id.
 */
export function deriveSessionKey(
  appName: string,
  contextId: string,
  { tenant, principal }: Caller,
): SessionKey {
  const user = principal === "" ? `A2A_USER_${contextId}` : principal.replace(/^A2A_/, "A2A_PRINCIPAL_A2A_");
  const userId = tenant === "" ? user : `A2A_TENANT_${encodeURIComponent(tenant)}/${user}`;
  return { appName, userId, sessionId: contextId };
}
