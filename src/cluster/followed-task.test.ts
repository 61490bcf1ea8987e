import { expect, it } from "vitest";
import { LogEvent, type Message, type Task, type TaskState } from "../protocol/index.ts";
import { MemoryStore } from "../stores/index.ts";
import { FollowedTask, FollowedTurn } from "./followed-task.ts";

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
  ["waits in a queue", (task) => task.findQueuedTurn(message)],
  ["has a running turn", (task) => task.findRunningTurn(message, 1)],
  ["belongs to a turn that was handed over", (task) => task.followUnlessStopped(message, 1)],
] satisfies [string, (task: FollowedTask) => Promise<unknown>][])(
  "a message that %s releases the task if the store fails [E10, E21]",
  async (_name, find) => {
    const idle: FollowedTask[] = [];
    const task = new FollowedTask(
      {
        store: new FailingStore(),
        generateId: () => "",
        sendRequest: async () => undefined,
        refresh: async () => {},
        onActive() {},
        onIdle: (released) => idle.push(released),
      },
      { agent: "a", tenant: "", principal: "" },
      {
        task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } },
        seq: 3,
        turnStatus: "running",
      },
      async () => undefined,
    );
    await expect(find(task)).rejects.toThrow("timed out");
    expect(idle).toEqual([task]);
  },
);

const createStatusEvent = (seq: number, state: TaskState): LogEvent =>
  LogEvent.create(seq, { statusUpdate: { taskId: "t", contextId: "c", status: { state } } });

/** Creates a task of another node whose turn runs. */
function createFollowedTask(store: MemoryStore, seq: number): FollowedTask {
  return new FollowedTask(
    {
      store,
      generateId: () => "",
      sendRequest: async () => undefined,
      refresh: async () => {},
      onActive() {},
      onIdle() {},
    },
    { agent: "a", tenant: "", principal: "" },
    {
      task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } },
      seq,
      turnStatus: "running",
    },
    async () => undefined,
  );
}

/** A store in which the turn of the message has stopped, and a later turn runs. */
class LaterTurnStore extends MemoryStore {
  override async readEvents(): Promise<LogEvent[]> {
    return [createStatusEvent(2, "TASK_STATE_INPUT_REQUIRED"), createStatusEvent(3, "TASK_STATE_WORKING")];
  }
}

it("a repeated message whose turn has stopped waits for the running turn of its task [E10, E21]", async () => {
  const task = createFollowedTask(new LaterTurnStore(), 3);
  const turn = await task.findRunningTurn(message, 1);
  expect(turn?.hasEnded).toBe(false);
  const end = createStatusEvent(4, "TASK_STATE_COMPLETED");
  task.applyChange({ lastSeq: 4, turnStatus: "none", events: [end] });
  expect(await turn?.stoppedTask.promise).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
});

it("the sender of a turn whose last events the store has deleted receives the task [E10, E21]", async () => {
  const task = createFollowedTask(new MemoryStore(), 1);
  const [begun, queued] = [new FollowedTurn(message), new FollowedTurn({ ...message, messageId: "q" })];
  begun.beginAtKnownSeq(1, task.getSnapshot());
  for (const turn of [begun, queued]) task.followTurn(turn);
  const ended: Task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
  task.replace({ task: ended, seq: 9, turnStatus: "none" });
  expect(await begun.stoppedTask.promise).toEqual(ended);
  await expect(queued.durableSeq.promise).rejects.toMatchObject({ reason: "UNSUPPORTED_OPERATION" });
});
