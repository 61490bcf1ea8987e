import { expect, it } from "vitest";
import type { Message } from "../../protocol/index.ts";
import { MemoryStore } from "../../stores/index.ts";
import { FollowedTask } from "./followed-task.ts";
import { FollowedTurnFinder } from "./followed-turn-finder.ts";

const message: Message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }], taskId: "t" };

/** A store whose reads of tasks reject. */
class FailingStore extends MemoryStore {
  override load(): Promise<never> {
    return Promise.reject(new Error("the statement timed out"));
  }

  override readEvents(): Promise<never> {
    return Promise.reject(new Error("the statement timed out"));
  }
}

it.each([
  ["waits in a queue", (finder, task) => finder.findQueuedTurn(task, message)],
  ["has a running turn", (finder, task) => finder.findRunningTurn(task, message, 1)],
  ["belongs to a turn that was handed over", (finder, task) => finder.followUnlessStopped(task, message, 1)],
] satisfies [string, (finder: FollowedTurnFinder, task: FollowedTask) => Promise<unknown>][])(
  "a message that %s releases the task if the store fails [E10, E21]",
  async (_name, find) => {
    const idle: FollowedTask[] = [];
    const task = new FollowedTask(
      { onActive() {}, onIdle: (released) => idle.push(released), reopen: async () => undefined },
      { agent: "a", tenant: "", principal: "" },
      {
        task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } },
        seq: 3,
        turnStatus: "running",
      },
    );
    await expect(find(new FollowedTurnFinder(new FailingStore()), task)).rejects.toThrow("timed out");
    expect(idle).toEqual([task]);
  },
);
