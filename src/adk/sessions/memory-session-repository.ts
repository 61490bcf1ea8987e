import { LruCache } from "../../data-structures/index.ts";
import type { SessionRow, SessionRepository, StateLevel } from "./session-repository.ts";

interface InMemoryEventRow {
  readonly id: string;
  readonly timestamp: number;
  readonly json: string;
}

/** State values as JSON, by state name. */
type StateMap = Map<string, string>;

interface InMemorySessionRow extends SessionRow {
  updated: number;
  /** Events in order. If a stored event is replaced, the new event keeps its position. */
  readonly events: InMemoryEventRow[];
  state: StateMap | undefined;
}

/**
 * Session repository in memory. If there are too many sessions, the repository evicts the least recently
 * used sessions and user states.
 */
export class MemorySessionRepository implements SessionRepository {
  readonly #sessions: LruCache<InMemorySessionRow>;
  readonly #userStates: LruCache<StateMap>;
  /** False as long as no user has any state. */
  #hasUserState = false;
  readonly #appStates = new Map<string, StateMap>();
  #lastKey = 0;
  /** The session of the last lookup. One run looks up the same session several times. */
  #lastFoundSession: InMemorySessionRow | undefined;

  constructor(maxSessions: number) {
    this.#sessions = new LruCache(maxSessions);
    this.#userStates = new LruCache(maxSessions);
  }

  findSession(app: string, user: string, id: string): InMemorySessionRow | undefined {
    const last = this.#lastFoundSession;
    if (last && last.id === id && last.user === user && last.app === app) return last;
    return (this.#lastFoundSession = this.#sessions.get(encodeKey(app, user, id)));
  }

  addSession(app: string, user: string, id: string, now: number): InMemorySessionRow {
    const row = { key: ++this.#lastKey, app, user, id, updated: now, events: [], state: undefined };
    this.#sessions.set(encodeKey(app, user, id), row);
    this.#lastFoundSession = row;
    return row;
  }

  countSessions(app: string, user: string | undefined): number {
    return this.#filterSessions(app, user).length;
  }

  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): InMemorySessionRow[] {
    const rows = this.#filterSessions(app, user);
    const sign = order === "desc" ? -1 : 1;
    rows.sort((a, b) => (order ? sign * (a.updated - b.updated) || (a.id < b.id ? -1 : 1) : a.key - b.key));
    return rows.slice(offset, limit < 0 ? undefined : offset + limit);
  }

  deleteSession({ app, user, id }: SessionRow): void {
    this.#sessions.delete(encodeKey(app, user, id));
    this.#lastFoundSession = undefined;
  }

  addEvent(session: SessionRow, id: string, timestamp: number, json: string): void {
    const row = session as InMemorySessionRow;
    const event = { id, timestamp, json };
    const known = row.events.findLastIndex((candidate) => candidate.id === id);
    if (known < 0) row.events.push(event);
    else row.events[known] = event;
    row.updated = timestamp;
  }

  listEvents(session: SessionRow, since: number, limit: number): string[] {
    const { events } = session as InMemorySessionRow;
    const jsons: string[] = [];
    for (const { timestamp, json } of events) if (timestamp >= since) jsons.push(json);
    return limit < 0 ? jsons : jsons.slice(-limit);
  }

  setState(session: SessionRow, level: StateLevel, name: string, json: string | undefined): void {
    const state = this.#getOrCreateState(session as InMemorySessionRow, level);
    if (json === undefined) state.delete(name);
    else state.set(name, json);
  }

  *loadMergedSessionState(
    session: SessionRow,
  ): Generator<readonly [name: string, json: string], void, undefined> {
    const { app, user, state } = session as InMemorySessionRow;
    if (state) yield* state;
    const appState = this.#appStates.get(app);
    if (appState) yield* appState;
    const userState = this.#hasUserState ? this.#userStates.get(encodeKey(app, user)) : undefined;
    if (userState) yield* userState;
  }

  /** Runs `work` without rollback support, because operations in memory do not fail halfway. */
  runTransaction<T>(work: () => T): T {
    return work();
  }

  #filterSessions(app: string, user: string | undefined): InMemorySessionRow[] {
    return this.#sessions
      .listValues()
      .filter((row) => row.app === app && (user === undefined || row.user === user));
  }

  #getOrCreateState(row: InMemorySessionRow, level: StateLevel): StateMap {
    if (level === "session") return (row.state ??= new Map());
    const states = level === "app" ? this.#appStates : this.#userStates;
    this.#hasUserState ||= level === "user";
    const name = level === "app" ? row.app : encodeKey(row.app, row.user);
    let state = states.get(name);
    if (!state) states.set(name, (state = new Map()));
    return state;
  }
}

/** Combines several names into one unique key. */
function encodeKey(app: string, user: string, id = ""): string {
  return `${app.length}:${user.length}:${app}${user}${id}`;
}
