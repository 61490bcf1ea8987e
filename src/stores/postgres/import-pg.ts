/** Imports the package `pg`. Rejects with an instruction if the package is not installed. */
export async function importPg(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Error("The PostgreSQL store requires an additional package: npm install pg", { cause });
  }
}
