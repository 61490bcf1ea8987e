import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SessionRow, SessionRows, StateLevel } from "./rows.ts";
import { transaction } from "./sqlite-file.ts";

const ORDERS = { asc: "updated, id", desc: "updated DESC, id", none: "key" } as const;

/** The tables of a SQLite file; statements are prepared once. */
export class SqliteRows implements SessionRows {
  readonly #db: DatabaseSync;
  readonly #find: StatementSync;
  readonly #add: StatementSync;
  readonly #count: StatementSync;
  readonly #list: Record<keyof typeof ORDERS, StatementSync>;
  readonly #delete: readonly StatementSync[];
  readonly #addEvent: StatementSync;
  readonly #touch: StatementSync;
  readonly #events: StatementSync;
  readonly #setState: StatementSync;
  readonly #clearState: StatementSync;
  readonly #state: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#find = db.prepare(
      "SELECT key, app, user, id, updated FROM adk_session WHERE app = ? AND user = ? AND id = ?",
    );
    this.#add = db.prepare("INSERT INTO adk_session (app, user, id, updated) VALUES (?, ?, ?, ?)");
    const ofUser = "FROM adk_session WHERE app = :app AND (:user IS NULL OR user = :user)";
    this.#count = db.prepare(`SELECT count(*) AS n ${ofUser}`);
    const list = (order: string): StatementSync =>
      db.prepare(
        `SELECT key, app, user, id, updated ${ofUser} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
      );
    this.#list = { asc: list(ORDERS.asc), desc: list(ORDERS.desc), none: list(ORDERS.none) };
    this.#delete = [
      db.prepare("DELETE FROM adk_event WHERE session = ?"),
      db.prepare("DELETE FROM adk_state WHERE level = 'session' AND session = ?"),
      db.prepare("DELETE FROM adk_session WHERE key = ?"),
    ];
    this.#addEvent = db.prepare(
      `INSERT INTO adk_event (session, id, timestamp, json) VALUES (?, ?, ?, ?)
       ON CONFLICT (session, id) DO UPDATE SET timestamp = excluded.timestamp, json = excluded.json`,
    );
    this.#touch = db.prepare("UPDATE adk_session SET updated = ? WHERE key = ?");
    this.#events = db.prepare(
      "SELECT json FROM adk_event WHERE session = ? AND timestamp >= ? ORDER BY seq DESC LIMIT ?",
    );
    this.#setState = db.prepare("INSERT OR REPLACE INTO adk_state VALUES (?, ?, ?, ?, ?, ?)");
    this.#clearState = db.prepare(
      "DELETE FROM adk_state WHERE app = ? AND level = ? AND user = ? AND session = ? AND name = ?",
    );
    this.#state = db.prepare(
      `SELECT name, json FROM adk_state WHERE app = :app AND level = 'session' AND user = :user AND session = :session
       UNION ALL SELECT name, json FROM adk_state WHERE app = :app AND level = 'app' AND user = '' AND session = 0
       UNION ALL SELECT name, json FROM adk_state WHERE app = :app AND level = 'user' AND user = :user AND session = 0`,
    );
  }

  findSession(app: string, user: string, id: string): SessionRow | undefined {
    return this.#find.get(app, user, id) as SessionRow | undefined;
  }

  addSession(app: string, user: string, id: string, now: number): SessionRow {
    const key = Number(this.#add.run(app, user, id, now).lastInsertRowid);
    return { key, app, user, id, updated: now };
  }

  countSessions(app: string, user: string | undefined): number {
    return (this.#count.get({ app, user: user ?? null }) as { n: number }).n;
  }

  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): SessionRow[] {
    const rows = this.#list[order ?? "none"].all({ app, user: user ?? null, limit, offset });
    return rows as unknown as SessionRow[];
  }

  deleteSession({ key }: SessionRow): void {
    for (const statement of this.#delete) statement.run(key);
  }

  addEvent({ key }: SessionRow, id: string, timestamp: number, json: string): void {
    this.#addEvent.run(key, id, timestamp, json);
    this.#touch.run(timestamp, key);
  }

  events({ key }: SessionRow, since: number, limit: number): string[] {
    const rows = this.#events.all(key, since, limit) as { json: string }[];
    return rows.map(({ json }) => json).toReversed();
  }

  setState({ key, app, user }: SessionRow, level: StateLevel, name: string, json: string | undefined): void {
    const place = [app, level, level === "app" ? "" : user, level === "session" ? key : 0, name];
    if (json === undefined) this.#clearState.run(...place);
    else this.#setState.run(...place, json);
  }

  state({ key, app, user }: SessionRow): [name: string, json: string][] {
    const rows = this.#state.all({ app, user, session: key }) as { name: string; json: string }[];
    return rows.map(({ name, json }) => [name, json]);
  }

  transaction<T>(work: () => T): T {
    return transaction(this.#db, work);
  }
}
