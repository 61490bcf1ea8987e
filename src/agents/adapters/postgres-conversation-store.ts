import { randomUUID } from "node:crypto";
import type { SessionIdentity, SessionRepository, SessionStore } from "../../engine/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { ConversationKey, ConversationStore } from "./conversation-store.ts";

/** Options of `createPostgresConversationStore`. */
export interface PostgresConversationStoreOptions {
  /** Maximum number of turns that the model receives, of which the newest are loaded. Default: 100. */
  readonly maxTurns?: number;
}

const assertKnownOptions = defineOptionNames<PostgresConversationStoreOptions>()(
  "createPostgresConversationStore",
  "maxTurns",
);

const DEFAULT_MAX_TURNS = 100;

/**
 * Creates a conversation store in the database of a `PostgresStore`, so that every server on the database knows the
 * earlier turns. `agent` separates the conversations of different agents, and must not change later. The server opens
 * and closes the store.
 */
export function createPostgresConversationStore<M>(
  { name, sessionRepository }: SessionStore,
  agent: string,
  options: PostgresConversationStoreOptions = {},
): ConversationStore<M> {
  assertKnownOptions(options);
  const { maxTurns = DEFAULT_MAX_TURNS } = options;
  if (!sessionRepository)
    throw new TypeError(`The store ${name} stores no conversations; pass a PostgresStore.`);
  const toSession = ({ tenant, principal, contextId }: ConversationKey): SessionIdentity => ({
    app: `conversation:${agent}`,
    user: JSON.stringify([tenant, principal]),
    id: contextId,
  });
  return {
    async load(key) {
      const stored = await sessionRepository.loadSession(toSession(key), { limit: maxTurns });
      return (stored?.events ?? []).flatMap((json) => JSON.parse(json) as M[]);
    },
    append: (key, messages) => appendTurn(sessionRepository, toSession(key), JSON.stringify(messages)),
  };
}

/** Stores the messages of a turn as one event, so that a load never returns a part of a turn. */
async function appendTurn(
  repository: SessionRepository,
  session: SessionIdentity,
  json: string,
): Promise<void> {
  const event = { id: randomUUID(), timestamp: Date.now(), json };
  if (await repository.appendEvent(session, event, [])) return;
  // Another turn may add the same session first.
  await repository.addSession({ ...session, updated: event.timestamp }, []);
  await repository.appendEvent(session, event, []);
}
