import { createHash } from "node:crypto";
import type { ConversationKey } from "../conversation-store.ts";

/** The options of `query` that resume an existing session or create a session. */
export type SessionOptions = { readonly resume: string } | { readonly sessionId: string };

/** Returns the id of a caller's session, which is the same after a restart. */
export function createSessionId(
  agentName: string,
  { tenant, principal, contextId }: ConversationKey,
): string {
  const key = JSON.stringify([agentName, tenant, principal, contextId]);
  const hex = createHash("sha256").update(key).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** Resumes the session, or creates the session if it does not exist yet. */
export async function* streamSession(
  startQuery: (session: SessionOptions) => AsyncIterable<unknown>,
  sessionId: string,
  isKnownSession: boolean,
): AsyncGenerator<unknown, void, undefined> {
  if (!isKnownSession) {
    try {
      yield* startQuery({ sessionId });
      return;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("already in use"))) throw error;
    }
  }
  yield* startQuery({ resume: sessionId });
}
