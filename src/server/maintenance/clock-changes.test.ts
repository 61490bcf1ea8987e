import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STORE_FACTORIES, type TemporaryStore } from "../../../test/support/store-factories.ts";
import { connect, type A2AClient } from "../../client/index.ts";
import { systemClock, type SweepReport } from "../../engine/index.ts";
import type { RetentionOptions } from "../../stores/retention/index.ts";
import { runTestSql } from "../../stores/postgres/postgres-server.fixture.ts";
import { createServer, type Server } from "../index.ts";
import { buildTestMessage, messageCommandTestAgent } from "../server.fixture.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** An interval that no other timer of the server has. */
const SWEEP_INTERVAL_MS = 9_999;

/**
 * Replaces the time of the server and of its database. The test moves both clocks, and runs the scheduled sweeps. Other
 * timers keep their real time.
 */
class FakeTime {
  wallOffsetMs = 0;
  monotonicOffsetMs = 0;
  /** Sets the clock of the database. */
  setDatabaseOffset: (ms: number) => Promise<void> = () => Promise.resolve();
  #startSweep: (() => void) | undefined;
  #onScheduled: (() => void) | undefined;

  install(): void {
    const clock = { ...systemClock };
    vi.spyOn(systemClock, "now").mockImplementation(() => clock.now() + this.wallOffsetMs);
    vi.spyOn(systemClock, "monotonic").mockImplementation(() => clock.monotonic() + this.monotonicOffsetMs);
    vi.spyOn(systemClock, "schedule").mockImplementation((ms, callback) => {
      if (ms !== SWEEP_INTERVAL_MS) return clock.schedule(ms, callback);
      this.#startSweep = callback;
      this.#onScheduled?.();
      return () => {};
    });
  }

  /** Moves the wall clock, as an operator or a suspended machine does. */
  async moveWallClock(ms: number): Promise<void> {
    this.wallOffsetMs += ms;
    await this.setDatabaseOffset(this.wallOffsetMs);
  }

  /** Lets both clocks advance. */
  async run(ms: number): Promise<void> {
    this.monotonicOffsetMs += ms;
    await this.moveWallClock(ms);
  }

  /** Runs the next scheduled sweep. The server schedules the following sweep at its end. */
  async sweepOnSchedule(): Promise<void> {
    const swept = new Promise<void>((resolve) => {
      this.#onScheduled = resolve;
    });
    if (!this.#startSweep) throw new Error("The server has scheduled no sweep.");
    this.#startSweep();
    await swept;
  }
}

describe.each(STORE_FACTORIES)("after a change of the clock, the $name store", ({ name, openStore }) => {
  let temporary: TemporaryStore;
  let store: string;
  let time: FakeTime;
  let server: Server;
  let client: A2AClient;
  let reports: SweepReport[];
  let errors: unknown[];

  beforeEach(async () => {
    temporary = await openStore();
    store = temporary.store;
    time = new FakeTime();
    time.install();
    reports = [];
    errors = [];
    if (name === "PostgreSQL") store = await replaceDatabaseClock(temporary.store, time);
  });

  afterEach(async () => {
    await server.close({ graceMs: 50 });
    vi.restoreAllMocks();
    await temporary.remove();
    if (errors.length > 0) throw new AggregateError(errors, "The server reported errors.");
  });

  async function startServer(retention: RetentionOptions = {}): Promise<void> {
    server = createServer(
      { parrot: messageCommandTestAgent },
      {
        store: store as "memory",
        retention: { sweepIntervalMs: SWEEP_INTERVAL_MS, ...retention },
        observer: {
          onSweep: (report) => reports.push(report),
          onError: ({ error }) => errors.push(error),
        },
      },
    );
    client = await connect((await server.listen()).url);
  }

  async function restartServer(retention: RetentionOptions = {}): Promise<void> {
    await server.close({ graceMs: 50 });
    await startServer(retention);
  }

  async function storeTasks(): Promise<void> {
    for (const text of ["echo a", "echo b", "ask"]) await client.send(buildTestMessage(text) as never);
  }

  const countTasks = async (): Promise<number> => (await client.tasks.list()).totalSize;

  it("keeps all tasks if the clock runs 100 days ahead for a while, and deletes them when they are due [E14]", async () => {
    await startServer();
    await storeTasks();
    await time.moveWallClock(100 * DAY_MS);
    await time.sweepOnSchedule();
    await time.run(25_000);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(3);
    expect(reports).toMatchObject([
      { deletedTasks: 0, trimmedTasks: 0, delayed: { endedTasks: 2, waitingTasks: 1, trimmedTasks: 0 } },
    ]);
    await time.moveWallClock(-100 * DAY_MS);
    await time.sweepOnSchedule();
    for (let day = 0; day < 29; day++) {
      await time.run(DAY_MS);
      await time.sweepOnSchedule();
    }
    expect(await countTasks()).toBe(3);
    await time.run(2 * DAY_MS);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(1);
    expect(reports.filter(({ delayed }) => delayed)).toHaveLength(1);
  });

  it("trusts a clock that stays ahead after 24 hours of running time", async () => {
    await startServer();
    await storeTasks();
    await time.moveWallClock(100 * DAY_MS);
    for (let hour = 0; hour < 24; hour++) {
      await time.sweepOnSchedule();
      await time.run(HOUR_MS);
    }
    expect(await countTasks()).toBe(3);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(0);
  });

  it("does not delay a sweep by hand, an erasure, or the maximum size", async () => {
    await startServer();
    await storeTasks();
    await time.moveWallClock(40 * DAY_MS);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(3);
    const { tasks } = await client.tasks.list({ status: "TASK_STATE_COMPLETED" });
    expect(await server.maintenance.eraseTasks({ taskId: tasks[0]?.id ?? "" })).toEqual({ erasedTasks: 1 });
    expect(await server.maintenance.sweep()).toMatchObject({ deletedTasks: 1 });
    expect(await countTasks()).toBe(1);
    await client.send(buildTestMessage("echo c") as never);
    await restartServer({ maxBytes: 1 });
    await time.sweepOnSchedule();
    expect((await client.tasks.list({ status: "TASK_STATE_COMPLETED" })).totalSize).toBe(0);
  });

  it("ignores differences of ten minutes", async () => {
    await startServer({ keepTasksMs: 2 * DAY_MS, keepEventsMs: DAY_MS });
    await storeTasks();
    await time.moveWallClock(10 * MINUTE_MS);
    await time.sweepOnSchedule();
    await time.moveWallClock(-10 * MINUTE_MS);
    await time.run(DAY_MS + 20 * MINUTE_MS);
    await time.sweepOnSchedule();
    expect(reports).toMatchObject([{ deletedTasks: 0, trimmedTasks: 2 }]);
    expect(reports[0]?.delayed).toBeUndefined();
  });

  it("keeps the tasks of a time in which the clock was ten years behind for their period", async () => {
    await startServer();
    await time.moveWallClock(-3_650 * DAY_MS);
    await time.sweepOnSchedule();
    await storeTasks();
    await time.run(HOUR_MS);
    await time.sweepOnSchedule();
    await time.moveWallClock(3_650 * DAY_MS);
    for (let day = 0; day < 29; day++) {
      await time.sweepOnSchedule();
      await time.run(DAY_MS);
    }
    expect(await countTasks()).toBe(3);
    await time.run(2 * DAY_MS);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(1);
  });

  it.each([
    ["stops", 0],
    ["continues", 40 * DAY_MS],
  ])("keeps tasks while a machine is suspended for 40 days, and its monotonic clock %s", async (_, ranMs) => {
    await startServer();
    await storeTasks();
    await time.sweepOnSchedule();
    time.monotonicOffsetMs += ranMs;
    await time.moveWallClock(40 * DAY_MS);
    await time.sweepOnSchedule();
    await time.run(23 * HOUR_MS);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(3);
    await time.run(HOUR_MS);
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(1);
  });

  it.runIf(name === "PostgreSQL")("uses the clock of the database, on every node", async () => {
    await startServer();
    await storeTasks();
    // Only the clock of this node changes.
    time.wallOffsetMs += 100 * DAY_MS;
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(3);
    expect(reports).toEqual([]);
    const first = server;
    time.wallOffsetMs = 0;
    await time.moveWallClock(36 * DAY_MS);
    await time.sweepOnSchedule();
    expect(reports).toHaveLength(1);
    await startServer();
    await time.sweepOnSchedule();
    expect(await countTasks()).toBe(3);
    await first.close({ graceMs: 50 });
  });

  describe.skipIf(name === "memory")("with a server that starts again", () => {
    it("waits for 24 hours if the last sweep was more than 7 days ago", async () => {
      await startServer();
      await storeTasks();
      await time.sweepOnSchedule();
      await server.close();
      await time.moveWallClock(40 * DAY_MS);
      await startServer();
      await time.sweepOnSchedule();
      await time.run(23 * HOUR_MS);
      await time.sweepOnSchedule();
      expect(await countTasks()).toBe(3);
      await time.run(HOUR_MS);
      await time.sweepOnSchedule();
      expect(await countTasks()).toBe(1);
    });

    it("deletes tasks at once if the last sweep was less than 7 days ago", async () => {
      await startServer({ keepTasksMs: 5 * DAY_MS });
      await storeTasks();
      await time.sweepOnSchedule();
      await server.close();
      await time.moveWallClock(6 * DAY_MS);
      await startServer({ keepTasksMs: 5 * DAY_MS });
      await time.sweepOnSchedule();
      expect(await countTasks()).toBe(1);
    });

    it("continues the delay of the server before", async () => {
      await startServer({ keepEventsMs: DAY_MS, keepTasksMs: 2 * DAY_MS });
      await storeTasks();
      await time.moveWallClock(3 * DAY_MS);
      await time.sweepOnSchedule();
      expect(await countTasks()).toBe(3);
      await restartServer({ keepEventsMs: DAY_MS, keepTasksMs: 2 * DAY_MS });
      await time.sweepOnSchedule();
      await time.run(23 * HOUR_MS);
      await time.sweepOnSchedule();
      expect(await countTasks()).toBe(3);
      await time.run(HOUR_MS);
      await time.sweepOnSchedule();
      expect(await countTasks()).toBe(1);
    });
  });
});

/** Makes the sessions of the returned URL call a replacement of the function `clock_timestamp`. */
async function replaceDatabaseClock(url: string, time: FakeTime): Promise<string> {
  await runTestSql(
    url,
    `CREATE SCHEMA fake;
    CREATE TABLE fake.clock (offset_ms bigint NOT NULL);
    INSERT INTO fake.clock VALUES (0);
    CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
      $$ SELECT pg_catalog.clock_timestamp() + offset_ms * interval '1 millisecond' FROM fake.clock $$;`,
  );
  time.setDatabaseOffset = async (ms) => {
    await runTestSql(url, `UPDATE fake.clock SET offset_ms = ${Math.round(ms)}`);
  };
  return `${url}?options=-c%20search_path%3Dfake,pg_catalog,public`;
}
