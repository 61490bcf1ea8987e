import { expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import { FakeClock } from "../engine/engine.fixture.ts";
import type { FollowableTask } from "../engine/index.ts";
import type { FollowedTaskChange, NodeStore } from "./node-store.ts";
import { LogPoller } from "./log-poller.ts";

it("a followed task whose log went back rejects its readers, and is followed again from its current state [E3]", async () => {
  const change: FollowedTaskChange = { lastSeq: 3, turnStatus: "running", events: [] };
  const nodes = { readChanges: async () => [change] } as unknown as NodeStore;
  const poller = new LogPoller({
    store: new MemoryStore(),
    nodes,
    clock: new FakeClock(),
    observer: {},
    generateId: () => "",
    sendRequest: async () => undefined,
  });
  const scope = { agent: "a", tenant: "", principal: "" };
  const follow = (seq: number): ReturnType<LogPoller["follow"]> => {
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" as const } };
    const stored: FollowableTask = { task, seq, awaitsRecovery: false, runsOnOtherNode: true };
    return poller.follow(scope, stored, async () => undefined);
  };
  const task = follow(5).retain();
  const waiting = task.waitForCommitOrTurnChange();
  await Promise.all([
    expect(waiting).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("went back from event 5 to event 3") as string,
      metadata: { taskId: "t", logWentBack: "true" },
    }),
    poller.refresh(task),
  ]);
  expect(follow(3)).not.toBe(task);
  expect(follow(3).seq).toBe(3);
  task.release();
});
