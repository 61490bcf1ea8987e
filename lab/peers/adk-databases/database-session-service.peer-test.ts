/** Tests ADK's `DatabaseSessionService` like our session services, in libSQL and PostgreSQL. */
import { basename, dirname } from "node:path";
import { type BaseSessionService, DatabaseSessionService } from "@google/adk";
import { LibSqlDriver } from "@mikro-orm/libsql";
import { MikroORM, PostgreSqlDriver } from "@mikro-orm/postgresql";
import type {
  SessionServiceTraits,
  SessionServiceUnderTest,
} from "../../../src/agents/adk/sessions/session-service.contract.ts";
import { defineSessionServiceContract } from "../../../src/agents/adk/sessions/session-service-behavior.contract.ts";
import { defineSessionsOverA2aContract } from "../../../src/agents/adk/sessions/sessions-over-a2a.contract.ts";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";

const DATABASE_SESSION_SERVICE_TRAITS: SessionServiceTraits = {
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

/** Closes the database connection, because `DatabaseSessionService` has no close method. */
async function closeDatabaseOfTestSessionService(service: BaseSessionService): Promise<void> {
  await (service as unknown as { orm?: { close(): Promise<void> } }).orm?.close();
}

function createPostgresServiceUnderTest(clientUrl: string): SessionServiceUnderTest {
  const settingsFor = (
    path: string,
  ): { driver: typeof PostgreSqlDriver; clientUrl: string; dbName: string } => ({
    driver: PostgreSqlDriver,
    clientUrl,
    dbName: testPathToPostgresDatabaseName(path),
  });
  return {
    name: "ADK's DatabaseSessionService in PostgreSQL",
    // When sessions are created concurrently, all but one fail because the rows of the app and user already
    // exist.
    traits: { ...DATABASE_SESSION_SERVICE_TRAITS, supportsConcurrentCreation: false },
    open: (path) => new DatabaseSessionService(settingsFor(path)),
    close: closeDatabaseOfTestSessionService,
    // `DatabaseSessionService` cannot create its database and tables concurrently.
    prepareStorage: async (path) => {
      const service = new DatabaseSessionService(settingsFor(path));
      await service.init();
      await closeDatabaseOfTestSessionService(service);
    },
    dropStorage: async (path) => {
      const discovery = { warnWhenNoEntities: false };
      const orm = await MikroORM.init({ ...settingsFor(path), dbName: "postgres", discovery });
      await orm.em
        .getConnection()
        .execute(`DROP DATABASE ${testPathToPostgresDatabaseName(path)} WITH (FORCE)`);
      await orm.close();
    },
  };
}

/** Returns a separate database name for the folder of each test. */
function testPathToPostgresDatabaseName(path: string): string {
  return basename(dirname(path)).replaceAll(/\W/g, "_").toLowerCase();
}

const services: SessionServiceUnderTest[] = [
  {
    name: "ADK's DatabaseSessionService in libSQL",
    traits: DATABASE_SESSION_SERVICE_TRAITS,
    open: (path) => new DatabaseSessionService({ driver: LibSqlDriver, dbName: path }),
    close: closeDatabaseOfTestSessionService,
  },
];
const { url, reason } = await findTestDatabase();
if (reason === undefined) services.push(createPostgresServiceUnderTest(new URL("/", url).href));

for (const sessions of services) {
  defineSessionServiceContract(sessions);
  defineSessionsOverA2aContract(sessions);
}
