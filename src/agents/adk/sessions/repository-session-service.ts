import { randomUUID } from "node:crypto";
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
import type {
  SessionRepository,
  SessionStateChange,
  SessionStateLevel,
  StoredSession,
} from "../../../engine/index.ts";

const NO_STATE_CHANGES: readonly SessionStateChange[] = [];

/** ADK session service that stores its data in a session repository. */
export abstract class RepositorySessionService extends BaseSessionService {
  /**
   * State that was written through each session object. ADK uses the written state to detect stale writes.
   */
  readonly #writtenStates = new WeakMap<Session, Session>();

  protected abstract getRepository(): SessionRepository;

  override async createSession(request: CreateSessionRequest): Promise<Session> {
    const { appName, userId, state = {} } = request;
    const id = request.sessionId || randomUUID();
    const session = { app: appName, user: userId, id, updated: Date.now() };
    const added = await this.getRepository().addSession(session, toStateChanges(Object.entries(state)));
    if (!added) throw new Error(`Session ${id} already exists. Get it, or create a session with another id.`);
    return toAdkSession(added);
  }

  override async getSession({
    appName,
    userId,
    sessionId,
    config,
  }: GetSessionRequest): Promise<Session | undefined> {
    const session = { app: appName, user: userId, id: sessionId };
    const { afterTimestamp: since = 0, numRecentEvents: limit } = config ?? {};
    const stored = await this.getRepository().loadSession(session, { since, ...(limit ? { limit } : {}) });
    return stored && toAdkSession(stored);
  }

  /** Returns the sessions of a user without their events and state, as ADK's in-memory service does. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { appName, userId, limit, page, order } = request;
    const offset = limit !== undefined && page !== undefined ? (page - 1) * limit : (request.offset ?? 0);
    const query = { app: appName, user: userId, order, limit, offset };
    const { sessions: found, total: totalItems } = await this.getRepository().listSessions(query);
    const sessions = found.map(({ id, user, updated }) =>
      createSession({ id, appName, userId: user, lastUpdateTime: updated }),
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
    await this.getRepository().deleteSession({ app: appName, user: userId, id: sessionId });
  }

  /**
   * Stores an event and then adds the event to the given session object. The method does not add events of
   * concurrent runs, so a run continues with its original conversation.
   */
  override async appendEvent(request: AppendEventRequest): Promise<Event> {
    if (request.event.partial) return request.event;
    const { session } = request;
    const { appName, userId, id } = session;
    const { event, state } = hasNoStateChange(request.event)
      ? { event: request.event, state: NO_STATE_CHANGES }
      : await this.#prepareEventForStorage(request);
    const data = { id: event.id, timestamp: event.timestamp, json: JSON.stringify(event) };
    const appended = this.getRepository().appendEvent({ app: appName, user: userId, id }, data, state);
    // A repository in memory returns no promise.
    if (!(typeof appended === "boolean" ? appended : await appended))
      throw new Error(`Session ${id} does not exist, so the event was not stored. Create the session first.`);
    // ADK's own method costs several times as much and does the same to an event without a state change.
    if (state.length === 0 && hasNoStateChange(event)) addOrReplaceEvent(session, event);
    else await super.appendEvent({ session, event });
    session.lastUpdateTime = event.timestamp;
    return event;
  }

  /** Removes temporary state and outdated values from an event. */
  async #prepareEventForStorage({
    session,
    event,
  }: AppendEventRequest): Promise<{ event: Event; state: readonly SessionStateChange[] }> {
    const writtenSession = this.#getOrCreateStaleWriteCheckSession(session);
    const storedEvent = await super.appendEvent({ session: writtenSession, event });
    writtenSession.events.length = 0;
    const names = Object.keys(storedEvent.actions?.stateDelta ?? {});
    return {
      event: storedEvent,
      state: toStateChanges(names.map((name) => [name, writtenSession.state[name]])),
    };
  }

  #getOrCreateStaleWriteCheckSession(session: Session): Session {
    let writtenSession = this.#writtenStates.get(session);
    if (!writtenSession) {
      writtenSession = createSession({ id: session.id, appName: session.appName });
      this.#writtenStates.set(session, writtenSession);
    }
    return writtenSession;
  }
}

/** Converts a stored session to an ADK session. */
function toAdkSession({ app, user, id, updated, events, state: entries }: StoredSession): Session {
  const state: Record<string, unknown> = {};
  for (const [name, json] of entries) {
    // Defines the property, because an assignment to a name like `__proto__` would have a side effect.
    Object.defineProperty(state, name, {
      value: JSON.parse(json),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return createSession({
    id,
    appName: app,
    userId: user,
    state,
    events: events.map((json) => JSON.parse(json) as Event),
    lastUpdateTime: updated,
  });
}

function hasNoStateChange({ actions }: Event): boolean {
  for (const name in actions?.stateDelta) if (Object.hasOwn(actions.stateDelta, name)) return false;
  return true;
}

function addOrReplaceEvent({ events }: Session, event: Event): void {
  const known = events.findIndex(({ id }) => id === event.id);
  if (known < 0) events.push(event);
  else events[known] = event;
}

/**
 * Converts state values. The name prefix of a state value selects its scope. All sessions of an app share `app:` state,
 * and all sessions of a user share `user:` state. The service never stores `temp:` state.
 */
function toStateChanges(entries: readonly [string, unknown][]): SessionStateChange[] {
  return entries
    .filter(([name]) => !name.startsWith(State.TEMP_PREFIX))
    .map(([name, value]) => ({
      level: parseStateLevel(name),
      name,
      json: JSON.stringify(value) as string | undefined,
    }));
}

function parseStateLevel(name: string): SessionStateLevel {
  if (name.startsWith(State.APP_PREFIX)) return "app";
  return name.startsWith(State.USER_PREFIX) ? "user" : "session";
}
