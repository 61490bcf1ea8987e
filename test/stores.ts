import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A store that a server can be told to use, empty, and how to be rid of it. */
export interface FreshStore {
  readonly store: "memory" | `sqlite:${string}`;
  readonly remove: () => Promise<void>;
}

export const eachStore: readonly { readonly name: string; readonly openStore: () => Promise<FreshStore> }[] =
  [
    {
      name: "memory",
      openStore: () => Promise.resolve({ store: "memory", remove: () => Promise.resolve() }),
    },
    {
      name: "SQLite",
      openStore: async () => {
        const { folder, remove } = await freshFolder();
        return { store: `sqlite:${join(folder, "tasks.db")}`, remove };
      },
    },
  ];

/** A folder of its own for a test. */
export async function freshFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
