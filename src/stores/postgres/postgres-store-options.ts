import type { PushSecretKeysOption } from "../push-secret-cipher.ts";

/** Options of `PostgresStore`. */
export interface PostgresStoreOptions {
  /** Maximum number of connections of this process. Default: 10. */
  readonly poolSize?: number;
  /** Maximum time in milliseconds that a statement waits for a connection. Default: 5,000. */
  readonly connectTimeoutMs?: number;
  /** Maximum time in milliseconds of a statement. Default: 30,000. */
  readonly queryTimeoutMs?: number;
  /**
   * Whether each connection prepares each statement once, and sets its planner settings. Set to `false` behind PgBouncer
   * in transaction mode, because both would reach other clients. Default: true.
   */
  readonly preparedStatements?: boolean;
  /**
   * Time in milliseconds after which other servers recover the running tasks of a server that has stopped to renew its
   * leases. Default: 10,000.
   */
  readonly leaseMs?: number;
  /**
   * Keys that encrypt the tokens and credentials of push configurations, each with 32 bytes in base64, or a function
   * that returns the keys. The first key encrypts, and all keys decrypt. All servers need the same keys. Without keys,
   * the server refuses webhooks with a token or credentials. Default: the environment variable
   * `COLLOQUY_PUSH_SECRET_KEYS`, with commas between the keys.
   */
  readonly pushSecretKeys?: PushSecretKeysOption;
  /**
   * Whether `open` creates missing tables and migrates older tables. If false, `open` rejects until
   * `colloquy store migrate` has run. Default: true.
   */
  readonly migrate?: boolean;
  /**
   * Whether the servers send each other hints with `LISTEN` and `NOTIFY`, which shorten the delay of events from other
   * servers. Without hints, a server polls every 50 ms while it follows a task. Default: true.
   */
  readonly hints?: boolean;
}

/** The default value of each option except `pushSecretKeys`. */
export const DEFAULT_POSTGRES_OPTIONS: Required<Omit<PostgresStoreOptions, "pushSecretKeys">> = {
  poolSize: 10,
  connectTimeoutMs: 5000,
  queryTimeoutMs: 30_000,
  preparedStatements: true,
  leaseMs: 10_000,
  migrate: true,
  hints: true,
};
