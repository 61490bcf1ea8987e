import { MemoryStore, SqliteStore } from "../stores/index.ts";
import type { TaskStore } from "../engine/index.ts";

/** A store, or the name of one: `memory`, or `sqlite:` and a file. */
export type StoreOption = TaskStore | "memory" | `sqlite:${string}`;

/** Where tasks live unless told otherwise: durable, in the working directory. */
const DEFAULT_STORE = "sqlite:.colloquy/colloquy.db";

/** The store that was chosen, not yet open. */
export function resolveStore(choice: StoreOption = DEFAULT_STORE): TaskStore {
  if (typeof choice !== "string") return choice;
  if (choice === "memory") return new MemoryStore();
  if (choice.startsWith("sqlite:") && choice.length > "sqlite:".length) {
    return new SqliteStore(choice.slice("sqlite:".length));
  }
  throw new Error(`Unknown store ${JSON.stringify(choice)}; use "memory" or "sqlite:path/to/file.db".`);
}
