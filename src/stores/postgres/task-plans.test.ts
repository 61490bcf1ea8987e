import { beforeAll, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { PostgresStore } from "./postgres-store.ts";
import { explainTestStatement, importTestStatements } from "./statement-plans.fixture.ts";

const { url, reason } = await findTestDatabase();
const statements = await importTestStatements();

/**
 * In an empty database, all indexes that contain the columns of a condition seem to cost the same. The plans of a
 * connection outlive the first thousand tasks, so a wrong index would make each append read all tasks of a caller.
 */
describe.skipIf(reason)("statements about given tasks, planned in an empty database", () => {
  beforeAll(async () => {
    const store = new PostgresStore(url);
    await store.open();
    await store.overview.prepareForAllCallers?.();
    await store.close();
  });

  it.for(statements.filter(({ text }) => /task_id = /.test(text)))(
    "$name finds tasks by their id",
    async (statement) => {
      const parameters = Math.max(
        ...[...statement.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
      );
      const nodes = await explainTestStatement(url, statement, Array(parameters).fill("NULL").join());
      const lookups = nodes.filter((node) => node["Index Cond"]?.includes("task_id = "));
      expect(lookups.map((node) => node["Index Name"])).toEqual(lookups.map(() => "task_by_id"));
    },
  );
});
