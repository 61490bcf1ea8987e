import { Recent } from "../../base/index.ts";
import type { SessionRow, SessionRows, StateLevel } from "./rows.ts";

interface EventRow {
  readonly timestamp: number;
  readonly json: string;
}

/** Names and values as JSON. */
type State = Map<string, string>;

interface MemoryRow extends SessionRow {
  updated: number;
  /** By their ids; one that comes again keeps its place. */
  readonly events: Map<string, EventRow>;
  state: State | undefined;
}

/** The tables in memory. Of sessions, and of users who have state, those that were used longest ago are forgotten. */
export class MemoryRows implements SessionRows {
  readonly #sessions: Recent<MemoryRow>;
  readonly #users: Recent<State>;
  readonly #apps = new Map<string, State>();
  #newest = 0;

  constructor(maxSessions: number) {
    this.#sessions = new Recent(maxSessions);
    this.#users = new Recent(maxSessions);
  }

  findSession(app: string, user: string, id: string): MemoryRow | undefined {
    return this.#sessions.get(nameOf(app, user, id));
  }

  addSession(app: string, user: string, id: string, now: number): MemoryRow {
    const row = { key: ++this.#newest, app, user, id, updated: now, events: new Map(), state: undefined };
    this.#sessions.set(nameOf(app, user, id), row);
    return row;
  }

  countSessions(app: string, user: string | undefined): number {
    return this.#of(app, user).length;
  }

  listSessions(
    app: string,
    user: string | undefined,
    order: "asc" | "desc" | undefined,
    limit: number,
    offset: number,
  ): MemoryRow[] {
    const rows = this.#of(app, user);
    const sign = order === "desc" ? -1 : 1;
    rows.sort((a, b) => (order ? sign * (a.updated - b.updated) || (a.id < b.id ? -1 : 1) : a.key - b.key));
    return rows.slice(offset, limit < 0 ? undefined : offset + limit);
  }

  deleteSession({ app, user, id }: SessionRow): void {
    this.#sessions.delete(nameOf(app, user, id));
  }

  addEvent(session: SessionRow, id: string, timestamp: number, json: string): void {
    const row = session as MemoryRow;
    row.events.set(id, { timestamp, json });
    row.updated = timestamp;
  }

  events(session: SessionRow, since: number, limit: number): string[] {
    const { events } = session as MemoryRow;
    const jsons: string[] = [];
    for (const { timestamp, json } of events.values()) if (timestamp >= since) jsons.push(json);
    return limit < 0 ? jsons : jsons.slice(-limit);
  }

  setState(session: SessionRow, level: StateLevel, name: string, json: string | undefined): void {
    const state = this.#stateOf(session as MemoryRow, level);
    if (json === undefined) state.delete(name);
    else state.set(name, json);
  }

  *state(session: SessionRow): Generator<readonly [name: string, json: string], void, undefined> {
    const { app, user, state } = session as MemoryRow;
    if (state) yield* state;
    const ofApp = this.#apps.get(app);
    if (ofApp) yield* ofApp;
    const ofUser = this.#users.get(nameOf(app, user));
    if (ofUser) yield* ofUser;
  }

  /** What is asked here does not fail in the middle. */
  transaction<T>(work: () => T): T {
    return work();
  }

  #of(app: string, user: string | undefined): MemoryRow[] {
    return this.#sessions.all().filter((row) => row.app === app && (user === undefined || row.user === user));
  }

  #stateOf(row: MemoryRow, level: StateLevel): State {
    if (level === "session") return (row.state ??= new Map());
    const states = level === "app" ? this.#apps : this.#users;
    const name = level === "app" ? row.app : nameOf(row.app, row.user);
    let state = states.get(name);
    if (!state) states.set(name, (state = new Map()));
    return state;
  }
}

/** One string for several, which no others make. */
function nameOf(app: string, user: string, id = ""): string {
  return `${app.length}:${user.length}:${app}${user}${id}`;
}
