import { describe } from "vitest";
import { findTestDatabase } from "../../../test/find-test-postgres.ts";
import { defineTaskStoreContract } from "../task-store.contract.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const { url, reason } = await findTestDatabase();

const EMPTY_ALL_TABLES_SQL = `
  TRUNCATE colloquy.node, colloquy.task, colloquy.log, colloquy.snapshot, colloquy.message, colloquy.push, colloquy.turn,
    colloquy.queued_turn, colloquy.deleted_task;
  UPDATE colloquy.stored_size SET bytes = 0;`;

/** A store that is empty when it is opened for the first time. */
class EmptyPostgresStore extends PostgresStore {
  #isEmpty = false;

  override async open(): Promise<void> {
    await super.open();
    if (this.#isEmpty) return;
    this.#isEmpty = true;
    await runTestSql(url, EMPTY_ALL_TABLES_SQL);
    await this.leases.renew();
  }
}

describe.skipIf(reason)("PostgreSQL", () => {
  defineTaskStoreContract("PostgresStore", () => new EmptyPostgresStore(url, { poolSize: 4 }));
});
