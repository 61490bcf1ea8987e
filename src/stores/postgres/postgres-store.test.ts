import { afterAll, describe } from "vitest";
import { defineTaskStoreContract } from "../task-store.contract.ts";
import { createTestDatabase, runTestSql, startTestPostgres } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const server = await startTestPostgres();
const url = await createTestDatabase(server.url, "store");
afterAll(() => server.remove());

defineTaskStoreContract("PostgresStore", () => {
  const store = new PostgresStore(url);
  const open = store.open.bind(store);
  let isNew = true;
  store.open = async () => {
    if (isNew) await runTestSql(url, "DROP SCHEMA IF EXISTS colloquy CASCADE");
    isNew = false;
    await open();
  };
  return store;
});
describe("x", () => {});
