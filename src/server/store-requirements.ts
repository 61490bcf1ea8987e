import type { TaskStore } from "../engine/index.ts";
import type { ServerOptions } from "./server-options.ts";

/** Throws an error if an option of the server needs an ability that the store does not have. */
export function assertStoreSupportsOptions(
  { name, nodes, overview }: TaskStore,
  { role = "all", operator, textIndex }: Pick<ServerOptions, "role" | "operator" | "textIndex">,
): void {
  if (role !== "all" && !nodes)
    throw new Error(
      `"role" is ${JSON.stringify(role)}, but only one server can use the store ${name}; use a postgres:// store.`,
    );
  if (textIndex && !overview?.startTextIndex)
    throw new Error(
      `"textIndex" requires a store with a text index, which ${name} does not have; use the memory, SQLite, or PostgreSQL store.`,
    );
  if (operator && !overview)
    throw new Error(
      `"operator" requires a store that lists the tasks of all callers, which ${name} does not; use the memory, SQLite, or PostgreSQL store.`,
    );
}
