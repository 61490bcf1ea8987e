import { closeSync, fsyncSync, openSync } from "node:fs";

/**
 * Creates a file that only the current user can access, unless it exists. By default, SQLite creates a world-readable
 * database file. The companion files (-wal, -shm) inherit the file mode of the database file. The function does not open
 * an existing file, because closing the file would release all locks of this process on the file (POSIX).
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Syncs the folder, so that the names of its files are durable. */
export function syncFolder(path: string): void {
  // Windows does not support syncing folders.
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
