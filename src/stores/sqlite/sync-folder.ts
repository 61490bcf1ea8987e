import { closeSync, fsyncSync, openSync } from "node:fs";

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
