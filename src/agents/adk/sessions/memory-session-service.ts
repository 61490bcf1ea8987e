import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { MemorySessionRepository } from "./memory-session-repository.ts";
import { RepositorySessionService } from "./repository-session-service.ts";

/** Maximum number of sessions in memory, unless the program sets another one. */
export const DEFAULT_MAX_SESSIONS = 10_000;

/** Options of `MemorySessionService`. */
export interface MemorySessionOptions {
  /** Maximum number of sessions in memory. Default: 10,000. */
  readonly maxSessions?: number;
}

const assertKnownOptions = defineOptionNames<MemorySessionOptions>()("MemorySessionService", "maxSessions");

/**
 * ADK session service that stores sessions in memory. Apart from durability, `MemorySessionService` behaves
 * like `SqliteSessionService`.
 *
 * If there are more than `maxSessions` sessions, the service evicts the least recently used sessions. The
 * service evicts a session only after at least `maxSessions / 2` other sessions have been used.
 */
export class MemorySessionService extends RepositorySessionService {
  readonly #repository: MemorySessionRepository;

  constructor(options: MemorySessionOptions = {}) {
    super();
    assertKnownOptions(options);
    const { maxSessions = DEFAULT_MAX_SESSIONS } = options;
    if (!Number.isInteger(maxSessions) || maxSessions < 2) {
      throw new RangeError(`"maxSessions" is ${maxSessions}. Use an integer of at least 2.`);
    }
    this.#repository = new MemorySessionRepository(maxSessions);
  }

  protected override getRepository(): MemorySessionRepository {
    return this.#repository;
  }
}
