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
import type { PostgresConnection } from "./postgres-pool.ts";
import { encodeRows } from "./row-columns.ts";
import * as statements from "./statements/sessions.ts";

const LIST_STATEMENTS = {
  none: statements.LIST_ADK_SESSIONS_BY_CREATION,
  asc: statements.LIST_ADK_SESSIONS_OLDEST_FIRST,
  desc: statements.LIST_ADK_SESSIONS_NEWEST_FIRST,
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
    const [added] = await this.#connection.query(statements.ADD_ADK_SESSION, parameters);
    return added && this.loadSession(session, { limit: 0 });
  }

  async loadSession(
    session: SessionIdentity,
    { since = 0, limit }: SessionEventQuery,
  ): Promise<StoredSession | undefined> {
    const parameters = [...encodeIdentity(session), since, limit ?? null] as const;
    return toStoredSession(session, await this.#connection.query(statements.LOAD_ADK_SESSION, parameters));
  }

  async listSessions({ app, user, order, limit, offset }: SessionListQuery): Promise<SessionPage> {
    const filter = [app, user === undefined ? null : user] as const;
    const [rows, [count]] = await Promise.all([
      this.#connection.query(LIST_STATEMENTS[order ?? "none"], [...filter, limit ?? null, offset]),
      this.#connection.query(statements.COUNT_ADK_SESSIONS, filter),
    ]);
    const sessions = rows.map(({ user_id, id, updated }) => ({
      app,
      user: user_id,
      id: id,
      updated,
    }));
    return { sessions, total: count?.total ?? 0 };
  }

  async deleteSession(session: SessionIdentity): Promise<void> {
    await this.#connection.query(statements.DELETE_ADK_SESSION, encodeIdentity(session));
  }

  async appendEvent(
    session: SessionIdentity,
    { id, timestamp, json }: SessionEventData,
    state: readonly SessionStateChange[],
  ): Promise<boolean> {
    const event = [timestamp, id, json] as const;
    const parameters = [...encodeIdentity(session), ...event, ...encodeState(state)] as const;
    return (await this.#connection.query(statements.APPEND_ADK_EVENT, parameters)).length > 0;
  }
}

function encodeIdentity({ app, user, id }: SessionIdentity): [app: string, user: string, id: string] {
  return [app, user, id];
}

/** Encodes the last change of each state value as one array for each column. */
function encodeState(changes: readonly SessionStateChange[]): unknown[] {
  const rows = changes.map(({ level, name, json }) => ({
    level,
    name: name,
    json: json ?? null,
  }));
  return encodeRows(statements.ADK_STATE_COLUMNS, [...new Map(rows.map((row) => [row.name, row])).values()]);
}

function toStoredSession(
  { app, user, id }: SessionIdentity,
  rows: readonly statements.AdkSessionRow[],
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
    state: rows.flatMap(({ name, json }) => (name === null ? [] : [[name, json ?? ""] as const])),
  };
}
