/** The part of a cursor of Cloudflare's `SqlStorage` that the store uses. */
export interface DurableObjectSqlCursor extends Iterable<Record<string, DurableObjectSqlValue>> {
  toArray(): Record<string, DurableObjectSqlValue>[];
}

export type DurableObjectSqlValue = ArrayBuffer | string | number | null;

/**
 * The part of Cloudflare's `DurableObjectStorage` that the store uses. The `storage` of a Durable Object with SQLite has
 * this type.
 */
export interface DurableObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: unknown[]): DurableObjectSqlCursor;
    readonly databaseSize: number;
  };
  transactionSync<T>(work: () => T): T;
  /** Resolves once all previous writes are durable. */
  sync(): Promise<void>;
  getAlarm(): Promise<number | null>;
  setAlarm(scheduledTime: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}
