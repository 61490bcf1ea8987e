import { type PostgresStatement, defineStatement } from "../define-statement.ts";
import { renderRowsSql } from "../row-columns.ts";

/** Columns of the state values that a statement stores. A value whose `json` is NULL is deleted. */
export const ADK_STATE_COLUMNS = { level: "text", name: "text", json: "json" } as const;

type SessionParameters = readonly [app: string, user: string, id: string];

/**
 * Stores state values of the row `session`, which has a key. `app:` and `user:` values belong to no session. The rows
 * are locked in the order of their keys, so that concurrent sessions of an app cannot deadlock.
 */
function renderWriteStateSql(firstParameter: number): string {
  return `INSERT INTO colloquy.adk_state AS state (app, level, user_id, session, name, json)
    SELECT $1, given.level, CASE WHEN given.level = 'app' THEN '' ELSE $2 END,
      CASE WHEN given.level = 'session' THEN session.key ELSE 0 END, given.name, given.json
    FROM session, ${renderRowsSql(ADK_STATE_COLUMNS, firstParameter)}
    ORDER BY given.level, given.name
    ON CONFLICT (app, level, user_id, session, name) DO UPDATE SET json = excluded.json`;
}

/** Adds a session with its state. Returns no row if the session exists. */
export const ADD_ADK_SESSION: PostgresStatement<
  readonly [...SessionParameters, updated: number, ...state: unknown[]],
  { readonly key: number }
> = defineStatement(
  "colloquy_add_adk_session",
  `WITH session AS (
    INSERT INTO colloquy.adk_session (app, user_id, id, updated) VALUES ($1, $2, $3, $4)
    ON CONFLICT (app, user_id, id) DO NOTHING RETURNING key
  ), state AS (${renderWriteStateSql(5)})
  SELECT key FROM session`,
);

/** Stores an event and state values. Returns no row if the session does not exist. */
export const APPEND_ADK_EVENT: PostgresStatement<
  readonly [...SessionParameters, timestamp: number, eventId: string, json: string, ...state: unknown[]],
  { readonly key: number }
> = defineStatement(
  "colloquy_append_adk_event",
  `WITH session AS (
    UPDATE colloquy.adk_session SET updated = $4 WHERE app = $1 AND user_id = $2 AND id = $3 RETURNING key
  ), event AS (
    INSERT INTO colloquy.adk_event (session, timestamp, id, json) SELECT key, $4, $5, $6 FROM session
    ON CONFLICT (session, id) DO UPDATE SET timestamp = excluded.timestamp, json = excluded.json
  ), state AS (${renderWriteStateSql(7)})
  SELECT key FROM session`,
);

/** A row of a loaded session: the session itself, one of its events, or one of its state values. */
export interface AdkSessionRow {
  /** Update time in the row of the session, and otherwise NULL. */
  readonly updated: number | null;
  /** Position of an event, and otherwise NULL. */
  readonly seq: number | null;
  /** Name of a state value, and otherwise NULL. */
  readonly name: string | null;
  readonly json: string | null;
}

/** Loads a session with its newest events and all state that the session can read, in one snapshot. */
export const LOAD_ADK_SESSION: PostgresStatement<
  readonly [...SessionParameters, since: number, limit: number | null],
  AdkSessionRow
> = defineStatement(
  "colloquy_load_adk_session",
  `WITH session AS MATERIALIZED (
    SELECT key, updated FROM colloquy.adk_session WHERE app = $1 AND user_id = $2 AND id = $3
  )
  SELECT updated, NULL::bigint AS seq, NULL::text AS name, NULL::text AS json FROM session
  UNION ALL (
    SELECT NULL, event.seq, NULL, event.json
    FROM colloquy.adk_event AS event JOIN session ON event.session = session.key
    WHERE event.timestamp >= $4 ORDER BY event.seq DESC LIMIT $5::bigint
  )
  UNION ALL
  SELECT NULL, NULL, state.name, state.json FROM session JOIN colloquy.adk_state AS state ON state.session = session.key
    WHERE state.app = $1 AND state.level = 'session' AND state.user_id = $2 AND state.json IS NOT NULL
  UNION ALL
  SELECT NULL, NULL, state.name, state.json FROM session, colloquy.adk_state AS state
    WHERE state.app = $1 AND state.level = 'app' AND state.user_id = '' AND state.session = 0
      AND state.json IS NOT NULL
  UNION ALL
  SELECT NULL, NULL, state.name, state.json FROM session, colloquy.adk_state AS state
    WHERE state.app = $1 AND state.level = 'user' AND state.user_id = $2 AND state.session = 0
      AND state.json IS NOT NULL`,
);

/** Deletes a session with its state. The foreign key deletes the events, also those that another node adds meanwhile. */
export const DELETE_ADK_SESSION: PostgresStatement<SessionParameters, never> = defineStatement(
  "colloquy_delete_adk_session",
  `WITH session AS (
    DELETE FROM colloquy.adk_session WHERE app = $1 AND user_id = $2 AND id = $3 RETURNING key
  )
  DELETE FROM colloquy.adk_state AS state USING session
  WHERE state.app = $1 AND state.level = 'session' AND state.user_id = $2 AND state.session = session.key`,
);

const FROM_SESSIONS_SQL =
  "FROM colloquy.adk_session AS session WHERE session.app = $1 AND ($2::text IS NULL OR session.user_id = $2)";

export const COUNT_ADK_SESSIONS: PostgresStatement<
  readonly [app: string, user: string | null],
  { readonly total: number }
> = defineStatement("colloquy_count_adk_sessions", `SELECT count(*) AS total ${FROM_SESSIONS_SQL}`);

/** A session in a list. */
interface ListedAdkSessionRow {
  readonly user_id: string;
  readonly id: string;
  readonly updated: number;
}

type ListAdkSessionsStatement = PostgresStatement<
  readonly [app: string, user: string | null, limit: number | null, offset: number],
  ListedAdkSessionRow
>;

function defineListStatement(name: string, order: string): ListAdkSessionsStatement {
  return defineStatement(
    `colloquy_list_adk_sessions_${name}`,
    `SELECT session.user_id, session.id, session.updated ${FROM_SESSIONS_SQL}
    ORDER BY ${order} LIMIT $3::bigint OFFSET $4`,
  );
}

export const LIST_ADK_SESSIONS_BY_CREATION: ListAdkSessionsStatement = defineListStatement(
  "by_creation",
  "session.key",
);
export const LIST_ADK_SESSIONS_OLDEST_FIRST: ListAdkSessionsStatement = defineListStatement(
  "oldest_first",
  "session.updated, session.id",
);
export const LIST_ADK_SESSIONS_NEWEST_FIRST: ListAdkSessionsStatement = defineListStatement(
  "newest_first",
  "session.updated DESC, session.id",
);
