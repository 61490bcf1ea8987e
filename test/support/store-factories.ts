import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresPrograms } from "../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "./find-test-postgres.ts";

/** An empty store for a server, and a function that removes it. */
export interface TemporaryStore {
  readonly store: "memory" | `sqlite:${string}` | `postgres://${string}`;
  readonly remove: () => Promise<void>;
}

interface StoreFactory {
  readonly name: string;
  readonly openStore: () => Promise<TemporaryStore>;
}

const POSTGRES_STORE_FACTORY: StoreFactory = {
  name: "PostgreSQL",
  openStore: async () => {
    const { url } = await findTestDatabase();
    return { store: url as `postgres://${string}`, remove: () => Promise.resolve() };
  },
};

/** All kinds of stores. PostgreSQL is absent on machines without its programs. */
export const STORE_FACTORIES: readonly StoreFactory[] = [
  {
    name: "memory",
    openStore: () => Promise.resolve({ store: "memory", remove: () => Promise.resolve() }),
  },
  {
    name: "SQLite",
    openStore: async () => {
      const { folder, remove } = await createTempFolder();
      return { store: `sqlite:${join(folder, "tasks.db")}`, remove };
    },
  },
  ...(findPostgresPrograms() === undefined ? [] : [POSTGRES_STORE_FACTORY]),
];

/** Creates a temporary folder for a test. */
export async function createTempFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
