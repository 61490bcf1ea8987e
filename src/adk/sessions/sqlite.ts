import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  type AppendEventRequest,
  BaseSessionService,
  createSession,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
  State,
} from "@google/adk";
import { openSqlite, transaction } from "./sqlite-file.ts";
import { Statements } from "./sqlite-statements.ts";

type Level = "app" | "user" | "session";

/**
 * ADK sessions in a SQLite file, which may be the one that holds a server's tasks. What `appendEvent` resolved
 * survives a killed process. An event costs one row however long the session is.
 */
export class SqliteSessionService extends BaseSessionService {
  readonly #path: string;
  #opened: { db: DatabaseSync; statements: Statements } | undefined;
  /** The state that was written through a session object: what ADK compares the age of a write with. */
  readonly #written = new WeakMap<Session, Session>();

  /** `path` is created when it is not there; the file is opened when it is first used. */
  constructor(path: string) {
    super();
    this.#path = resolve(path);
  }

  close(): void {
    this.#opened?.db.close();
    this.#opened = undefined;
  }

  override async createSession(request: CreateSessionRequest): Promise<Session> {
    const { db, statements } = this.#open();
    const { appName, userId, state = {} } = request;
    const id = request.sessionId || randomUUID();
    const now = Date.now();
    transaction(db, () => {
      if (statements.findSession(appName, userId, id)) {
        throw new Error(`Session ${id} exists already; get it, or create one with another id.`);
      }
      const key = statements.addSession(appName, userId, id, now);
      this.#writeState(appName, userId, key, Object.entries(state));
    });
    const created = await this.getSession({ appName, userId, sessionId: id });
    return created ?? createSession({ id, appName, userId, lastUpdateTime: now });
  }

  override async getSession({
    appName,
    userId,
    sessionId,
    config,
  }: GetSessionRequest): Promise<Session | undefined> {
    const { statements } = this.#open();
    const found = statements.findSession(appName, userId, sessionId);
    if (!found) return undefined;
    const jsons = statements.events(found.key, config?.afterTimestamp ?? 0, config?.numRecentEvents || -1);
    return createSession({
      id: sessionId,
      appName,
      userId,
      state: this.#readState(appName, userId, found.key),
      events: jsons.map((json) => JSON.parse(json) as Event),
      lastUpdateTime: found.updated,
    });
  }

  /** Without events and without state, as ADK's in-memory service has it. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { statements } = this.#open();
    const { appName, userId, limit, page, order } = request;
    const totalItems = statements.countSessions(appName, userId);
    const offset = limit !== undefined && page !== undefined ? (page - 1) * limit : (request.offset ?? 0);
    const rows = statements.listSessions(appName, userId, order, limit ?? -1, offset);
    const sessions = rows.map((row) =>
      createSession({ id: row.id, appName, userId: row.user, lastUpdateTime: row.updated }),
    );
    return {
      sessions,
      page: page ?? (limit ? Math.floor(offset / limit) + 1 : 1),
      limit: limit ?? totalItems,
      totalItems,
      totalPages:
        limit === undefined ? Math.min(totalItems, 1) : limit === 0 ? 0 : Math.ceil(totalItems / limit),
    };
  }

  override async deleteSession({ appName, userId, sessionId }: DeleteSessionRequest): Promise<void> {
    const { db, statements } = this.#open();
    transaction(db, () => {
      const found = statements.findSession(appName, userId, sessionId);
      if (found) statements.deleteSession(found.key);
    });
  }

  /**
   * The caller's session has the event once the file has it. What others wrote meanwhile is not brought into that
   * session: a run goes on with the conversation that it began with.
   */
  override async appendEvent(request: AppendEventRequest): Promise<Event> {
    if (request.event.partial) return request.event;
    const { session } = request;
    const { appName, userId, id } = session;
    const written = this.#writtenThrough(session);
    // Leaves temporary state out of the event, and a value that a younger one has replaced as it is.
    const event = await super.appendEvent({ session: written, event: request.event });
    written.events.length = 0;
    const names = Object.keys(event.actions?.stateDelta ?? {});
    const json = JSON.stringify(event);
    const { db, statements } = this.#open();
    transaction(db, () => {
      const found = statements.findSession(appName, userId, id);
      if (!found) throw new Error(`Session ${id} is gone; nothing can be added to it.`);
      statements.addEvent(found.key, event.id, event.timestamp, json);
      const state = names.map((name): [string, unknown] => [name, written.state[name]]);
      this.#writeState(appName, userId, found.key, state);
    });
    await super.appendEvent({ session, event });
    session.lastUpdateTime = event.timestamp;
    return event;
  }

  #writtenThrough(session: Session): Session {
    let written = this.#written.get(session);
    if (!written) {
      written = createSession({ id: session.id, appName: session.appName });
      this.#written.set(session, written);
    }
    return written;
  }

  #open(): { db: DatabaseSync; statements: Statements } {
    if (this.#opened) return this.#opened;
    const db = openSqlite(this.#path);
    this.#opened = { db, statements: new Statements(db) };
    return this.#opened;
  }

  /** `app:` state belongs to everybody of an app, `user:` state to all sessions of a user, `temp:` state to nobody. */
  #writeState(app: string, user: string, session: number, entries: [string, unknown][]): void {
    const { statements } = this.#open();
    for (const [name, value] of entries) {
      if (name.startsWith(State.TEMP_PREFIX)) continue;
      const json = JSON.stringify(value) as string | undefined;
      const level: Level = name.startsWith(State.APP_PREFIX)
        ? "app"
        : name.startsWith(State.USER_PREFIX)
          ? "user"
          : "session";
      statements.setState(
        [app, level, level === "app" ? "" : user, level === "session" ? session : 0, name],
        json,
      );
    }
  }

  #readState(app: string, user: string, session: number): Record<string, unknown> {
    const state: Record<string, unknown> = {};
    for (const { name, json } of this.#open().statements.state(app, user, session)) {
      // Not by assignment: a name like `__proto__` is a name.
      Object.defineProperty(state, name, {
        value: JSON.parse(json),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return state;
  }
}
