import type { FileWatcher } from "./file-watcher.ts";

/** Maximum time in milliseconds between the parts of a file that an editor writes. */
const HALF_WRITTEN_MS = 250;

/**
 * Resolves with the changed files as soon as all of them look complete. A file that looks half written has a moment to
 * change again. Resolves with `undefined` if the watcher is closed.
 */
export async function waitForSavedFiles(
  watcher: Pick<FileWatcher, "waitForChanges">,
  isHalfWritten: (file: string) => boolean,
): Promise<ReadonlySet<string> | undefined> {
  let changed = await watcher.waitForChanges();
  while (changed && [...changed].some(isHalfWritten)) {
    const more = await watcher.waitForChanges(HALF_WRITTEN_MS);
    if (more?.size === 0) return changed;
    changed = more && new Set([...changed, ...more]);
  }
  return changed;
}
