import { describe, expect, it } from "vitest";
import { LogEvent, type TaskState } from "../protocol/index.ts";
import { SnapshotPlanner } from "./snapshot-planner.ts";

const TURN_SIZE = 400;

/** Creates an event with `size` characters of JSON. */
function createEventOfSize(seq: number, size: number): LogEvent {
  const envelopeSize = JSON.stringify({
    message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "" }] },
  }).length;
  const parts = [{ text: "x".repeat(size - envelopeSize) }];
  return LogEvent.create(seq, { message: { messageId: "m", role: "ROLE_USER", parts } });
}

describe("the snapshots of a task", () => {
  it("have geometric intervals, even if each small turn loads the task again", () => {
    let progress = { logSizeSinceSnapshot: 0, snapshotSize: 0, artifactReferences: [] };
    const snapshotSizes: number[] = [];
    let logSize = 0;
    let isLoadBounded = true;
    for (let seq = 1; seq <= 20_000; seq++) {
      const planner = new SnapshotPlanner(progress);
      const event = createEventOfSize(seq, TURN_SIZE);
      logSize += TURN_SIZE;
      const isDue = planner.planSnapshot(undefined, [event], "TASK_STATE_INPUT_REQUIRED") !== undefined;
      if (isDue) snapshotSizes.push(logSize);
      progress = {
        ...progress,
        logSizeSinceSnapshot: isDue ? 0 : progress.logSizeSinceSnapshot + TURN_SIZE,
        snapshotSize: isDue ? logSize : progress.snapshotSize,
      };
      // A load applies at most as many events as the snapshot includes.
      isLoadBounded &&= progress.logSizeSinceSnapshot < Math.max(16 * 1024, progress.snapshotSize);
    }
    expect(isLoadBounded).toBe(true);
    expect(snapshotSizes.length).toBeGreaterThan(5);
    expect(snapshotSizes.reduce((total, size) => total + size, 0)).toBeLessThan(2 * logSize);
  });

  it.each<[TaskState, number]>([
    ["TASK_STATE_WORKING", 64 * 1024],
    ["TASK_STATE_INPUT_REQUIRED", 16 * 1024],
    ["TASK_STATE_COMPLETED", 16 * 1024],
  ])("begin in %s with %i characters", (state, size) => {
    const planAfter = (eventSize: number): unknown =>
      new SnapshotPlanner(undefined).planSnapshot(undefined, [createEventOfSize(1, eventSize)], state);
    expect(planAfter(size - 1)).toBeUndefined();
    expect(planAfter(size)).toEqual([]);
  });

  it("include one at the end of a task, however large the earlier snapshot is", () => {
    const progress = { logSizeSinceSnapshot: 0, snapshotSize: 1e9, artifactReferences: [] };
    const planAt = (state: TaskState): unknown =>
      new SnapshotPlanner(progress).planSnapshot(undefined, [createEventOfSize(1, 20_000)], state);
    expect(planAt("TASK_STATE_INPUT_REQUIRED")).toBeUndefined();
    expect(planAt("TASK_STATE_COMPLETED")).toEqual([]);
  });
});
