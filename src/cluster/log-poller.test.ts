import { expect, it } from "vitest";
import { LogEvent } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import {
  FakeClock,
  flushEventLoopForTest,
  getRejectionA2AErrorReasonForTest,
} from "../engine/engine.fixture.ts";
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

it("a followed task whose log is invalid rejects its readers, and is not read in a loop [E3]", async () => {
  const repeated = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" as const } };
  const event = LogEvent.create(2, { task: repeated });
  let readCount = 0;
  const readChanges = async (): Promise<FollowedTaskChange[]> => {
    readCount++;
    return [{ lastSeq: 2, turnStatus: "running", events: [event] }];
  };
  const errors: unknown[] = [];
  const poller = new LogPoller({
    store: new MemoryStore(),
    nodes: { readChanges } as unknown as NodeStore,
    clock: new FakeClock(),
    observer: { onError: ({ error }) => errors.push(error) },
    generateId: () => "",
    sendRequest: async () => undefined,
  });
  const scope = { agent: "a", tenant: "", principal: "" };
  const stored: FollowableTask = { task: repeated, seq: 1, awaitsRecovery: false, runsOnOtherNode: true };
  const task = poller.follow(scope, stored, async () => undefined).retain();
  const reason = getRejectionA2AErrorReasonForTest(task.waitForCommitOrTurnChange());
  poller.handleHint({ kind: "events", taskIds: ["t"] });
  await flushEventLoopForTest();
  const countAfterHint = readCount;
  await flushEventLoopForTest();
  expect(countAfterHint).toBe(1);
  expect(readCount).toBe(1);
  expect(errors).toHaveLength(1);
  expect(await reason).toBe("INTERNAL");
  task.release();
});
