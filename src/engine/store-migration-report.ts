/** Progress of a task store that migrates data of an earlier version of Colloquy. */
export interface StoreMigrationReport {
  /** Display name of the store, for example `sqlite:.colloquy/tasks.db`. */
  readonly store: string;
  /**
   * The next part of the migration: the backup of the store, or the step to the schema version `nextVersion`.
   * The value `done` reports the end.
   */
  readonly phase: "backup" | "step" | "done";
  /** Schema version of the store before the migration. */
  readonly fromVersion: number;
  /** Schema version of the store after the migration. */
  readonly toVersion: number;
  /** Schema version after the step that begins. Only set for the phase `step`. */
  readonly nextVersion?: number;
  /** Path of the backup, which an earlier version of Colloquy can open. `undefined` without a backup. */
  readonly backupFile: string | undefined;
  /** Size of the store before the migration. */
  readonly bytes: number;
  /** Time in milliseconds since the start of the migration. */
  readonly elapsedMs: number;
}

/** Receives the progress of a migration. Called synchronously. */
export type StoreMigrationListener = (report: StoreMigrationReport) => void;
