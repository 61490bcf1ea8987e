import { expect, it } from "vitest";
import { LogEvent } from "../protocol/index.ts";
import { SnapshotSchedule } from "./snapshot-schedule.ts";

const createEvents = (size: number): LogEvent[] => [LogEvent.fromJsonText(1, "x".repeat(size))];
const KIB = 1024;

it("the first snapshot follows 64 KiB of events, and each later one as many as the newest snapshot includes", () => {
  const schedule = new SnapshotSchedule(true);
  const dueAt: number[] = [];
  for (let size = 4; size <= 1024; size += 4)
    if (schedule.isDue(createEvents(4 * KIB), "TASK_STATE_WORKING")) dueAt.push(size);
  expect(dueAt).toEqual([64, 128, 256, 512, 1024]);
});

it("a turn that stops has a snapshot if more than 16 KiB of events follow the newest one", () => {
  const schedule = new SnapshotSchedule(true);
  expect(schedule.isDue(createEvents(16 * KIB), "TASK_STATE_INPUT_REQUIRED")).toBe(false);
  expect(schedule.isDue(createEvents(1), "TASK_STATE_WORKING")).toBe(false);
  expect(schedule.isDue([], "TASK_STATE_INPUT_REQUIRED")).toBe(true);
  expect(schedule.isDue(createEvents(16 * KIB), "TASK_STATE_COMPLETED")).toBe(false);
});

it("a store without snapshots gets none", () => {
  expect(new SnapshotSchedule(false).isDue(createEvents(KIB * KIB), "TASK_STATE_COMPLETED")).toBe(false);
});
