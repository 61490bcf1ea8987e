import { describe, expect, it } from "vitest";
import { generatePushSecretKey } from "../push-secret-cipher.ts";
import { createTestWebhookRegistration } from "../push-store.contract.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { commitTestAppendExpectingSuccess, defineTaskStoreContract } from "../task-store.contract.ts";
import { TestDurableObjectStorage } from "./durable-object-storage.fixture.ts";
import { DurableObjectStore } from "./durable-object-store.ts";

const INTERVAL_MS = 30_000;

defineTaskStoreContract(
  "DurableObjectStore on a database in memory",
  () => new DurableObjectStore(new TestDurableObjectStorage(), { pushSecretKeys: [generatePushSecretKey()] }),
);

async function openStore(storage = new TestDurableObjectStorage()): Promise<{
  store: DurableObjectStore;
  storage: TestDurableObjectStorage;
}> {
  const store = new DurableObjectStore(storage, { recoveryIntervalMs: INTERVAL_MS });
  await store.open();
  return { store, storage };
}

describe("a store in a Durable Object", () => {
  it("has the tasks of an earlier process on the same storage", async () => {
    const { store, storage } = await openStore();
    await commitTestAppendExpectingSuccess(
      store,
      createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")]),
    );
    const { store: next } = await openStore(storage);
    expect(await next.load(aliceTestTaskScope, "t")).toMatchObject({ seq: 1 });
  });

  it("refuses the storage of a version before the first release, and of a newer version", async () => {
    const storage = new TestDurableObjectStorage();
    storage.sql.exec("CREATE TABLE colloquy_schema (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)");
    await expect(openStore(storage)).rejects.toThrow(
      "The storage of this Durable Object was written by a version of Colloquy before the first release, which no later version can read. To start with an empty store, call ctx.storage.deleteAll().",
    );
    const { storage: withoutTimes } = await openStore();
    withoutTimes.sql.exec("ALTER TABLE log DROP COLUMN committed_at");
    await expect(openStore(withoutTimes)).rejects.toThrow("before the first release");
    const { storage: newer } = await openStore();
    newer.sql.exec("UPDATE colloquy_schema_version SET version = 99");
    await expect(openStore(newer)).rejects.toThrow("written by a newer version of Colloquy (schema 99");
  });

  it("splits the events of an append into rows that Cloudflare accepts", async () => {
    const { store, storage } = await openStore();
    const text = "é".repeat(400_000);
    const events = [
      createTestSubmittedTaskEvent("t"),
      ...Array.from({ length: 5 }, () => createTestChunkEvent("t", text)),
    ];
    await commitTestAppendExpectingSuccess(store, createTestLogAppend("t", 0, events));
    const sizes = storage.sql.exec("SELECT max(octet_length(lines)) AS bytes FROM log").toArray();
    expect(Number(sizes[0]?.["bytes"])).toBeLessThan(2_000_000);
    const read = await store.readEvents(aliceTestTaskScope, "t", 0, { events: 10, maxBytes: Infinity });
    expect(read.map(({ event }) => event)).toEqual(events);
  });

  it("refuses an event that no row can contain, and stores nothing of the batch", async () => {
    const { store } = await openStore();
    const large = createTestLogAppend("t", 0, [
      createTestSubmittedTaskEvent("t"),
      createTestChunkEvent("t", "x".repeat(2_000_000)),
    ]);
    await expect(store.commit([large])).rejects.toMatchObject({ reason: "RESOURCE_EXHAUSTED" });
    expect(await store.load(aliceTestTaskScope, "t")).toBeUndefined();
  });

  it("refuses the secrets of a webhook without keys", async () => {
    const { store } = await openStore();
    expect(() => store.pushStore.assertCanStoreSecrets?.()).toThrow('"pushSecretKeys" of DurableObjectStore');
  });
});

describe("the alarm of a Durable Object", () => {
  it("is set by a commit, and remains while a turn runs", async () => {
    const { store, storage } = await openStore();
    const before = Date.now();
    const begin = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], { hasRunningTurn: true });
    await commitTestAppendExpectingSuccess(store, begin);
    expect(storage.alarmTime).toBeGreaterThanOrEqual(before + INTERVAL_MS);
    expect(storage.alarmTime).toBeLessThanOrEqual(Date.now() + INTERVAL_MS);
    store.setNextAlarm(undefined);
    expect(storage.alarmTime).toBeGreaterThanOrEqual(before + INTERVAL_MS);
  });

  it("ends with the last turn", async () => {
    const { store, storage } = await openStore();
    const begin = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], { hasRunningTurn: true });
    await commitTestAppendExpectingSuccess(store, begin);
    const end = createTestLogAppend("t", 1, [createTestStatusEvent("t", "TASK_STATE_COMPLETED")], {
      hasRunningTurn: false,
    });
    await commitTestAppendExpectingSuccess(store, end);
    store.setNextAlarm(undefined);
    expect(storage.alarmTime).toBeNull();
  });

  it("remains while a webhook needs a notification", async () => {
    const { store, storage } = await openStore();
    const append = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], {
      webhooks: [createTestWebhookRegistration("w")],
    });
    await commitTestAppendExpectingSuccess(store, append);
    store.setNextAlarm(undefined);
    expect(storage.alarmTime).not.toBeNull();
  });

  it("waits for the time of a suspended turn, and for the sweep of stored tasks", async () => {
    const { store, storage } = await openStore();
    const wakeAt = Date.now() + 3_600_000;
    const begin = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], {
      hasRunningTurn: true,
      turn: { seq: 1, attempt: 1, wakeAt, request: {}, service: {} },
    });
    await commitTestAppendExpectingSuccess(store, begin);
    store.setNextAlarm(wakeAt + 1);
    expect(storage.alarmTime).toBe(wakeAt);
    store.setNextAlarm(wakeAt - 1);
    expect(storage.alarmTime).toBe(wakeAt - 1);
  });

  it("is not necessary for an object without tasks", async () => {
    const { store, storage } = await openStore();
    store.setNextAlarm(Date.now() + 1000);
    expect(storage.alarmTime).toBeNull();
  });
});
