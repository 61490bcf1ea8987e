import type { SessionRepository, SessionStore } from "../../../engine/index.ts";
import { RepositorySessionService } from "./repository-session-service.ts";

/**
 * ADK session service that stores sessions in the database of a `PostgresStore`, through the connections of the store.
 * When `appendEvent` has resolved, the stored event is as durable as a commit of the database. All servers on the
 * database share the sessions.
 */
export class PostgresSessionService extends RepositorySessionService {
  readonly #repository: SessionRepository;

  /** Accepts a `PostgresStore`. The server opens and closes the store. */
  constructor(store: SessionStore) {
    super();
    if (!store.sessionRepository)
      throw new TypeError(
        `The store ${store.name} stores no sessions; pass a PostgresStore, or use SqliteSessionService.`,
      );
    this.#repository = store.sessionRepository;
  }

  protected override getRepository(): SessionRepository {
    return this.#repository;
  }
}
