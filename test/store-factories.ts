import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A store that a server can be told to use, empty, and how to be rid of it. */
export interface TemporaryStore {
  readonly store: "memory" | `sqlite:${string}`;
  readonly remove: () => Promise<void>;
}

export const STORE_FACTORIES: readonly {
  readonly name: string;
  readonly openStore: () => Promise<TemporaryStore>;
}[] = [
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
];

/** A folder of its own for a test. */
export async function createTempFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
