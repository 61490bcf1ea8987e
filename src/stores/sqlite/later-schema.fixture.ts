/** Schema steps of a later version of Colloquy. Tests replace `SCHEMA_STEPS` with these steps. */
export function addTestSchemaSteps(steps: readonly string[]): string[] {
  return [...steps, "ALTER TABLE turn ADD COLUMN note TEXT", "CREATE TABLE added (key INTEGER PRIMARY KEY)"];
}
