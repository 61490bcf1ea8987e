import { mkdir, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { listTrafficFiles, type TrafficRecordOptions } from "../../observe/trace/recording/index.ts";

const SQLITE_PREFIX = "sqlite:";
/** Limits of the record of `colloquy dev` and `colloquy demo`, which the console reads completely after a restart. */
const LIMITS = { maxBytes: 8 * 2 ** 20, maxFiles: 2 };

function getRecordFile(storeFile: string): string {
  return `${storeFile}-record.jsonl`;
}

/** Returns the record of `colloquy dev` and `colloquy demo`, which is next to the SQLite file of the tasks. Other stores have no record. */
export async function createDefaultRecord(store: string): Promise<TrafficRecordOptions | undefined> {
  if (!store.startsWith(SQLITE_PREFIX)) return undefined;
  const file = getRecordFile(store.slice(SQLITE_PREFIX.length));
  await mkdir(dirname(file), { recursive: true });
  return { file, ...LIMITS };
}

/**
 * Empties the record next to the SQLite file of a store, because its requests do not all name their tasks. A server that
 * writes the record continues at the start of the file.
 */
export async function eraseDefaultRecord(storeFile: string): Promise<void> {
  for (const file of await listTrafficFiles(getRecordFile(storeFile)))
    await truncate(file).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    });
}
