import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty store for a server, and a function that removes it. */
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

/** Creates a temporary folder for a test. */
export async function createTempFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
