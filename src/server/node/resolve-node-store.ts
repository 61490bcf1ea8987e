import type { RetentionOptions } from "../../stores/retention/index.ts";
import { redactUserInfo } from "../../observe/logging/index.ts";
import { isPostgresUrl, PostgresStore, SqliteStore } from "../../stores/index.ts";
import { resolveStore, type StoreOption } from "../resolve-store.ts";
import type { ServerStore } from "../resolve-store.ts";

/** The default task store, a SQLite file in the working directory. */
const DEFAULT_SQLITE_STORE_OPTION = "sqlite:.colloquy/colloquy.db";

/** Creates the task store that the option `store` selects, but does not open the task store. */
export function resolveNodeStore(
  option: StoreOption = DEFAULT_SQLITE_STORE_OPTION,
  retention: RetentionOptions | false = {},
): ServerStore {
  return resolveStore(option, retention, createStoreFromText);
}

function createStoreFromText(text: string): ServerStore {
  if (text.startsWith("sqlite:") && text.length > "sqlite:".length)
    return new SqliteStore(text.slice("sqlite:".length));
  if (isPostgresUrl(text)) return new PostgresStore(text);
  throw new Error(
    `Unknown store ${JSON.stringify(redactUserInfo(text))}; use "memory", "sqlite:path/to/file.db", or "postgres://user@host/database".`,
  );
}
