import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import { createTestDatabase } from "../../src/stores/postgres/postgres-server.fixture.ts";
import type { SharedPostgresReply } from "./shared-postgres-server.ts";

/** A new database on the server of the test run. */
export interface TestDatabase {
  /** URL of the database, or an empty text without a server. */
  readonly url: string;
  /** The reason why this machine has no server. Tests that need the database are then skipped. */
  readonly reason: string | undefined;
}

/** Creates an empty database. Prints the reason if there is no server. */
export async function findTestDatabase(): Promise<TestDatabase> {
  const socket = connect(inject("sharedPostgresPort"), "127.0.0.1");
  const reply = JSON.parse(await text(socket)) as SharedPostgresReply;
  if ("reason" in reply) {
    console.warn(`Tests of the PostgreSQL store are skipped: ${reply.reason}`);
    return { url: "", reason: reply.reason };
  }
  return { url: await createTestDatabase(reply.url, `test-${randomUUID()}`), reason: undefined };
}
