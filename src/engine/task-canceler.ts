import { A2AError, formatTaskState, type CancelTaskRequest, type Task } from "../protocol/index.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { RequestWaitLimit } from "./request-wait-limit.ts";
import type { TaskRecovery } from "./task-recovery.ts";
import { isChangeByOtherWriter } from "./task-errors.ts";
import type { TaskCancellation } from "./task-feed.ts";

/** Cancels the tasks of one agent, on whichever node their turns run. */
export class TaskCanceler {
  readonly #tasks: TaskRegistry;
  readonly #requestWaitLimit: RequestWaitLimit;
  readonly #recovery: Pick<TaskRecovery, "isWaitingSuspect" | "cancelWaitingSuspect">;

  constructor(
    tasks: TaskRegistry,
    requestWaitLimit: RequestWaitLimit,
    recovery: Pick<TaskRecovery, "isWaitingSuspect" | "cancelWaitingSuspect">,
  ) {
    this.#tasks = tasks;
    this.#requestWaitLimit = requestWaitLimit;
    this.#recovery = recovery;
  }

  /**
   * Cancels a task and resolves with the task once the agent has stopped. If the task is already canceled, `cancelTask`
   * returns the task unchanged.
   */
  async cancelTask(
    { id, metadata = {} }: CancelTaskRequest,
    scope: TaskScope,
    caller: Caller,
  ): Promise<Task> {
    const cancellation = { reason: "The task was canceled.", caller, metadata };
    const canceled = await this.cancelIfUnfinished(scope, id, cancellation);
    if (!canceled) throw A2AError.taskNotFound(id);
    const { task, hadEnded } = canceled;
    const { state } = task.status;
    if (!hadEnded || state === "TASK_STATE_CANCELED") return task;
    const text = `Task ${id} is ${formatTaskState(state)} and can no longer be canceled; read it with GetTask.`;
    throw new A2AError("TASK_NOT_CANCELABLE", text, { metadata: { taskId: id } });
  }

  /**
   * Cancels a task that has not ended, on the node that runs its turn, and resolves with the ended task. `hadEnded` is
   * true for a task that has ended before. Resolves with `undefined` if the task does not exist.
   */
  async cancelIfUnfinished(
    scope: TaskScope,
    taskId: string,
    cancellation: TaskCancellation,
  ): Promise<{ readonly task: Task; readonly hadEnded: boolean } | undefined> {
    if (this.#recovery.isWaitingSuspect(scope, taskId))
      await this.#recovery.cancelWaitingSuspect(scope, taskId, cancellation);
    for (;;) {
      const opened = await this.#tasks.open(scope, taskId);
      if (!opened) return undefined;
      try {
        const hadEnded = await opened.cancelAndWait(cancellation, this.#requestWaitLimit);
        // If the turn of another node has ended without the task, this node can cancel the task.
        if (opened.hasEndedAtSeq(opened.seq)) return { task: opened.getSnapshot(), hadEnded };
      } catch (error) {
        if (!isChangeByOtherWriter(error)) throw error;
      } finally {
        opened.release();
      }
    }
  }
}
