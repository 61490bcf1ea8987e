import type { SessionRepository, SessionStore } from "../../../engine/index.ts";
import { MemorySessionRepository } from "./memory-session-repository.ts";
import { DEFAULT_MAX_SESSIONS } from "./memory-session-service.ts";
import { RepositorySessionService } from "./repository-session-service.ts";

/** The members of a task store that the session service uses. */

/** The task store of the server that serves an agent, and the id of the agent on that server. */
export interface ServedFrom {
  readonly store: SessionStore;
  readonly agentId: string;
}

/** Sessions of the stores without a session repository. All agents of a store share them, also agents that replace others. */
const memoryRepositories = new WeakMap<object, MemorySessionRepository>();

/**
 * ADK session service that keeps sessions in the task store of the server. Sessions are in memory if the store stores no
 * sessions, as in the store `memory`, and if no server serves the agent.
 */
export class StoreSessionService extends RepositorySessionService {
  readonly #findServer: () => ServedFrom | undefined;

  constructor(findServer: () => ServedFrom | undefined) {
    super();
    this.#findServer = findServer;
  }

  protected override getRepository(): SessionRepository {
    const store = this.#findServer()?.store;
    return store?.sessionRepository ?? getMemoryRepository(store ?? this);
  }
}

function getMemoryRepository(owner: object): MemorySessionRepository {
  let repository = memoryRepositories.get(owner);
  if (!repository) {
    repository = new MemorySessionRepository(DEFAULT_MAX_SESSIONS);
    memoryRepositories.set(owner, repository);
  }
  return repository;
}
