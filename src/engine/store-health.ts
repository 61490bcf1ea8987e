import { A2AError } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

/**
 * Ability of a task store to commit. A `healthy` store commits. A `full` store has no disk space left. A
 * `failing` store cannot commit for another reason, for example because another program has locked the file.
 * A `failed` store could not sync its disk. A `failed` store does not know which of its last commits are
 * durable until it has opened its file again. The file of a `lost` store was removed, moved, or damaged while the
 * store was open. In every state, the store can read durable tasks.
 */
export type StoreState = "healthy" | "full" | "failing" | "failed" | "lost";

/** Change of the state of a task store. */
export interface StoreStateChange {
  /** Display name of the store, for example `sqlite:.colloquy/tasks.db`. */
  readonly store: string;
  readonly state: StoreState;
  readonly previousState: StoreState;
  /** Error that made the store leave the previous state. The change to `healthy` has no error. */
  readonly error?: Error;
}

/**
 * Health of a task store. A store with `TaskStore.health` leaves every state other than `healthy` without
 * help as soon as the fault is over: the store repeatedly tries to commit, and opens its file again if
 * necessary. A `lost` store becomes healthy only if its moved file has its path again.
 */
export interface StoreHealth {
  readonly state: StoreState;
  /** Calls `listener` after each change of the state. Returns a function that removes the listener. */
  onChange(listener: (change: StoreStateChange) => void): () => void;
}

/** Delay in seconds after which callers should repeat a request that the store could not serve. */
export const STORE_RETRY_AFTER_SECONDS = 2;

/**
 * Throws `UNAVAILABLE` if the store cannot commit, so that a new message is refused at once instead of after
 * a failed commit. A store without `health` accepts every message.
 */
export function assertStoreAcceptsNewWork(health: StoreHealth | undefined): void {
  if (health && !isStoreHealthy(health)) throw createStoreUnavailableError(health);
}

function isStoreHealthy({ state }: StoreHealth): boolean {
  return state === "healthy";
}

/** Creates the error for requests that need a commit while the store cannot commit. */
function createStoreUnavailableError({ state }: StoreHealth): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    `The server cannot store messages at the moment (store: ${state}); try again in ${STORE_RETRY_AFTER_SECONDS} seconds.`,
    { retryAfter: STORE_RETRY_AFTER_SECONDS },
  );
}

/**
 * Measurements of a task store. Gauges describe the moment of the measurement, and counters begin at 0 when the process
 * creates the store.
 */
export interface StoreGauges {
  /** Display name of the store, without secrets. */
  readonly store: string;
  /** Connections of this process to the database of the store. */
  readonly pool: {
    /** Maximum number of connections (`poolSize`). */
    readonly max: number;
    /** Number of open connections. */
    readonly open: number;
    /** Number of open connections that run a statement or a transaction. */
    readonly busy: number;
    /** Number of statements that wait for a connection. A value above 0 over a longer time requires a larger pool. */
    readonly waiting: number;
  };
  readonly leases: {
    /** Number of running turns of this process. */
    readonly held: number;
    /** Duration of a lease in milliseconds (`leaseMs`). */
    readonly durationMs: number;
    /**
     * Time in milliseconds since the last successful renewal began. Other servers may claim the turns of this process
     * as soon as the time exceeds `durationMs`.
     */
    readonly sinceRenewalMs: number;
    /** Counter of turns that this process has taken over from a stopped server, or from itself after a failure. */
    readonly claimed: number;
    /**
     * Number of turns that no process runs and that may start, at the last renewal of the leases. At most 10,000. All
     * processes on the database count the same turns. A value above 0 over a longer time requires more processes that
     * start agents, or higher `limits.runs`.
     */
    readonly waiting: number;
  };
  readonly commits: {
    /** Counter of successful commits. A commit contains the pending events of all tasks. */
    readonly succeeded: number;
    /** Counter of failed commits, including the failed repetitions of a commit. */
    readonly failed: number;
    /** Counter of committed events. */
    readonly events: number;
    /** Median duration in milliseconds of the successful commits of the last minute, or 0 without commits. */
    readonly p50Ms: number;
    /** 99th percentile of the same durations in milliseconds. */
    readonly p99Ms: number;
  };
}

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

/** Maximum time in milliseconds for which a request waits for a store that cannot commit. */
const MAX_REQUEST_WAIT_MS = 1_000;

/**
 * Limits the time for which requests wait for a commit while the store cannot commit. The request that discovers a fault
 * is therefore answered soon. Its change still waits for the store, so that the outcome of the request is unknown. A
 * client that repeats the message or the cancellation receives the outcome.
 */
export class RequestWaitLimit {
  readonly #health: StoreHealth | undefined;
  readonly #clock: Clock;
  readonly #rejectWaits = new Set<(error: A2AError) => void>();
  #cancelTimer: (() => void) | undefined;

  constructor(health: StoreHealth | undefined, clock: Clock) {
    this.#health = health;
    this.#clock = clock;
    health?.onChange(({ state }) => {
      if (state !== "healthy") return this.#startTimer();
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
    });
  }

  /** False if the store can always commit, so that no request needs a limit. */
  get isNeeded(): boolean {
    return this.#health !== undefined;
  }

  /**
   * Resolves like `outcome`. Rejects with `UNAVAILABLE` if the store cannot commit for a second. `onLate` then receives
   * the outcome, so that the caller can release what the outcome holds.
   */
  wait<T>(outcome: Promise<T>, onLate?: (outcome: T) => void): Promise<T> {
    const health = this.#health;
    if (!health) return outcome;
    return new Promise<T>((resolve, reject) => {
      let isLate = false;
      const rejectWait = (error: A2AError): void => {
        isLate = true;
        reject(error);
      };
      this.#rejectWaits.add(rejectWait);
      if (!isStoreHealthy(health)) this.#startTimer();
      const settle = (value: T): void => {
        this.#rejectWaits.delete(rejectWait);
        if (isLate) onLate?.(value);
        else resolve(value);
      };
      outcome.then(settle, (error: unknown) => {
        this.#rejectWaits.delete(rejectWait);
        reject(error);
      });
    });
  }

  #startTimer(): void {
    this.#cancelTimer ??= this.#clock.schedule(MAX_REQUEST_WAIT_MS, () => {
      this.#cancelTimer = undefined;
      if (!this.#health || isStoreHealthy(this.#health)) return;
      const error = createStoreUnavailableError(this.#health);
      for (const rejectWait of this.#rejectWaits) rejectWait(error);
      this.#rejectWaits.clear();
    });
  }
}
