import { LruCache } from "../../../base/data-structures/index.ts";
import type {
  SessionEventData,
  SessionEventQuery,
  SessionIdentity,
  SessionListQuery,
  SessionPage,
  SessionRepository,
  SessionStateChange,
  SessionStateLevel,
  SessionSummary,
  StoredSession,
} from "../../../engine/index.ts";

/** State values as JSON, by state name. */
type StateMap = Map<string, string>;

interface InMemorySessionRow extends SessionSummary {
  /** Number that increases with each session. */
  readonly key: number;
  updated: number;
  /** Events in order. If a stored event is replaced, the new event keeps its position. */
  readonly events: SessionEventData[];
  state: StateMap | undefined;
}

/**
 * Session repository that stores sessions in memory. If there are too many sessions, the repository evicts
 * the least recently used sessions and user states.
 */
export class MemorySessionRepository implements SessionRepository {
  readonly #sessions: LruCache<InMemorySessionRow>;
  readonly #userStates: LruCache<StateMap>;
  /** False as long as no user has any state. */
  #hasUserState = false;
  readonly #appStates = new Map<string, StateMap>();
  #lastKey = 0;
  /** Most recently looked-up session. One run looks up the same session several times. */
  #lastFoundSession: InMemorySessionRow | undefined;

  constructor(maxSessions: number) {
    this.#sessions = new LruCache(maxSessions);
    this.#userStates = new LruCache(maxSessions);
  }

  addSession(session: SessionSummary, state: readonly SessionStateChange[]): StoredSession | undefined {
    if (this.#findSession(session)) return undefined;
    const { app, user, id, updated } = session;
    const row: InMemorySessionRow = {
      key: ++this.#lastKey,
      app,
      user,
      id,
      updated,
      events: [],
      state: undefined,
    };
    this.#sessions.set(encodeKey(app, user, id), row);
    this.#lastFoundSession = row;
    this.#writeState(row, state);
    return { app, user, id, updated, events: [], state: [...this.#listState(row)] };
  }

  loadSession(session: SessionIdentity, { since = 0, limit }: SessionEventQuery): StoredSession | undefined {
    const row = this.#findSession(session);
    if (!row) return undefined;
    const { app, user, id, updated } = row;
    const jsons: string[] = [];
    for (const { timestamp, json } of row.events) if (timestamp >= since) jsons.push(json);
    const events = limit === undefined ? jsons : jsons.slice(-limit);
    return { app, user, id, updated, events, state: [...this.#listState(row)] };
  }

  listSessions({ app, user, order, limit, offset }: SessionListQuery): SessionPage {
    const sessions = this.#filterSessions(app, user);
    const sign = order === "desc" ? -1 : 1;
    sessions.sort((a, b) =>
      order ? sign * (a.updated - b.updated) || (a.id < b.id ? -1 : 1) : a.key - b.key,
    );
    const page = sessions.slice(offset, limit === undefined ? undefined : offset + limit);
    return { sessions: page, total: sessions.length };
  }

  deleteSession({ app, user, id }: SessionIdentity): void {
    this.#sessions.delete(encodeKey(app, user, id));
    this.#lastFoundSession = undefined;
  }

  appendEvent(
    session: SessionIdentity,
    event: SessionEventData,
    state: readonly SessionStateChange[],
  ): boolean {
    const row = this.#findSession(session);
    if (!row) return false;
    const known = row.events.findLastIndex(({ id }) => id === event.id);
    if (known < 0) row.events.push(event);
    else row.events[known] = event;
    row.updated = event.timestamp;
    this.#writeState(row, state);
    return true;
  }

  #findSession({ app, user, id }: SessionIdentity): InMemorySessionRow | undefined {
    const last = this.#lastFoundSession;
    if (last && last.id === id && last.user === user && last.app === app) return last;
    return (this.#lastFoundSession = this.#sessions.get(encodeKey(app, user, id)));
  }

  *#listState({
    app,
    user,
    state,
  }: InMemorySessionRow): Generator<readonly [name: string, json: string], void, undefined> {
    if (state) yield* state;
    const appState = this.#appStates.get(app);
    if (appState) yield* appState;
    const userState = this.#hasUserState ? this.#userStates.get(encodeKey(app, user)) : undefined;
    if (userState) yield* userState;
  }

  #writeState(row: InMemorySessionRow, changes: readonly SessionStateChange[]): void {
    for (const { level, name, json } of changes) {
      const state = this.#getOrCreateState(row, level);
      if (json === undefined) state.delete(name);
      else state.set(name, json);
    }
  }

  #filterSessions(app: string, user: string | undefined): InMemorySessionRow[] {
    return this.#sessions
      .listValues()
      .filter((row) => row.app === app && (user === undefined || row.user === user));
  }

  #getOrCreateState(row: InMemorySessionRow, level: SessionStateLevel): StateMap {
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
