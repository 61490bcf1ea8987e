/**
 * Stores tasks in a PostgreSQL database, which several servers can share. One statement commits a batch of appends with
 * a compare-and-set. Every statement is a file in `statements/`. Only `import-pg.ts` imports the package `pg`, and only when a store opens.
 */
export { isPostgresUrl } from "./format-postgres-store-name.ts";
export { PostgresStore } from "./postgres-store.ts";
export type { PostgresStoreOptions } from "./postgres-store-options.ts";
export { planPostgresMigration, type PostgresMigrationPlan } from "./migrate-postgres-schema.ts";
