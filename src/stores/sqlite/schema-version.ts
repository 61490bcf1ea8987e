import { A2AError } from "../../protocol/index.ts";
import { SCHEMA_STEPS } from "./schema.ts";
import type { SqlDatabase } from "./sql-database.ts";

export const SCHEMA_VERSION: number = SCHEMA_STEPS.length;

/** Throws an error if a newer version of Colloquy wrote the database. */
export function assertKnownSchemaVersion(version: number, name: string): void {
  if (version <= SCHEMA_VERSION) return;
  throw new A2AError(
    "UNAVAILABLE",
    `${name} was written by a newer version of Colloquy (schema ${version}, this one knows ${SCHEMA_VERSION}); upgrade Colloquy or choose another file.`,
  );
}

/** Creates the error for a database that a version before the first release wrote. */
export function createUnreleasedSchemaError(name: string, remedy: string): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    `${name} was written by a version of Colloquy before the first release, which no later version can read. To start with an empty store, ${remedy}.`,
  );
}

/** Runs the steps that follow the schema version `from`. Call the function within a transaction. */
export function runSchemaSteps(
  db: SqlDatabase,
  from: number,
  onStep: (nextVersion: number) => void = () => {},
): void {
  for (const [at, sql] of SCHEMA_STEPS.slice(from).entries()) {
    onStep(from + at + 1);
    db.exec(sql);
  }
}
