import { expect, it } from "vitest";
import { LogEvent, type TaskEvent } from "../../protocol/index.ts";
import { MemoryStore } from "../../stores/index.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../../stores/task-event-logs.fixture.ts";
import { TaskSnapshotAtSeq } from "./task-snapshot-at-seq.ts";

const events: TaskEvent[] = [
  createTestSubmittedTaskEvent("t"),
  createTestChunkEvent("t", "a"),
  createTestChunkEvent("t", "b"),
];

it.each([1, 2, 3])("a snapshot at %i ignores earlier events, and applies later ones once", async (seq) => {
  const store = new MemoryStore();
  await store.commit([createTestLogAppend("t", 0, events)]);
  const whole = await TaskSnapshotAtSeq.loadAtSeq(store, aliceTestTaskScope, "t", events.length);
  const snapshot = await TaskSnapshotAtSeq.loadAtSeq(store, aliceTestTaskScope, "t", seq);
  const before = snapshot.task;
  expect(before?.artifacts?.[0]?.parts ?? []).toHaveLength(seq === 1 ? 0 : 1);
  for (const [index, event] of events.slice(0, seq).entries())
    snapshot.apply(LogEvent.create(index + 1, event));
  expect(snapshot.task).toEqual(before);
  for (const _ of ["once", "twice"])
    for (const [index, event] of events.entries()) snapshot.apply(LogEvent.create(index + 1, event));
  expect(snapshot.task).toEqual(whole.task);
});
