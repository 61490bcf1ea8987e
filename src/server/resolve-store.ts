import type { RetentionOptions } from "../stores/retention/index.ts";
import { pickOptions } from "../base/usage-checks/index.ts";
import { MemoryStore, type MemoryStoreOptions, type ServerStore } from "../stores/portable/index.ts";

export type { ServerStore, TaskOverviewEntry, TaskOverviewQuery } from "../stores/portable/index.ts";

/**
 * A task store, or text that selects a task store. The text is `memory`, `sqlite:` followed by a file path, or the URL
 * of a PostgreSQL database.
 */
export type StoreOption =
  | ServerStore
  | "memory"
  | `sqlite:${string}`
  | `postgres://${string}`
  | `postgresql://${string}`;

/**
 * Creates the task store that the `store` option selects, but does not open the task store. If `retention` is
 * `false`, the memory store keeps all tasks. The function `createStoreFromText` creates all stores except the memory
 * store.
 */
export function resolveStore(
  option: StoreOption,
  retention: RetentionOptions | false,
  createStoreFromText: (text: string) => ServerStore,
): ServerStore {
  if (option === "memory") return createMemoryStore(retention);
  if (retention !== false && retention.maxFinishedTasks !== undefined)
    throw new Error(
      `"retention.maxFinishedTasks" applies only to the store "memory"; use "retention.maxBytes" for other stores.`,
    );
  return typeof option === "string" ? createStoreFromText(option) : option;
}

function createMemoryStore(retention: RetentionOptions | false): MemoryStore {
  if (retention === false) return new MemoryStore({ maxFinishedTasks: Infinity, maxBytes: Infinity });
  return new MemoryStore(pickOptions<MemoryStoreOptions>(retention, "maxBytes maxFinishedTasks"));
}
