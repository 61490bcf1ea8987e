import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import {
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { planPostgresMigration } from "./plan-postgres-migration.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";
import { POSTGRES_SCHEMA_VERSION } from "./schema.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("the schema of a PostgreSQL database", () => {
  beforeEach(() => runTestSql(url, "DROP SCHEMA IF EXISTS colloquy CASCADE"));

  async function openAndClose(options = {}): Promise<void> {
    const store = new PostgresStore(url, options);
    await store.open();
    await store.close();
  }

  const readVersions = (): Promise<unknown> => runTestSql(url, "SELECT version FROM colloquy.schema_version");

  it("is created once by stores that start at the same time", async () => {
    await Promise.all(Array.from({ length: 6 }, () => openAndClose()));
    expect(await readVersions()).toEqual([{ version: POSTGRES_SCHEMA_VERSION }]);
  });

  it("can be created by the printed script", async () => {
    const plan = await planPostgresMigration(url);
    expect(plan).toMatchObject({ fromVersion: 0, toVersion: POSTGRES_SCHEMA_VERSION });
    await runTestSql(url, plan.script ?? "");
    await openAndClose({ migrate: false });
    expect((await planPostgresMigration(url)).script).toBeUndefined();
  });

  it("is not created by a store that must not migrate", async () => {
    await expect(openAndClose({ migrate: false })).rejects.toThrow("run colloquy store migrate");
  });

  it("of version 2 gets a text index, which finds the stored tasks", async () => {
    const store = new PostgresStore(url);
    await store.open();
    const log = [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "stored before")];
    expect(await store.commit([createTestLogAppend("t", 0, log)])).toEqual([undefined]);
    await store.close();
    await runTestSql(
      url,
      `DROP TABLE colloquy.task_text, colloquy.task_text_queue, colloquy.sweep_clock;
      UPDATE colloquy.schema_version SET version = 2`,
    );
    const phases: string[] = [];
    await store.open(({ phase }) => phases.push(phase));
    expect(phases).toEqual(["step", "step", "done"]);
    await store.overview.startTextIndex?.();
    await expect
      .poll(async () => (await store.overview.list({ text: "before", limit: 1 })).tasks)
      .toMatchObject([{ taskId: "t", seq: 2 }]);
    await store.close();
  });

  it("accepts the statements of running nodes that know only version 1 or 2", async () => {
    const store = new PostgresStore(url);
    await store.open();
    const log = [createTestSubmittedTaskEvent("t"), createTestChunkEvent("t", "first")];
    expect(await store.commit([createTestLogAppend("t", 0, log)])).toEqual([undefined]);
    const earlierTaskColumns =
      "scope, tenant, principal, agent, context_id, seq, state, status_time, epoch, running, lease_node";
    await runTestSql(
      url,
      `WITH created AS (
        INSERT INTO colloquy.task (key, task_id, ${earlierTaskColumns})
        SELECT nextval('colloquy.task_key_seq'), 'u', ${earlierTaskColumns} FROM colloquy.task RETURNING key
      )
      INSERT INTO colloquy.log (task, seq, lines, has_only_artifacts)
      SELECT created.key, log.seq, replace(log.lines, '"t"', '"u"'), log.has_only_artifacts FROM created, colloquy.log;
      UPDATE colloquy.task SET running = true, lease_node = NULL, wake_at = coalesce(NULL, '-infinity'::timestamptz)
      WHERE task_id = 'u';
      UPDATE colloquy.task SET epoch = epoch + 1, lease_node = gen_random_uuid() WHERE task_id = 'u' AND running;
      UPDATE colloquy.task SET running = false, lease_node = NULL WHERE task_id = 'u'`,
    );
    const { tasks } = await store.overview.list({ limit: 9 });
    const seqs = Object.fromEntries(tasks.map(({ taskId, seq }) => [taskId, seq]));
    expect(seqs).toEqual({ t: 2, u: 2 });
    await runTestSql(url, "DELETE FROM colloquy.task WHERE task_id = 'u'");
    expect((await store.overview.list({ limit: 9 })).tasks).toHaveLength(1);
    await store.close();
  });

  it("needs the privilege CREATE on the database, which the error names", async () => {
    const user = `plain_${randomUUID().replaceAll("-", "")}`;
    await runTestSql(url, `CREATE ROLE ${user} LOGIN`);
    const store = new PostgresStore(Object.assign(new URL(url), { username: user }).href);
    await expect(store.open()).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("GRANT CREATE ON DATABASE name TO user") as string,
    });
    await runTestSql(url, `DROP ROLE ${user}`);
  });

  it("of a newer version of Colloquy is refused", async () => {
    await openAndClose();
    await runTestSql(url, "UPDATE colloquy.schema_version SET version = 99");
    await expect(openAndClose()).rejects.toThrow("was migrated by a newer version of Colloquy (schema 99");
  });
});
