import { assertKnownSchemaVersion, runMigrationSteps, SCHEMA_VERSION } from "../sqlite/schema.ts";
import type { SqlDatabase } from "../sqlite/sql-database.ts";

/** Cloudflare refuses `PRAGMA user_version`, so the version has a table. */
const CREATE_VERSION_TABLE_SQL = `
  CREATE TABLE IF NOT EXISTS colloquy_schema (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)`;

/** Creates or migrates the tables. Call the function within a transaction. */
export function migrateDurableObject(db: SqlDatabase): void {
  db.exec(CREATE_VERSION_TABLE_SQL);
  const row = db.prepare("SELECT version FROM colloquy_schema").get();
  const from = Number(row?.["version"] ?? 0);
  assertKnownSchemaVersion(from, "The storage of this Durable Object");
  if (from === SCHEMA_VERSION) return;
  runMigrationSteps(db, { from });
  db.prepare("INSERT OR REPLACE INTO colloquy_schema (id, version) VALUES (1, ?)").run(SCHEMA_VERSION);
}
