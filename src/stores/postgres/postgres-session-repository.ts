import type {
  SessionEventData,
  SessionEventQuery,
  SessionIdentity,
  SessionListQuery,
  SessionPage,
  SessionRepository,
  SessionStateChange,
  SessionSummary,
  StoredSession,
} from "../../engine/index.ts";
import { decodeIdentifier, encodeIdentifier } from "./encode-identifier.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { encodeRows } from "./row-columns.ts";
import {
  ADD_ADK_SESSION,
  ADK_STATE_COLUMNS,
  APPEND_ADK_EVENT,
  COUNT_ADK_SESSIONS,
  DELETE_ADK_SESSION,
  LIST_ADK_SESSIONS_BY_CREATION,
  LIST_ADK_SESSIONS_NEWEST_FIRST,
  LIST_ADK_SESSIONS_OLDEST_FIRST,
  LOAD_ADK_SESSION,
  type AdkSessionRow,
} from "./statements/adk-sessions.ts";

const LIST_STATEMENTS = {
  none: LIST_ADK_SESSIONS_BY_CREATION,
  asc: LIST_ADK_SESSIONS_OLDEST_FIRST,
  desc: LIST_ADK_SESSIONS_NEWEST_FIRST,
};

/** Stores sessions in the tables `adk_session`, `adk_event`, and `adk_state`, with one statement for each call. */
export class PostgresSessionRepository implements SessionRepository {
  readonly #connection: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  async addSession(
    session: SessionSummary,
    state: readonly SessionStateChange[],
  ): Promise<StoredSession | undefined> {
    const parameters = [...encodeIdentity(session), session.updated, ...encodeState(state)] as const;
    const [added] = await this.#connection.query(ADD_ADK_SESSION, parameters);
    return added && this.loadSession(session, { limit: 0 });
  }

  async loadSession(
    session: SessionIdentity,
    { since = 0, limit }: SessionEventQuery,
  ): Promise<StoredSession | undefined> {
    const parameters = [...encodeIdentity(session), since, limit ?? null] as const;
    return toStoredSession(session, await this.#connection.query(LOAD_ADK_SESSION, parameters));
  }

  async listSessions({ app, user, order, limit, offset }: SessionListQuery): Promise<SessionPage> {
    const filter = [encodeIdentifier(app), user === undefined ? null : encodeIdentifier(user)] as const;
    const [rows, [count]] = await Promise.all([
      this.#connection.query(LIST_STATEMENTS[order ?? "none"], [...filter, limit ?? null, offset]),
      this.#connection.query(COUNT_ADK_SESSIONS, filter),
    ]);
    const sessions = rows.map(({ user_id, id, updated }) => ({
      app,
      user: decodeIdentifier(user_id),
      id: decodeIdentifier(id),
      updated,
    }));
    return { sessions, total: count?.total ?? 0 };
  }

  async deleteSession(session: SessionIdentity): Promise<void> {
    await this.#connection.query(DELETE_ADK_SESSION, encodeIdentity(session));
  }

  async appendEvent(
    session: SessionIdentity,
    { id, timestamp, json }: SessionEventData,
    state: readonly SessionStateChange[],
  ): Promise<boolean> {
    const event = [timestamp, encodeIdentifier(id), json] as const;
    const parameters = [...encodeIdentity(session), ...event, ...encodeState(state)] as const;
    return (await this.#connection.query(APPEND_ADK_EVENT, parameters)).length > 0;
  }
}

function encodeIdentity({ app, user, id }: SessionIdentity): [app: string, user: string, id: string] {
  return [encodeIdentifier(app), encodeIdentifier(user), encodeIdentifier(id)];
}

/** Encodes the last change of each state value as one array for each column. */
function encodeState(changes: readonly SessionStateChange[]): unknown[] {
  const rows = changes.map(({ level, name, json }) => ({
    level,
    name: encodeIdentifier(name),
    json: json ?? null,
  }));
  return encodeRows(ADK_STATE_COLUMNS, [...new Map(rows.map((row) => [row.name, row])).values()]);
}

function toStoredSession(
  { app, user, id }: SessionIdentity,
  rows: readonly AdkSessionRow[],
): StoredSession | undefined {
  const session = rows.find(({ updated }) => updated !== null);
  if (!session) return undefined;
  const events = rows.filter(({ seq }) => seq !== null);
  events.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return {
    app,
    user,
    id,
    updated: session.updated ?? 0,
    events: events.map(({ json }) => json ?? ""),
    state: rows.flatMap(({ name, json }) =>
      name === null ? [] : [[decodeIdentifier(name), json ?? ""] as const],
    ),
  };
}
