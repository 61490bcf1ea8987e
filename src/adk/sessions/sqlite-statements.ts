import type { DatabaseSync, StatementSync } from "node:sqlite";

export interface SessionRow {
  readonly key: number;
  readonly user: string;
  readonly id: string;
  readonly updated: number;
}

/** Where a piece of state lives: app, level, user, session, name. */
export type StateKey = [app: string, level: string, user: string, session: number, name: string];

const ORDERS = { asc: "updated, id", desc: "updated DESC, id", none: "key" } as const;

/** What is asked of the tables, prepared once. */
export class Statements {
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
    this.#find = db.prepare(
      "SELECT key, user, id, updated FROM adk_session WHERE app = ? AND user = ? AND id = ?",
    );
    this.#add = db.prepare("INSERT INTO adk_session (app, user, id, updated) VALUES (?, ?, ?, ?)");
    const ofUser = "FROM adk_session WHERE app = :app AND (:user IS NULL OR user = :user)";
    this.#count = db.prepare(`SELECT count(*) AS n ${ofUser}`);
    const list = (order: string): StatementSync =>
      db.prepare(`SELECT key, user, id, updated ${ofUser} ORDER BY ${order} LIMIT :limit OFFSET :offset`);
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

  /** Answers its key. */
  addSession(app: string, user: string, id: string, now: number): number {
    return Number(this.#add.run(app, user, id, now).lastInsertRowid);
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

  deleteSession(key: number): void {
    for (const statement of this.#delete) statement.run(key);
  }

  /** An event of a known id takes the place of the one that had it. */
  addEvent(session: number, id: string, timestamp: number, json: string): void {
    this.#addEvent.run(session, id, timestamp, json);
    this.#touch.run(timestamp, session);
  }

  /** The last `limit` events (-1: all) since `since`, oldest first. */
  events(session: number, since: number, limit: number): string[] {
    const rows = this.#events.all(session, since, limit) as { json: string }[];
    return rows.map(({ json }) => json).toReversed();
  }

  /** Without a value the state is forgotten. */
  setState(key: StateKey, json: string | undefined): void {
    if (json === undefined) this.#clearState.run(...key);
    else this.#setState.run(...key, json);
  }

  state(app: string, user: string, session: number): { name: string; json: string }[] {
    return this.#state.all({ app, user, session }) as unknown as { name: string; json: string }[];
  }
}
