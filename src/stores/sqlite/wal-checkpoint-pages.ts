/** Size of the write-ahead log, in pages of 4 KB, at which the store runs a checkpoint. */
export const WAL_CHECKPOINT_PAGES = 4000;

/**
 * Size at which a commit runs a checkpoint. Usually, the store runs a checkpoint earlier, when it inspects its files.
 * On Windows, the store does not inspect its files.
 */
export const COMMIT_CHECKPOINT_PAGES: number = (process.platform === "win32" ? 1 : 4) * WAL_CHECKPOINT_PAGES;
