export interface SessionRow {
  readonly key: number;
  readonly app: string;
  readonly user: string;
  readonly id: string;
  readonly updated: number;
}

/** Scope in which a state value is visible. */
export type StateLevel = "app" | "user" | "session";

/**
 * Storage that a session service uses. The storage keeps values as JSON, so later changes to the original
 * objects have no effect.
 */
export interface SessionRepository {
  findSession(app: string, user: string, id: string): SessionRow | undefined;
  addSession(app: string, user: string, id: string, now: number): SessionRow;
  countSessions(app: string, user: string | undefined): number;
  /** Lists sessions. If `limit` is -1, all sessions are returned. */
  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): readonly SessionRow[];
  deleteSession(session: SessionRow): void;
  /** Adds an event. A new event replaces a stored event with the same id. */
  addEvent(session: SessionRow, id: string, timestamp: number, json: string): void;
  /**
   * Returns the last `limit` events since the time `since`, oldest first. If `limit` is -1, all events are
   * returned.
   */
  listEvents(session: SessionRow, since: number, limit: number): readonly string[];
  /** Sets a state value, or deletes the state value if `json` is `undefined`. */
  setState(session: SessionRow, level: StateLevel, name: string, json: string | undefined): void;
  /**
   * Returns all state that a session can read. The readable state belongs to the session, to its user, or
   * to the app.
   */
  loadMergedSessionState(session: SessionRow): Iterable<readonly [name: string, json: string]>;
  /** Runs `work` in a transaction. If `work` throws, the transaction is rolled back. */
  runTransaction<T>(work: () => T): T;
}
