import { expect, it } from "vitest";
import { A2AError, type Task, type TaskState } from "../../protocol/index.ts";
import { pollTask } from "../create-a2a-client.ts";

const createTask = (state: TaskState): Task => ({ id: "T", contextId: "C", status: { state } });
const working = createTask("TASK_STATE_WORKING");
const completed = createTask("TASK_STATE_COMPLETED");
const overloaded = new A2AError("RESOURCE_EXHAUSTED", "busy", { retryAfter: 42 });

/** Polls a scripted agent, and returns the yielded states and the delays before each request. */
async function poll(
  replies: readonly (Task | A2AError)[],
  { maxRetries = 3 }: { readonly maxRetries?: number } = {},
): Promise<{ states: TaskState[]; delaysMs: number[] }> {
  const rest = replies.values();
  const states: TaskState[] = [];
  const delaysMs: number[] = [];
  const read = (): Promise<Task> => {
    const { value } = rest.next();
    return value instanceof A2AError ? Promise.reject(value) : Promise.resolve(value as Task);
  };
  const sleep = (ms: number): Promise<void> => {
    delaysMs.push(ms);
    return Promise.resolve();
  };
  const reconnect = { sleep, maxRetries, random: () => 0 };
  for await (const { task } of pollTask(read, undefined, reconnect)) states.push(task.status.state);
  return { states, delaysMs };
}

it("doubles the delay between polls while the task does not change", async () => {
  const submitted = createTask("TASK_STATE_SUBMITTED");
  const replies = [
    submitted,
    submitted,
    submitted,
    working,
    ...Array.from({ length: 9 }, () => working),
    completed,
  ];
  expect(await poll(replies)).toEqual({
    states: ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"],
    delaysMs: [100, 200, 400, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000],
  });
});

it("waits as long as an overloaded agent requests, and gives up without progress", async () => {
  expect((await poll([working, overloaded, completed])).delaysMs).toEqual([100, 42_000, 100]);
  await expect(poll([working, overloaded, overloaded], { maxRetries: 1 })).rejects.toThrow(overloaded);
  await expect(poll([working, new A2AError("TASK_NOT_FOUND", "gone")])).rejects.toThrow("gone");
});
