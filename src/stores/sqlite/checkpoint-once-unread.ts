import { setTimeout as pause } from "node:timers/promises";
import { A2AError } from "../../protocol/index.ts";
import type { OpenedSqliteFile } from "./sqlite-file.ts";

const RETRY_INTERVAL_MS = 50;
/** Maximum time in milliseconds to wait for another program, such as a backup of a large file. */
const MAX_WAIT_MS = 60_000;

/**
 * Empties the write-ahead log. While another program reads the file, SQLite keeps the log. Rejects with
 * `UNAVAILABLE` if the other program does not stop in time.
 */
export async function checkpointOnceUnread(
  file: Pick<OpenedSqliteFile, "checkpointEntireWal">,
): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (!file.checkpointEntireWal()) {
    if (performance.now() >= deadline) {
      const text =
        "The tasks are deleted, but their content remains in the write-ahead log while another program reads the file; stop that program and repeat the erasure.";
      throw new A2AError("UNAVAILABLE", text);
    }
    await pause(RETRY_INTERVAL_MS);
  }
}
