import type { DatabaseSync, StatementSync } from "node:sqlite";
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
import { runTransaction } from "./sqlite-session-file.ts";

/** A row of the table `adk_session`. */
interface SessionRow extends SessionSummary {
  readonly key: number;
}

const ORDER_BY_CLAUSES = { asc: "updated, id", desc: "updated DESC, id", none: "key" } as const;

/** Session repository that stores sessions in a SQLite file, with prepared statements. */
export class SqliteSessionRepository implements SessionRepository {
  readonly #db: DatabaseSync;
  readonly #findSessionStatement: StatementSync;
  readonly #addSessionStatement: StatementSync;
  readonly #countSessionsStatement: StatementSync;
  readonly #listSessionsStatements: Record<keyof typeof ORDER_BY_CLAUSES, StatementSync>;
  readonly #deleteSessionStatements: readonly StatementSync[];
  readonly #addEventStatement: StatementSync;
  readonly #updateTimeStatement: StatementSync;
  readonly #listEventsStatement: StatementSync;
  readonly #setStateStatement: StatementSync;
  readonly #deleteStateStatement: StatementSync;
  readonly #listStateStatement: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#findSessionStatement = db.prepare(
      "SELECT key, app, user, id, updated FROM adk_session WHERE app = ? AND user = ? AND id = ?",
    );
    this.#addSessionStatement = db.prepare(
      "INSERT INTO adk_session (app, user, id, updated) VALUES (?, ?, ?, ?)",
    );
    const fromSessions = "FROM adk_session WHERE app = :app AND (:user IS NULL OR user = :user)";
    this.#countSessionsStatement = db.prepare(`SELECT count(*) AS n ${fromSessions}`);
    const list = (order: string): StatementSync =>
      db.prepare(
        `SELECT key, app, user, id, updated ${fromSessions} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
      );
    this.#listSessionsStatements = {
      asc: list(ORDER_BY_CLAUSES.asc),
      desc: list(ORDER_BY_CLAUSES.desc),
      none: list(ORDER_BY_CLAUSES.none),
    };
    this.#deleteSessionStatements = [
      db.prepare("DELETE FROM adk_event WHERE session = ?"),
      db.prepare("DELETE FROM adk_state WHERE level = 'session' AND session = ?"),
      db.prepare("DELETE FROM adk_session WHERE key = ?"),
    ];
    this.#addEventStatement = db.prepare(
      `INSERT INTO adk_event (session, id, timestamp, json) VALUES (?, ?, ?, ?)
       ON CONFLICT (session, id) DO UPDATE SET timestamp = excluded.timestamp, json = excluded.json`,
    );
    this.#updateTimeStatement = db.prepare("UPDATE adk_session SET updated = ? WHERE key = ?");
    this.#listEventsStatement = db.prepare(
      "SELECT json FROM adk_event WHERE session = ? AND timestamp >= ? ORDER BY seq DESC LIMIT ?",
    );
    this.#setStateStatement = db.prepare("INSERT OR REPLACE INTO adk_state VALUES (?, ?, ?, ?, ?, ?)");
    this.#deleteStateStatement = db.prepare(
      "DELETE FROM adk_state WHERE app = ? AND level = ? AND user = ? AND session = ? AND name = ?",
    );
    this.#listStateStatement = db.prepare(
      `SELECT name, json FROM adk_state
         WHERE app = :app AND level = 'session' AND user = :user AND session = :session
       UNION ALL SELECT name, json FROM adk_state
         WHERE app = :app AND level = 'app' AND user = '' AND session = 0
       UNION ALL SELECT name, json FROM adk_state
         WHERE app = :app AND level = 'user' AND user = :user AND session = 0`,
    );
  }

  addSession(session: SessionSummary, state: readonly SessionStateChange[]): StoredSession | undefined {
    const { app, user, id, updated } = session;
    return runTransaction(this.#db, () => {
      if (this.#findSession(session)) return undefined;
      const key = Number(this.#addSessionStatement.run(app, user, id, updated).lastInsertRowid);
      const row = { key, app, user, id, updated };
      this.#writeState(row, state);
      return { ...row, events: [], state: this.#listState(row) };
    });
  }

  loadSession(
    session: SessionIdentity,
    { since = 0, limit = -1 }: SessionEventQuery,
  ): StoredSession | undefined {
    const row = this.#findSession(session);
    if (!row) return undefined;
    const events = this.#listEventsStatement.all(row.key, since, limit) as { json: string }[];
    return { ...row, events: events.map(({ json }) => json).toReversed(), state: this.#listState(row) };
  }

  listSessions({ app, user, order, limit = -1, offset }: SessionListQuery): SessionPage {
    const filter = { app, user: user ?? null };
    const sessions = this.#listSessionsStatements[order ?? "none"].all({ ...filter, limit, offset });
    const { n: total } = this.#countSessionsStatement.get(filter) as { n: number };
    return { sessions: sessions as unknown as SessionRow[], total };
  }

  deleteSession(session: SessionIdentity): void {
    runTransaction(this.#db, () => {
      const row = this.#findSession(session);
      if (row) for (const statement of this.#deleteSessionStatements) statement.run(row.key);
    });
  }

  appendEvent(
    session: SessionIdentity,
    { id, timestamp, json }: SessionEventData,
    state: readonly SessionStateChange[],
  ): boolean {
    return runTransaction(this.#db, () => {
      const row = this.#findSession(session);
      if (!row) return false;
      this.#addEventStatement.run(row.key, id, timestamp, json);
      this.#updateTimeStatement.run(timestamp, row.key);
      this.#writeState(row, state);
      return true;
    });
  }

  #findSession({ app, user, id }: SessionIdentity): SessionRow | undefined {
    return this.#findSessionStatement.get(app, user, id) as SessionRow | undefined;
  }

  #listState({ key, app, user }: SessionRow): [name: string, json: string][] {
    const rows = this.#listStateStatement.all({ app, user, session: key }) as {
      name: string;
      json: string;
    }[];
    return rows.map(({ name, json }) => [name, json]);
  }

  #writeState({ key, app, user }: SessionRow, state: readonly SessionStateChange[]): void {
    for (const { level, name, json } of state) {
      const primaryKey = [app, level, level === "app" ? "" : user, level === "session" ? key : 0, name];
      if (json === undefined) this.#deleteStateStatement.run(...primaryKey);
      else this.#setStateStatement.run(...primaryKey, json);
    }
  }
}
