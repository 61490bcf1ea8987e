import type { Caller } from "../../engine/index.ts";
import type { SessionKey } from "../metadata.ts";

/**
 * Where the session of a context lives. The context is the session. Its user is the caller; somebody unknown is a
 * user of their own per context. Two callers never share a user: names that begin like one of ours are marked, and a
 * tenant stands before its users.
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
