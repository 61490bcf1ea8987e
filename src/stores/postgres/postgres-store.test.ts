import { describe } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { defineTaskStoreContract } from "../task-store.contract.ts";
import { EmptyPostgresStore } from "./empty-postgres-store.fixture.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("PostgreSQL", () => {
  defineTaskStoreContract("PostgresStore", () => new EmptyPostgresStore(url, { poolSize: 4 }));
});
