import { describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { findStaleExceptions, findUnportableSql, PORTABILITY_EXCEPTIONS } from "./portable-sql.fixture.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { POSTGRES_SCHEMA_STEPS } from "./schema.ts";
import { importTestStatements } from "./statement-plans.fixture.ts";

const { url, reason } = await findTestDatabase();

const statements = await importTestStatements();

/** SQL that only PostgreSQL understands, or that does not work behind a pooler in transaction mode. */
const UNPORTABLE_SQL =
  /\b(ctid|xmin|xmax|oid|LISTEN|NOTIFY|pg_notify|MERGE|TABLESAMPLE|DO\s+\$|SET\s+LOCAL|TEMP|WITH\s+HOLD|pg_try_advisory_lock|pg_advisory_lock)\b/i;

describe("the statements", () => {
  it("have different names", () => {
    expect(statements.length).toBeGreaterThan(25);
    expect(new Set(statements.map(({ name }) => name)).size).toBe(statements.length);
  });

  it.for(statements)("$name is portable, and leaves locks to rows", ({ name, text }) => {
    expect(text).not.toMatch(UNPORTABLE_SQL);
    if (name !== "colloquy_lock_migration") expect(text).not.toMatch(/advisory/i);
  });

  it.for(statements)("$name is within the SQL that CockroachDB and YugabyteDB document", ({ name, text }) => {
    expect(findUnportableSql(name, text)).toEqual([]);
    expect(findStaleExceptions(name, text)).toEqual([]);
  });

  it("include each statement with an exception", () => {
    const names = statements.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(PORTABILITY_EXCEPTIONS)));
  });

  it("are checked for functions and for repeated modifications of a table", () => {
    const sql = "WITH x AS (DELETE FROM colloquy.a) UPDATE colloquy.a SET b = pg_sleep (1), c = coalesce(1)";
    expect(findUnportableSql("x", sql)).toEqual(["calls pg_sleep", "modifies a twice"]);
  });

  it.for(statements)("$name names the schema of every table", ({ text }) => {
    const tables = [...POSTGRES_SCHEMA_STEPS.join("").matchAll(/CREATE TABLE colloquy\.(\w+)/g)].map(
      ([, table]) => table,
    );
    expect(tables.length).toBeGreaterThan(8);
    const unqualified = new RegExp(
      `\\b(FROM|JOIN|INTO|UPDATE)\\s+(${tables.join("|")})\\b(?!\\s+AS|\\()`,
      "i",
    );
    expect(text.replace(/\bUPDATE SET\b/g, "")).not.toMatch(unqualified);
  });

  it.skipIf(reason)("can be prepared by PostgreSQL, with types for all parameters", async () => {
    await runTestSql(
      url,
      POSTGRES_SCHEMA_STEPS.reduce((script, sql) => script + sql, "CREATE SCHEMA colloquy;"),
    );
    await runTestSql(url, "CREATE TABLE colloquy.schema_state (version integer)");
    const script = statements.map(({ name, text }) => `PREPARE ${name} AS ${text};`).join("\n");
    const prepared = await runTestSql(url, `${script} SELECT name FROM pg_prepared_statements`);
    expect(prepared).toHaveLength(statements.length);
  });
});
