import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

type StoreName = "memory" | `sqlite:${string}`;

/** Runs a test with a folder of its own, which is gone afterwards. */
export async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The stores that a server can be told to use, each empty. */
export const eachStore: readonly {
  readonly name: string;
  readonly withStore: (use: (store: StoreName) => Promise<void>) => Promise<void>;
}[] = [
  { name: "memory", withStore: (use) => use("memory") },
  { name: "SQLite", withStore: (use) => withFolder((folder) => use(`sqlite:${join(folder, "tasks.db")}`)) },
];
