import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SessionRow, SessionRepository, StateLevel } from "./session-repository.ts";
import { runTransaction } from "./sqlite-file.ts";

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

  findSession(app: string, user: string, id: string): SessionRow | undefined {
    return this.#findSessionStatement.get(app, user, id) as SessionRow | undefined;
  }

  addSession(app: string, user: string, id: string, now: number): SessionRow {
    const key = Number(this.#addSessionStatement.run(app, user, id, now).lastInsertRowid);
    return { key, app, user, id, updated: now };
  }

  countSessions(app: string, user: string | undefined): number {
    return (this.#countSessionsStatement.get({ app, user: user ?? null }) as { n: number }).n;
  }

  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): SessionRow[] {
    const rows = this.#listSessionsStatements[order ?? "none"].all({
      app,
      user: user ?? null,
      limit,
      offset,
    });
    return rows as unknown as SessionRow[];
  }

  deleteSession({ key }: SessionRow): void {
    for (const statement of this.#deleteSessionStatements) statement.run(key);
  }

  addEvent({ key }: SessionRow, id: string, timestamp: number, json: string): void {
    this.#addEventStatement.run(key, id, timestamp, json);
    this.#updateTimeStatement.run(timestamp, key);
  }

  listEvents({ key }: SessionRow, since: number, limit: number): string[] {
    const rows = this.#listEventsStatement.all(key, since, limit) as { json: string }[];
    return rows.map(({ json }) => json).toReversed();
  }

  setState({ key, app, user }: SessionRow, level: StateLevel, name: string, json: string | undefined): void {
    const primaryKey = [app, level, level === "app" ? "" : user, level === "session" ? key : 0, name];
    if (json === undefined) this.#deleteStateStatement.run(...primaryKey);
    else this.#setStateStatement.run(...primaryKey, json);
  }

  loadMergedSessionState({ key, app, user }: SessionRow): [name: string, json: string][] {
    const rows = this.#listStateStatement.all({ app, user, session: key }) as {
      name: string;
      json: string;
    }[];
    return rows.map(({ name, json }) => [name, json]);
  }

  runTransaction<T>(work: () => T): T {
    return runTransaction(this.#db, work);
  }
}
