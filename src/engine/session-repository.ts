/** Names a session: one conversation of a user with an app of an agent framework. */
export interface SessionIdentity {
  readonly app: string;
  readonly user: string;
  readonly id: string;
}

export interface SessionSummary extends SessionIdentity {
  /** Time of the last event in milliseconds since 1970, or the creation time of a session without events. */
  readonly updated: number;
}

export interface StoredSession extends SessionSummary {
  /** JSON of the requested events, oldest first. */
  readonly events: readonly string[];
  /** All state that the session can read: its own state, the state of its user, and the state of its app. */
  readonly state: Iterable<readonly [name: string, json: string]>;
}

/** An event to store. A new event replaces a stored event with the same id, at the position of the stored event. */
export interface SessionEventData {
  readonly id: string;
  /** Time in milliseconds since 1970. */
  readonly timestamp: number;
  readonly json: string;
}

/** Scope in which a state value is visible. */
export type SessionStateLevel = "app" | "user" | "session";

/** A state value to store. If `json` is `undefined`, the value is deleted. */
export interface SessionStateChange {
  readonly level: SessionStateLevel;
  readonly name: string;
  readonly json: string | undefined;
}

/** Events to load. */
export interface SessionEventQuery {
  /** Earliest timestamp of the events. Default: 0. */
  readonly since?: number;
  /** Maximum number of events, of which the newest are loaded. Default: all. */
  readonly limit?: number;
}

export interface SessionListQuery {
  readonly app: string;
  /** Default: all users. */
  readonly user?: string | undefined;
  /** Order of the update times. Default: order of creation. */
  readonly order?: "asc" | "desc" | undefined;
  /** Default: all sessions. */
  readonly limit?: number | undefined;
  readonly offset: number;
}

/**
 * Storage for the conversations of an agent framework, such as ADK sessions. Each call is atomic. Repositories keep
 * values as JSON, so later changes to the original objects have no effect. Only repositories in other processes return
 * promises.
 */
export interface SessionRepository {
  /** Adds a session with its first state. Returns `undefined` if the session exists. */
  addSession(
    session: SessionSummary,
    state: readonly SessionStateChange[],
  ): StoredSession | undefined | Promise<StoredSession | undefined>;
  loadSession(
    session: SessionIdentity,
    events: SessionEventQuery,
  ): StoredSession | undefined | Promise<StoredSession | undefined>;
  /** Returns a page of sessions, and the number of all matching sessions. */
  listSessions(query: SessionListQuery): SessionPage | Promise<SessionPage>;
  /** Deletes a session with its events and its own state. */
  deleteSession(session: SessionIdentity): void | Promise<void>;
  /** Stores an event and state changes. Returns false if the session does not exist. */
  appendEvent(
    session: SessionIdentity,
    event: SessionEventData,
    state: readonly SessionStateChange[],
  ): boolean | Promise<boolean>;
}

/** A store that may keep sessions, such as the task store of a server. */
export interface SessionStore {
  /** Display name of the store. */
  readonly name: string;
  readonly sessionRepository?: SessionRepository;
  /** Whether a later process reads what the store has stored, so that it can continue interrupted turns. Default: false. */
  readonly isDurable?: boolean;
}

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  readonly total: number;
}
