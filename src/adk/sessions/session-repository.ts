export interface SessionRow {
  readonly key: number;
  readonly app: string;
  readonly user: string;
  readonly id: string;
  readonly updated: number;
}

/** Scope of a state value. */
export type StateLevel = "app" | "user" | "session";

/**
 * Storage for a session service. Values are stored as JSON, so later changes to the original objects have no
 * effect.
 */
export interface SessionRepository {
  findSession(app: string, user: string, id: string): SessionRow | undefined;
  addSession(app: string, user: string, id: string, now: number): SessionRow;
  countSessions(app: string, user: string | undefined): number;
  /** Lists sessions. A `limit` of -1 returns all sessions. */
  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): readonly SessionRow[];
  deleteSession(session: SessionRow): void;
  /** Adds an event. An event with a known id is replaced. */
  addEvent(session: SessionRow, id: string, timestamp: number, json: string): void;
  /** Returns the last `limit` events since `since`, oldest first. A `limit` of -1 returns all events. */
  listEvents(session: SessionRow, since: number, limit: number): readonly string[];
  /** Sets a state value, or deletes it if `json` is `undefined`. */
  setState(session: SessionRow, level: StateLevel, name: string, json: string | undefined): void;
  /** Returns the state visible to a session: the state of the session, its user, and its app. */
  listState(session: SessionRow): Iterable<readonly [name: string, json: string]>;
  /** Runs `work` in a transaction. If `work` throws, all of its changes are rolled back. */
  runTransaction<T>(work: () => T): T;
}
