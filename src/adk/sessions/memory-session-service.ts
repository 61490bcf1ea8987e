import { MemorySessionRepository } from "./memory-session-repository.ts";
import { RepositorySessionService } from "./repository-session-service.ts";

export interface MemorySessionOptions {
  /** How many sessions are kept: 10,000 unless told. */
  readonly maxSessions?: number;
}

/**
 * ADK sessions in the memory of this process, in all else like those of `SqliteSessionService`. Bounded: beyond
 * `maxSessions` those that were used longest ago are forgotten, at the earliest when half as many others were used since.
 */
export class MemorySessionService extends RepositorySessionService {
  readonly #repository: MemorySessionRepository;

  constructor({ maxSessions = 10_000 }: MemorySessionOptions = {}) {
    super();
    if (!Number.isInteger(maxSessions) || maxSessions < 2) {
      throw new RangeError(`maxSessions is ${maxSessions}; make it a whole number of at least 2.`);
    }
    this.#repository = new MemorySessionRepository(maxSessions);
  }

  protected override getRepository(): MemorySessionRepository {
    return this.#repository;
  }
}
