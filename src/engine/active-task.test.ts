import { describe, expect, it } from "vitest";
import { Deferred } from "../base/data-structures/index.ts";
import type { TaskState } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { alice, createTestTaskScopeForCaller, FakeClock } from "./engine.fixture.ts";
import { ActiveTask, type ActiveTaskDependencies } from "./active-task.ts";
import { Committer } from "./committer.ts";

/** Returns a task in the state `state`, without a running turn in the store. */
function createActiveTask(state: TaskState): ActiveTask {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const context = {
    store,
    committer: new Committer(store, clock),
    clock,
    observer: {},
    generateId: () => "id",
    mergeChunks: true,
    deduplicateMessages: true,
    taskSizeLimit: 1_000_000,
    cancelGraceMs: 0,
    isShared: false,
    agent: { current: {} },
    onIdle() {},
    releaseLease() {},
  } as unknown as ActiveTaskDependencies;
  const status = { state, timestamp: "2026-01-01T00:00:00.000Z" };
  return new ActiveTask(context, createTestTaskScopeForCaller(alice), "t", "c", {
    task: { id: "t", contextId: "c", status },
    seq: 1,
    epoch: 1,
    awaitsRecovery: false,
  });
}

it("an event after a failed commit is not kept, and its message is rejected [E1, E10]", async () => {
  const task = createActiveTask("TASK_STATE_INPUT_REQUIRED");
  task.onCommitFailed(new Error("the disk is full"));

  const durableSeq = new Deferred<number>();
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }], taskId: "t" } as const;
  const refusal = task.writeMessageEvent(
    { message: { ...message, parts: [...message.parts] } },
    { messageId: "m", durableSeq },
  );
  expect(refusal).toBeUndefined();
  await expect(durableSeq.promise).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  expect(task.hasPendingEvents).toBe(false);
  expect(task.seq).toBe(1);
});

describe("the running turn in the store", () => {
  it("ends with the last event of a claimed task that this node had loaded before the turn [E11, E21]", () => {
    const task = createActiveTask("TASK_STATE_WORKING");
    task.adoptLease({ scope: task.scope, taskId: "t", epoch: 2 });
    task.writeStatus("TASK_STATE_COMPLETED");
    expect(task.takePendingAppend()).toMatchObject({ epoch: 2, hasRunningTurn: false });
  });

  it("does not change with an event of a running turn, and ends at INPUT_REQUIRED", () => {
    const task = createActiveTask("TASK_STATE_WORKING");
    task.adoptLease({ scope: task.scope, taskId: "t", epoch: 2 });
    task.currentTurn = { hasEnded: false } as NonNullable<ActiveTask["currentTurn"]>;
    task.writeStatus("TASK_STATE_WORKING");
    expect(task.takePendingAppend()).not.toHaveProperty("hasRunningTurn");
    task.onCommitted();
    task.writeStatus("TASK_STATE_INPUT_REQUIRED");
    expect(task.takePendingAppend()).toHaveProperty("hasRunningTurn", false);
  });
});
