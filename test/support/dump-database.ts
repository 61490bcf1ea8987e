import type { DatabaseSync } from "node:sqlite";

/** Returns the SQL statements that create a database with the same schema version, tables, and rows. */
export function dumpDatabase(db: DatabaseSync): string {
  const [applicationId, version] = ["application_id", "user_version"].map((name) =>
    Number(db.prepare(`PRAGMA ${name}`).get()?.[name]),
  );
  const schema = readSchema(db);
  const rows = schema.filter(({ type }) => type === "table").flatMap(({ name }) => dumpRows(db, name));
  const pragmas = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`;
  return [pragmas, ...schema.map(({ sql }) => `${sql};`), ...rows, ""].join("\n");
}

/** Returns the tables and indexes in the order of their names, with their SQL on one line each. */
export function readSchema(db: DatabaseSync): { type: string; name: string; sql: string }[] {
  const rows = db
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
       ORDER BY type DESC, name`,
    )
    .all() as { type: string; name: string; sql: string }[];
  return rows.map((row) => ({ ...row, sql: row.sql.replaceAll(/\s+/g, " ") }));
}

function dumpRows(db: DatabaseSync, table: string): string[] {
  const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
  const values = columns.map(({ name }) => `quote("${String(name)}")`).join(" || ', ' || ");
  return db
    .prepare(`SELECT ${values} AS row FROM "${table}" ORDER BY 1`)
    .all()
    .map(({ row }) => `INSERT INTO ${table} VALUES (${String(row)});`);
}
