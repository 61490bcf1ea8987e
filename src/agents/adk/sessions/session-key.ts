import type { Caller } from "../../../engine/index.ts";
import type { SessionKey } from "../adk-structural-types.ts";

/**
 * Returns the ADK session key of an A2A context. The session id is the context id, and the user is the
 * caller. An unauthenticated caller becomes a separate user in each context.
 *
 * Two different callers never share a user. The user id contains the tenant. A principal that starts with
 * the reserved prefix `A2A_` is escaped.
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
