export interface SessionRow {
  readonly key: number;
  readonly app: string;
  readonly user: string;
  readonly id: string;
  readonly updated: number;
}

/** Whose a piece of state is. */
export type StateLevel = "app" | "user" | "session";

/** What a session service asks of its tables. What is kept is JSON, so that nobody changes it from outside. */
export interface SessionRepository {
  findSession(app: string, user: string, id: string): SessionRow | undefined;
  addSession(app: string, user: string, id: string, now: number): SessionRow;
  countSessions(app: string, user: string | undefined): number;
  /** `limit` -1: all. */
  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): readonly SessionRow[];
  deleteSession(session: SessionRow): void;
  /** An event of a known id takes the place of the one that had it. */
  addEvent(session: SessionRow, id: string, timestamp: number, json: string): void;
  /** The last `limit` events (-1: all) since `since`, oldest first. */
  listEvents(session: SessionRow, since: number, limit: number): readonly string[];
  /** Without a value the state is forgotten. */
  setState(session: SessionRow, level: StateLevel, name: string, json: string | undefined): void;
  /** What a session sees: its own, its user's and its app's. */
  listState(session: SessionRow): Iterable<readonly [name: string, json: string]>;
  /** When `work` throws, nothing of it is kept. */
  runTransaction<T>(work: () => T): T;
}
