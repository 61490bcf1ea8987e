import { DatabaseSync } from "node:sqlite";
import { APPLICATION_ID } from "./migrate-schema.ts";
import { SCHEMA_STEPS } from "./schema.ts";

/** Creates an empty store with the schema of the first release. */
export function createTestFileOfFirstSchema(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`${SCHEMA_STEPS[0]} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`);
  db.close();
}
