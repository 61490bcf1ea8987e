import { MemoryStore, SqliteStore } from "../stores/index.ts";
import type { TaskStore } from "../engine/index.ts";

/** A store, or its name: `memory`, or `sqlite:` followed by a file path. */
export type StoreOption = TaskStore | "memory" | `sqlite:${string}`;

/** The default store: a durable SQLite file in the working directory. */
const DEFAULT_STORE = "sqlite:.colloquy/colloquy.db";

/** Returns the store for an option value. The returned store is not open yet. */
export function resolveStore(option: StoreOption = DEFAULT_STORE): TaskStore {
  if (typeof option !== "string") return option;
  if (option === "memory") return new MemoryStore();
  if (option.startsWith("sqlite:") && option.length > "sqlite:".length) {
    return new SqliteStore(option.slice("sqlite:".length));
  }
  throw new Error(`Unknown store ${JSON.stringify(option)}; use "memory" or "sqlite:path/to/file.db".`);
}
