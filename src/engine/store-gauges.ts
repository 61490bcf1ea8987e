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
