import { expect, it } from "vitest";
import { Deferred } from "../data-structures/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { alice, createTestTaskScopeForCaller, FakeClock } from "./engine.fixture.ts";
import { Committer } from "./committer.ts";
import { LiveTask } from "./live-task.ts";

it("an event after a failed commit is not kept, and its message is rejected [E1, E10]", async () => {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const context = {
    store,
    committer: new Committer(store, clock),
    clock,
    observer: {},
    mergeChunks: true,
    deduplicateMessages: true,
    taskSizeLimit: 1_000_000,
  };
  const listener = {
    hasReaders: false,
    mustKeepTurnInStore: false,
    onTurnStop() {},
    onCommitFailed() {},
    onLateCommitResult() {},
    onAllCommitted() {},
  };
  const ids = { scope: createTestTaskScopeForCaller(alice), taskId: "t", contextId: "c" };
  const status = { state: "TASK_STATE_INPUT_REQUIRED", timestamp: "2026-01-01T00:00:00.000Z" } as const;
  const task = new LiveTask(context, listener, ids, {
    task: { id: "t", contextId: "c", status },
    seq: 1,
    epoch: 1,
    awaitsRecovery: false,
  });
  task.onCommitFailed(new Error("the disk is full"));

  const durableSeq = new Deferred<number>();
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }], taskId: "t" } as const;
  const refusal = task.validateAndEnqueueMessageEvent(
    { message: { ...message, parts: [...message.parts] } },
    {
      messageId: "m",
      durableSeq,
    },
  );
  expect(refusal).toBeUndefined();
  await expect(durableSeq.promise).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  expect(task.hasPendingEvents).toBe(false);
  expect(task.lastPendingSeq).toBe(1);
});
