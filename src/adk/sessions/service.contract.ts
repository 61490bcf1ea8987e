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
import { MemorySessionService } from "./memory.ts";
import { SqliteSessionService } from "./sqlite.ts";

/** Where a session service is not like the others. Whoever chooses one may want to know. */
interface Traits {
  /** What it resolved is there after a restart. */
  readonly durable: boolean;
  /** Events of one millisecond come back in the order in which they were added. */
  readonly keepsOrderWithinMillisecond: boolean;
  /** `afterTimestamp` includes the events of that very time. */
  readonly sinceIsIncluded: boolean;
  /** A list has the state of its sessions. */
  readonly listsState: boolean;
  /** `app:` and `user:` state that a session is created with is that of the app and the user, not its own only. */
  readonly sharesFirstState: boolean;
  /** What a session object does not have of its session is brought into it by the next event that is added to it. */
  readonly refreshes: boolean;
  /** A value that a run has replaced already does not come back with an event that is late. */
  readonly keepsOrderOfWrites: boolean;
  /** `temp:` state is there for the rest of the run, not only until its next event. */
  readonly keepsTemporary: boolean;
  /** An event for a session that is gone, or never was, is an error. */
  readonly refusesWhenGone: boolean;
  /** The first sessions of an app, and of a user, can be made at once. */
  readonly beginsAtOnce: boolean;
  /** An id that is taken is an error; else the session that had it is gone. */
  readonly refusesTakenId: boolean;
}

export interface SessionsCase {
  readonly name: string;
  readonly traits: Traits;
  /** A service on `path`, if it is durable; another on the same path finds what this one has kept. */
  readonly open: (path: string) => BaseSessionService;
  readonly close: (service: BaseSessionService) => Promise<void>;
  /** Before the first service is opened on a path, and after the last one is closed. */
  readonly prepare?: (path: string) => Promise<void>;
  readonly remove?: (path: string) => Promise<void>;
}

const DATABASE: Traits = {
  durable: true,
  keepsOrderWithinMillisecond: false,
  sinceIsIncluded: false,
  listsState: true,
  sharesFirstState: true,
  refreshes: true,
  keepsOrderOfWrites: false,
  keepsTemporary: false,
  refusesWhenGone: true,
  refusesTakenId: true,
  beginsAtOnce: true,
};

/** It has no end of its own. */
async function closeDatabase(service: BaseSessionService): Promise<void> {
  await (service as unknown as { orm?: { close(): Promise<void> } }).orm?.close();
}

/** A PostgreSQL in which the tests may make databases, such as `postgres://me@127.0.0.1:5432`; without one it is not tried. */
const POSTGRES = process.env["COLLOQUY_POSTGRES"];

function inPostgres(clientUrl: string): SessionsCase {
  const settingsFor = (
    path: string,
  ): { driver: typeof PostgreSqlDriver; clientUrl: string; dbName: string } => ({
    driver: PostgreSqlDriver,
    clientUrl,
    dbName: databaseOf(path),
  });
  return {
    name: "ADK's DatabaseSessionService in PostgreSQL",
    // The rows of the app and of the user are there already for all but one of those who make them.
    traits: { ...DATABASE, beginsAtOnce: false },
    open: (path) => new DatabaseSessionService(settingsFor(path)),
    close: closeDatabase,
    // It cannot make its database and its tables when several ask for them at once.
    prepare: async (path) => {
      const service = new DatabaseSessionService(settingsFor(path));
      await service.init();
      await closeDatabase(service);
    },
    remove: async (path) => {
      const discovery = { warnWhenNoEntities: false };
      const orm = await MikroORM.init({ ...settingsFor(path), dbName: "postgres", discovery });
      await orm.em.getConnection().execute(`DROP DATABASE ${databaseOf(path)} WITH (FORCE)`);
      await orm.close();
    },
  };
}

/** A database for each folder that a test has made. */
function databaseOf(path: string): string {
  return basename(dirname(path)).replaceAll(/\W/g, "_").toLowerCase();
}

const OURS: Traits = {
  durable: true,
  keepsOrderWithinMillisecond: true,
  sinceIsIncluded: true,
  listsState: false,
  sharesFirstState: true,
  refreshes: false,
  keepsOrderOfWrites: true,
  keepsTemporary: true,
  refusesWhenGone: true,
  refusesTakenId: true,
  beginsAtOnce: true,
};

export const SESSIONS: readonly SessionsCase[] = [
  {
    name: "SqliteSessionService",
    traits: OURS,
    open: (path) => new SqliteSessionService(path),
    close: async (service) => (service as SqliteSessionService).close(),
  },
  {
    name: "MemorySessionService",
    traits: { ...OURS, durable: false },
    open: () => new MemorySessionService(),
    close: async () => {},
  },
  {
    name: "ADK's InMemorySessionService",
    traits: {
      durable: false,
      keepsOrderWithinMillisecond: true,
      sinceIsIncluded: true,
      listsState: false,
      sharesFirstState: false,
      refreshes: false,
      keepsOrderOfWrites: true,
      keepsTemporary: true,
      refusesWhenGone: false,
      refusesTakenId: false,
      beginsAtOnce: true,
    },
    open: () => new InMemorySessionService(),
    close: async () => {},
  },
  {
    name: "ADK's DatabaseSessionService in libSQL",
    traits: DATABASE,
    open: (path) => new DatabaseSessionService({ driver: LibSqlDriver, dbName: path }),
    close: closeDatabase,
  },
  ...(POSTGRES ? [inPostgres(POSTGRES)] : []),
];

/** Opens services on one path of its own, until it is cleared. */
export class Opened {
  readonly #case: SessionsCase;
  readonly #folder: string = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  readonly #services: BaseSessionService[] = [];

  constructor(sessions: SessionsCase) {
    this.#case = sessions;
  }

  get #path(): string {
    return join(this.#folder, "sessions.db");
  }

  async prepare(): Promise<void> {
    await this.#case.prepare?.(this.#path);
  }

  open(): BaseSessionService {
    const service = this.#case.open(this.#path);
    this.#services.push(service);
    return service;
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => this.#case.close(service)));
  }

  async clear(): Promise<void> {
    await this.close();
    await this.#case.remove?.(this.#path);
    rmSync(this.#folder, { recursive: true });
  }
}

/** An event that says `text`, which is also its id. */
export function said(text: string, timestamp: number, stateDelta: Record<string, unknown> = {}): Event {
  return createEvent({
    id: text,
    invocationId: "i",
    author: "a",
    timestamp,
    content: { role: "model", parts: [{ text }] },
    actions: { stateDelta },
  });
}
