import { describe, expect, it } from "vitest";
import {
  fold,
  LogEvent,
  type Message,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";
import { getRejectionA2AErrorReasonForTest } from "../engine/engine.fixture.ts";
import { FollowedTurn } from "./followed-task.ts";

const ownMessage: Message = {
  messageId: "m",
  role: "ROLE_USER",
  parts: [{ text: "more" }],
  taskId: "t",
  contextId: "c",
};
const createStatus = (state: TaskState): TaskEvent => ({
  statusUpdate: { taskId: "t", contextId: "c", status: { state, timestamp: "2026-01-01T00:00:00.000Z" } },
});

/** Applies events to a task at INPUT_REQUIRED and to a turn, and returns whether the turn has ended after each event. */
function applyEvents(turn: FollowedTurn, events: readonly TaskEvent[]): boolean[] {
  let task: Task = { id: "t", contextId: "c", status: { state: "TASK_STATE_INPUT_REQUIRED" } };
  return events.map((event, at) => {
    task = fold(task, event) as Task;
    return turn.applyEvent(LogEvent.create(8 + at, event), task);
  });
}

describe("a followed turn", () => {
  it("begins with its message and the change to WORKING, and stops with the next question [E21]", async () => {
    const turn = new FollowedTurn(ownMessage);
    const ends = applyEvents(turn, [
      { message: { ...ownMessage, messageId: "other" } },
      createStatus("TASK_STATE_INPUT_REQUIRED"),
      { message: ownMessage },
      createStatus("TASK_STATE_WORKING"),
      createStatus("TASK_STATE_INPUT_REQUIRED"),
    ]);
    expect(ends).toEqual([false, false, false, false, true]);
    expect(await turn.durableSeq.promise).toBe(10);
    expect(turn.startPoint).toMatchObject({
      seq: 10,
      task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } },
      workingEvent: { statusUpdate: { status: { state: "TASK_STATE_WORKING" } } },
    });
    expect(await turn.stoppedTask.promise).toMatchObject({ status: { state: "TASK_STATE_INPUT_REQUIRED" } });
  });

  it("is rejected if the task ends before the turn begins [E21]", async () => {
    const turn = new FollowedTurn(ownMessage);
    expect(applyEvents(turn, [createStatus("TASK_STATE_FAILED")])).toEqual([true]);
    expect(turn).toMatchObject({ hasBegun: false, hasEnded: true });
    expect(await getRejectionA2AErrorReasonForTest(turn.durableSeq.promise)).toBe("UNSUPPORTED_OPERATION");
  });
});
