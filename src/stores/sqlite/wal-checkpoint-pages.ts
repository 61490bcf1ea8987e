/** Size of the write-ahead log, in pages of 4 KB, at which a commit starts a checkpoint. */
export const WAL_CHECKPOINT_PAGES = 4000;
