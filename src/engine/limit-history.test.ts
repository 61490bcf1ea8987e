import { expect, it } from "vitest";
import type { Message, Task } from "../protocol/index.ts";
import { limitHistory } from "./message-response.ts";

const createMessage = (messageId: string): Message => ({ messageId, role: "ROLE_USER", parts: [] });
const history = ["a", "b", "c"].map(createMessage);
const task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };

it.each([
  [undefined, history],
  [0, undefined],
  [1, history.slice(2)],
  [2, history.slice(1)],
  [4, history],
])("of three messages, a length of %s keeps the latest", (length, kept) => {
  expect(limitHistory({ ...task, history }, length)).toEqual(kept ? { ...task, history: kept } : task);
});

it("a task without a history stays without one", () => {
  expect(limitHistory(task, 2)).toEqual(task);
});
