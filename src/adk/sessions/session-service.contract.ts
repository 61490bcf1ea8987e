import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import {
  type BaseSessionService,
  createEvent,
  DatabaseSessionService,
  type Event,
  InMemorySessionService,
} from "@google/adk";
import { LibSqlDriver } from "@mikro-orm/libsql";
import { MikroORM, PostgreSqlDriver } from "@mikro-orm/postgresql";
import { MemorySessionService } from "./memory-session-service.ts";
import { SqliteSessionService } from "./sqlite-session-service.ts";

/** Where a session service is not like the others. Whoever chooses one may want to know. */
interface SessionServiceTraits {
  /** What it resolved is there after a restart. */
  readonly isDurable: boolean;
  /** Events of one millisecond come back in the order in which they were added. */
  readonly keepsOrderWithinMillisecond: boolean;
  /** `afterTimestamp` includes the events of that very time. */
  readonly afterTimestampIsInclusive: boolean;
  /** A list has the state of its sessions. */
  readonly listIncludesState: boolean;
  /** `app:` and `user:` state that a session is created with is that of the app and the user, not its own only. */
  readonly sharesInitialState: boolean;
  /** What a session object does not have of its session is brought into it by the next event that is added to it. */
  readonly refreshesStaleSessions: boolean;
  /** A value that a run has replaced already does not come back with an event that is late. */
  readonly ignoresStaleWrites: boolean;
  /** `temp:` state is there for the rest of the run, not only until its next event. */
  readonly keepsTemporaryState: boolean;
  /** An event for a session that is gone, or never was, is an error. */
  readonly rejectsMissingSession: boolean;
  /** The first sessions of an app, and of a user, can be made at once. */
  readonly supportsConcurrentCreation: boolean;
  /** An id that is taken is an error; else the session that had it is gone. */
  readonly rejectsDuplicateId: boolean;
}

export interface SessionServiceCase {
  readonly name: string;
  readonly traits: SessionServiceTraits;
  /** A service on `path`, if it is durable; another on the same path finds what this one has kept. */
  readonly open: (path: string) => BaseSessionService;
  readonly close: (service: BaseSessionService) => Promise<void>;
  /** Before the first service is opened on a path, and after the last one is closed. */
  readonly prepareStorage?: (path: string) => Promise<void>;
  readonly dropStorage?: (path: string) => Promise<void>;
}

const DATABASE_TRAITS: SessionServiceTraits = {
  isDurable: true,
  keepsOrderWithinMillisecond: false,
  afterTimestampIsInclusive: false,
  listIncludesState: true,
  sharesInitialState: true,
  refreshesStaleSessions: true,
  ignoresStaleWrites: false,
  keepsTemporaryState: false,
  rejectsMissingSession: true,
  rejectsDuplicateId: true,
  supportsConcurrentCreation: true,
};

/** It has no end of its own. */
async function closeDatabase(service: BaseSessionService): Promise<void> {
  await (service as unknown as { orm?: { close(): Promise<void> } }).orm?.close();
}

/** A PostgreSQL in which the tests may make databases, such as `postgres://me@127.0.0.1:5432`; without one it is not tried. */
const POSTGRES_URL = process.env["COLLOQUY_POSTGRES"];

function createPostgresCase(clientUrl: string): SessionServiceCase {
  const settingsFor = (
    path: string,
  ): { driver: typeof PostgreSqlDriver; clientUrl: string; dbName: string } => ({
    driver: PostgreSqlDriver,
    clientUrl,
    dbName: toDatabaseName(path),
  });
  return {
    name: "ADK's DatabaseSessionService in PostgreSQL",
    // The rows of the app and of the user are there already for all but one of those who make them.
    traits: { ...DATABASE_TRAITS, supportsConcurrentCreation: false },
    open: (path) => new DatabaseSessionService(settingsFor(path)),
    close: closeDatabase,
    // It cannot make its database and its tables when several ask for them at once.
    prepareStorage: async (path) => {
      const service = new DatabaseSessionService(settingsFor(path));
      await service.init();
      await closeDatabase(service);
    },
    dropStorage: async (path) => {
      const discovery = { warnWhenNoEntities: false };
      const orm = await MikroORM.init({ ...settingsFor(path), dbName: "postgres", discovery });
      await orm.em.getConnection().execute(`DROP DATABASE ${toDatabaseName(path)} WITH (FORCE)`);
      await orm.close();
    },
  };
}

/** A database for each folder that a test has made. */
function toDatabaseName(path: string): string {
  return basename(dirname(path)).replaceAll(/\W/g, "_").toLowerCase();
}

const COLLOQUY_TRAITS: SessionServiceTraits = {
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

export const SESSION_SERVICE_CASES: readonly SessionServiceCase[] = [
  {
    name: "SqliteSessionService",
    traits: COLLOQUY_TRAITS,
    open: (path) => new SqliteSessionService(path),
    close: async (service) => (service as SqliteSessionService).close(),
  },
  {
    name: "MemorySessionService",
    traits: { ...COLLOQUY_TRAITS, isDurable: false },
    open: () => new MemorySessionService(),
    close: async () => {},
  },
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
  {
    name: "ADK's DatabaseSessionService in libSQL",
    traits: DATABASE_TRAITS,
    open: (path) => new DatabaseSessionService({ driver: LibSqlDriver, dbName: path }),
    close: closeDatabase,
  },
  ...(POSTGRES_URL ? [createPostgresCase(POSTGRES_URL)] : []),
];

/** Opens services on one path of its own, until it is cleared. */
export class SessionServiceHarness {
  readonly #case: SessionServiceCase;
  readonly #folder: string = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  readonly #services: BaseSessionService[] = [];

  constructor(sessions: SessionServiceCase) {
    this.#case = sessions;
  }

  get #path(): string {
    return join(this.#folder, "sessions.db");
  }

  async prepareStorage(): Promise<void> {
    await this.#case.prepareStorage?.(this.#path);
  }

  openService(): BaseSessionService {
    const service = this.#case.open(this.#path);
    this.#services.push(service);
    return service;
  }

  async closeServices(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => this.#case.close(service)));
  }

  async cleanUp(): Promise<void> {
    await this.closeServices();
    await this.#case.dropStorage?.(this.#path);
    rmSync(this.#folder, { recursive: true });
  }
}

/** An event that says `text`, which is also its id. */
export function createTextEvent(
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
