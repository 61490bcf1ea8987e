import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseSessionService, createEvent, type Event, InMemorySessionService } from "@google/adk";
import { findTestDatabase } from "../../../../test/support/find-test-postgres.ts";
import { PostgresStore } from "../../../stores/index.ts";
import { runTestSql } from "../../../stores/postgres/postgres-server.fixture.ts";
import { MemorySessionService } from "./memory-session-service.ts";
import { PostgresSessionService } from "./postgres-session-service.ts";
import { SqliteSessionService } from "./sqlite-session-service.ts";

/** Differences in behavior between session services. */
export interface SessionServiceTraits {
  /** Data survives a restart once the write has resolved. */
  readonly isDurable: boolean;
  /** Events with the same timestamp are returned in the order in which they were added. */
  readonly keepsOrderWithinMillisecond: boolean;
  /** `afterTimestamp` includes events with exactly that timestamp. */
  readonly afterTimestampIsInclusive: boolean;
  /** `listSessions` returns the state of the sessions. */
  readonly listIncludesState: boolean;
  /** `createSession` stores `app:` and `user:` state for the app and the user, not only for the session. */
  readonly sharesInitialState: boolean;
  /** `appendEvent` adds missing events of other runs to the session object. */
  readonly refreshesStaleSessions: boolean;
  /** A late event does not restore a value that its run has already replaced. */
  readonly ignoresStaleWrites: boolean;
  /** `temp:` state is kept until the end of the run, not only until the next event. */
  readonly keepsTemporaryState: boolean;
  /** `appendEvent` rejects for a session that does not exist. */
  readonly rejectsMissingSession: boolean;
  /** The first sessions of an app and a user can be created concurrently. */
  readonly supportsConcurrentCreation: boolean;
  /** `createSession` rejects for an existing id instead of replacing the existing session. */
  readonly rejectsDuplicateId: boolean;
}

export interface SessionServiceUnderTest {
  readonly name: string;
  readonly traits: SessionServiceTraits;
  /** Opens a service. A durable service finds the data of earlier services with the same `path`. */
  readonly open: (path: string) => BaseSessionService;
  readonly close: (service: BaseSessionService) => Promise<void>;
  /** Hooks that run before the first service on a path is opened and after the last one is closed. */
  readonly prepareStorage?: (path: string) => Promise<void>;
  readonly dropStorage?: (path: string) => Promise<void>;
}

const COLLOQUY_SESSION_SERVICE_TRAITS: SessionServiceTraits = {
  isDurable: true,
  keepsOrderWithinMillisecond: true,
  afterTimestampIsInclusive: true,
  listIncludesState: false,
  sharesInitialState: true,
  refreshesStaleSessions: false,
  ignoresStaleWrites: true,
  keepsTemporaryState: true,
  rejectsMissingSession: true,
  rejectsDuplicateId: true,
  supportsConcurrentCreation: true,
};

const testDatabase = await findTestDatabase();

/** A session service with a separate store, which opens the store on first use. */
class TestPostgresSessionService extends PostgresSessionService {
  readonly #store: PostgresStore;

  constructor() {
    const store = new PostgresStore(testDatabase.url, { poolSize: 4 });
    const opening = store.open();
    const sessionRepository = new Proxy(store.sessionRepository, {
      get:
        (repository, name) =>
        async (...parameters: unknown[]): Promise<unknown> => {
          await opening;
          return (Reflect.get(repository, name) as (...parameters: unknown[]) => unknown).apply(
            repository,
            parameters,
          );
        },
    });
    super({ name: store.name, sessionRepository });
    this.#store = store;
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

async function deleteTestPostgresSessions(): Promise<void> {
  const store = new PostgresStore(testDatabase.url);
  await store.open();
  await store.close();
  await runTestSql(testDatabase.url, "DELETE FROM colloquy.adk_session; DELETE FROM colloquy.adk_state");
}

const POSTGRES_SESSION_SERVICE_UNDER_TEST: SessionServiceUnderTest = {
  name: "PostgresSessionService",
  traits: COLLOQUY_SESSION_SERVICE_TRAITS,
  prepareStorage: deleteTestPostgresSessions,
  open: () => new TestPostgresSessionService(),
  close: (service) => (service as TestPostgresSessionService).close(),
};

export const SESSION_SERVICES_UNDER_TEST: readonly SessionServiceUnderTest[] = [
  {
    name: "SqliteSessionService",
    traits: COLLOQUY_SESSION_SERVICE_TRAITS,
    open: (path) => new SqliteSessionService(path),
    close: async (service) => (service as SqliteSessionService).close(),
  },
  {
    name: "MemorySessionService",
    traits: { ...COLLOQUY_SESSION_SERVICE_TRAITS, isDurable: false },
    open: () => new MemorySessionService(),
    close: async () => {},
  },
  ...(testDatabase.reason === undefined ? [POSTGRES_SESSION_SERVICE_UNDER_TEST] : []),
  {
    name: "ADK's InMemorySessionService",
    traits: {
      isDurable: false,
      keepsOrderWithinMillisecond: true,
      afterTimestampIsInclusive: true,
      listIncludesState: false,
      sharesInitialState: false,
      refreshesStaleSessions: false,
      ignoresStaleWrites: true,
      keepsTemporaryState: true,
      rejectsMissingSession: false,
      rejectsDuplicateId: false,
      supportsConcurrentCreation: true,
    },
    open: () => new InMemorySessionService(),
    close: async () => {},
  },
];

/** Opens services on a temporary path until `cleanUp` is called. */
export class SessionServiceHarness {
  readonly #case: SessionServiceUnderTest;
  readonly #folder: string = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  readonly #services: BaseSessionService[] = [];

  constructor(sessions: SessionServiceUnderTest) {
    this.#case = sessions;
  }

  get #databasePath(): string {
    return join(this.#folder, "sessions.db");
  }

  async prepareStorage(): Promise<void> {
    await this.#case.prepareStorage?.(this.#databasePath);
  }

  openService(): BaseSessionService {
    const service = this.#case.open(this.#databasePath);
    this.#services.push(service);
    return service;
  }

  async closeServices(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => this.#case.close(service)));
  }

  async cleanUp(): Promise<void> {
    await this.closeServices();
    await this.#case.dropStorage?.(this.#databasePath);
    rmSync(this.#folder, { recursive: true });
  }
}

/** Returns an event whose text and id are both `text`. */
export function createTestTextEvent(
  text: string,
  timestamp: number,
  stateDelta: Record<string, unknown> = {},
): Event {
  return createEvent({
    id: text,
    invocationId: "i",
    author: "a",
    timestamp,
    content: { role: "model", parts: [{ text }] },
    actions: { stateDelta },
  });
}
