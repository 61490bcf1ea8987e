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
import type { SessionRow, SessionRepository, StateLevel } from "./session-repository.ts";

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
    const repository = this.getRepository();
    const entries = serializeStateEntries(Object.entries(state));
    const row = repository.runTransaction(() => {
      if (repository.findSession(appName, userId, id)) {
        throw new Error(`Session ${id} already exists. Get it, or create a session with another id.`);
      }
      const added = repository.addSession(appName, userId, id, Date.now());
      this.#writeState(added, entries);
      return added;
    });
    return this.#toSession(row, []);
  }

  override async getSession({
    appName,
    userId,
    sessionId,
    config,
  }: GetSessionRequest): Promise<Session | undefined> {
    const repository = this.getRepository();
    const row = repository.findSession(appName, userId, sessionId);
    if (!row) return undefined;
    const jsons = repository.listEvents(row, config?.afterTimestamp ?? 0, config?.numRecentEvents || -1);
    return this.#toSession(
      row,
      jsons.map((json) => JSON.parse(json) as Event),
    );
  }

  /** Returns the sessions of a user without their events and state, as ADK's in-memory service does. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const repository = this.getRepository();
    const { appName, userId, limit, page, order } = request;
    const totalItems = repository.countSessions(appName, userId);
    const offset = limit !== undefined && page !== undefined ? (page - 1) * limit : (request.offset ?? 0);
    const found = repository.listSessions(appName, userId, order, limit ?? -1, offset);
    const sessions = found.map((row) =>
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
    const repository = this.getRepository();
    repository.runTransaction(() => {
      const row = repository.findSession(appName, userId, sessionId);
      if (row) repository.deleteSession(row);
    });
  }

  /**
   * Stores an event and then adds the event to the given session object. The method does not add events of
   * concurrent runs, so a run continues with its original conversation.
   */
  override async appendEvent(request: AppendEventRequest): Promise<Event> {
    if (request.event.partial) return request.event;
    const { session } = request;
    const { appName, userId, id } = session;
    const { event, state } = await this.#prepareEventForStorage(request);
    const json = JSON.stringify(event);
    const repository = this.getRepository();
    repository.runTransaction(() => {
      const row = repository.findSession(appName, userId, id);
      if (!row)
        throw new Error(
          `Session ${id} does not exist, so the event was not stored. Create the session first.`,
        );
      repository.addEvent(row, event.id, event.timestamp, json);
      this.#writeState(row, state);
    });
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
  }: AppendEventRequest): Promise<{ event: Event; state: SerializedStateEntry[] }> {
    if (hasNoStateChange(event)) return { event, state: [] };
    const writtenSession = this.#getOrCreateStaleWriteCheckSession(session);
    const storedEvent = await super.appendEvent({ session: writtenSession, event });
    writtenSession.events.length = 0;
    const names = Object.keys(storedEvent.actions?.stateDelta ?? {});
    return {
      event: storedEvent,
      state: serializeStateEntries(names.map((name) => [name, writtenSession.state[name]])),
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

  /**
   * Stores state values. The name prefix of a state value selects its scope. All sessions of an app share
   * `app:` state, and all sessions of a user share `user:` state. The service never stores `temp:` state.
   */
  #writeState(row: SessionRow, state: readonly SerializedStateEntry[]): void {
    for (const [name, json] of state) this.getRepository().setState(row, parseStateLevel(name), name, json);
  }

  #toSession(row: SessionRow, events: Event[]): Session {
    const state: Record<string, unknown> = {};
    for (const [name, json] of this.getRepository().loadMergedSessionState(row)) {
      // Defines the property, because an assignment to a name like `__proto__` would have a side effect.
      Object.defineProperty(state, name, {
        value: JSON.parse(json),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    const { id, app: appName, user: userId, updated: lastUpdateTime } = row;
    return createSession({ id, appName, userId, state, events, lastUpdateTime });
  }
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

/** A state name and the state value as JSON. `undefined` deletes the value. */
type SerializedStateEntry = readonly [name: string, json: string | undefined];

function serializeStateEntries(entries: readonly [string, unknown][]): SerializedStateEntry[] {
  return entries
    .filter(([name]) => !name.startsWith(State.TEMP_PREFIX))
    .map(([name, value]) => [name, JSON.stringify(value) as string | undefined]);
}

function parseStateLevel(name: string): StateLevel {
  if (name.startsWith(State.APP_PREFIX)) return "app";
  return name.startsWith(State.USER_PREFIX) ? "user" : "session";
}
