import { redactUserInfo } from "../logging/index.ts";
import { isPostgresUrl, MemoryStore, PostgresStore, SqliteStore } from "../stores/index.ts";
import type { RetentionOptions, TaskStore } from "../engine/index.ts";

/**
 * A task store, or text that selects a task store. The text is `memory`, `sqlite:` followed by a file path, or the URL
 * of a PostgreSQL database.
 */
export type StoreOption =
  | TaskStore
  | "memory"
  | `sqlite:${string}`
  | `postgres://${string}`
  | `postgresql://${string}`;

/** The default task store, a SQLite file in the working directory. */
const DEFAULT_SQLITE_STORE_OPTION = "sqlite:.colloquy/colloquy.db";

/**
 * Creates the task store that the `store` option selects, but does not open the task store. If `retention` is
 * `false`, the memory store keeps all tasks.
 */
export function resolveStore(
  option: StoreOption = DEFAULT_SQLITE_STORE_OPTION,
  retention: RetentionOptions | false = {},
): TaskStore {
  if (option === "memory") return createMemoryStore(retention);
  if (retention !== false && retention.maxFinishedTasks !== undefined)
    throw new Error(
      `"retention.maxFinishedTasks" applies only to the store "memory"; use "retention.maxBytes" for other stores.`,
    );
  if (typeof option !== "string") return option;
  if (option.startsWith("sqlite:") && option.length > "sqlite:".length) {
    return new SqliteStore(option.slice("sqlite:".length));
  }
  if (isPostgresUrl(option)) return new PostgresStore(option);
  throw new Error(
    `Unknown store ${JSON.stringify(redactUserInfo(option))}; use "memory", "sqlite:path/to/file.db", or "postgres://user@host/database".`,
  );
}

function createMemoryStore(retention: RetentionOptions | false): MemoryStore {
  if (retention === false) return new MemoryStore({ maxFinishedTasks: Infinity, maxBytes: Infinity });
  const { maxFinishedTasks, maxBytes } = retention;
  return new MemoryStore({
    ...(maxFinishedTasks === undefined ? {} : { maxFinishedTasks }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
}
