import type { SessionRepository } from "../../../engine/index.ts";
import { SqliteSessions } from "../../../stores/index.ts";
import { RepositorySessionService } from "./repository-session-service.ts";

/**
 * ADK session service that stores sessions in a SQLite file, which may also contain the tasks of a server.
 * When `appendEvent` has resolved, the stored event survives a killed process. Storing an event adds one
 * row, regardless of the length of the session.
 */
export class SqliteSessionService extends RepositorySessionService {
  readonly #sessions: SqliteSessions;

  /**
   * Accepts the path of a SQLite file. The service opens the file on first use, and creates the file if it
   * does not exist.
   */
  constructor(path: string) {
    super();
    this.#sessions = new SqliteSessions(path);
  }

  /** Opens the file, which otherwise happens on first use. */
  open(): void {
    this.getRepository();
  }

  close(): void {
    this.#sessions.close();
  }

  protected override getRepository(): SessionRepository {
    return this.#sessions.repository;
  }
}
