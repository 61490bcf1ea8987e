import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogEvent, type Task, type TaskEvent, type TaskState } from "../protocol/index.ts";
import { foldLoggedEvents } from "./logged-events.ts";
import {
  createTestChunkEvent,
  createTestStatusEvent,
  createTestSubmittedTaskEvent,
} from "./task-event-logs.fixture.ts";
import { selectListedEvents } from "./restore-task.ts";

const IDS = { taskId: "t", contextId: "talk" };
const message = { messageId: "m", role: "ROLE_AGENT" as const, parts: [{ text: '"metadata"' }] };

function createStatusUpdate(state: TaskState, extra: { message?: true; metadata?: true }): TaskEvent {
  const status = { state, timestamp: "2026-01-01T00:00:00.000Z", ...(extra.message ? { message } : {}) };
  const metadata = extra.metadata ? { metadata: { [state]: 1 } } : {};
  return { statusUpdate: { ...IDS, status, ...metadata } };
}

const anyEvent = fc.oneof(
  fc.constant(createTestChunkEvent("t", "chunk")),
  fc.constant<TaskEvent>({ message }),
  fc
    .tuple(
      fc.constantFrom<TaskState>("TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED"),
      fc.constantFrom({}, { message: true as const }, { metadata: true as const }),
    )
    .map(([state, extra]) => createStatusUpdate(state, extra)),
);

function foldTexts(texts: readonly string[]): Task | undefined {
  return foldLoggedEvents(
    undefined,
    texts.map((text, at) => LogEvent.fromJsonText(at + 1, text)),
  );
}

describe("selectListedEvents", () => {
  it("selects events that fold to the same task without artifacts", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        const texts = [createTestSubmittedTaskEvent("t"), ...events].map((event) => JSON.stringify(event));
        const { artifacts: _, ...task } = foldTexts(texts) as Task;
        expect(foldTexts(selectListedEvents(texts))).toEqual(task);
      }),
    );
  });

  it("omits artifacts and replaced statuses", () => {
    const events = [
      createTestSubmittedTaskEvent("t"),
      createTestStatusEvent("t", "TASK_STATE_WORKING"),
      createTestChunkEvent("t", "chunk"),
      createTestStatusEvent("t", "TASK_STATE_COMPLETED"),
    ].map((event) => JSON.stringify(event));
    expect(selectListedEvents(events)).toEqual([events[0], events[3]]);
  });
});
