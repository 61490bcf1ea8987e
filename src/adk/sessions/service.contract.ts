import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BaseSessionService,
  createEvent,
  DatabaseSessionService,
  type Event,
  InMemorySessionService,
} from "@google/adk";
import { LibSqlDriver } from "@mikro-orm/libsql";
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
  /** An id that is taken is an error; else the session that had it is gone. */
  readonly refusesTakenId: boolean;
}

export interface SessionsCase {
  readonly name: string;
  readonly traits: Traits;
  /** A service on `path`, if it is durable; another on the same path finds what this one has kept. */
  readonly open: (path: string) => BaseSessionService;
  readonly close: (service: BaseSessionService) => Promise<void>;
}

export const SESSIONS: readonly SessionsCase[] = [
  {
    name: "SqliteSessionService",
    traits: {
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
    },
    open: (path) => new SqliteSessionService(path),
    close: async (service) => (service as SqliteSessionService).close(),
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
    },
    open: () => new InMemorySessionService(),
    close: async () => {},
  },
  {
    name: "ADK's DatabaseSessionService",
    traits: {
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
    },
    open: (path) => new DatabaseSessionService({ driver: LibSqlDriver, dbName: path }),
    // It has no end of its own.
    close: async (service) => (service as unknown as { orm?: { close(): Promise<void> } }).orm?.close(),
  },
];

/** Opens services on one path of its own, until it is cleared. */
export class Opened {
  readonly #case: SessionsCase;
  readonly #folder: string = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  readonly #services: BaseSessionService[] = [];

  constructor(sessions: SessionsCase) {
    this.#case = sessions;
  }

  open(): BaseSessionService {
    const service = this.#case.open(join(this.#folder, "sessions.db"));
    this.#services.push(service);
    return service;
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.splice(0).map((service) => this.#case.close(service)));
  }

  async clear(): Promise<void> {
    await this.close();
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
