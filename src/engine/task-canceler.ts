import {
  A2AError,
  formatTaskState,
  isTerminal,
  type CancelTaskRequest,
  type Task,
} from "../protocol/index.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { NodeAccess } from "./nodes/node-access.ts";
import type { CancelPayload } from "./nodes/request-payload.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import type { RequestWaitLimit } from "./request-wait-limit.ts";
import { assertStoreAcceptsNewWork, type StoreHealth } from "./store-health.ts";
import type { TaskRecovery } from "./task-recovery.ts";
import { isChangeByOtherWriter } from "./task-errors.ts";
import { ActiveTask } from "./active-task.ts";

/** Cancels the tasks of one agent, on whichever node their turns run. */
export class TaskCanceler {
  readonly #runners: RunnerRegistry;
  readonly #nodes: NodeAccess | undefined;
  readonly #requestWaitLimit: RequestWaitLimit;
  readonly #storeHealth: StoreHealth | undefined;
  readonly #recovery: Pick<TaskRecovery, "isWaitingSuspect" | "cancelWaitingSuspect">;

  constructor(
    {
      runners,
      nodes,
      requestWaitLimit,
      recovery,
    }: {
      readonly runners: RunnerRegistry;
      /** Absent if only this process can open the store. */
      readonly nodes: NodeAccess | undefined;
      readonly requestWaitLimit: RequestWaitLimit;
      readonly recovery: Pick<TaskRecovery, "isWaitingSuspect" | "cancelWaitingSuspect">;
    },
    storeHealth: StoreHealth | undefined,
  ) {
    this.#runners = runners;
    this.#nodes = nodes;
    this.#requestWaitLimit = requestWaitLimit;
    this.#storeHealth = storeHealth;
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
    const canceled = await this.cancelIfUnfinished(scope, id, "The task was canceled.", { caller, metadata });
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
    reason: string,
    payload: CancelPayload,
  ): Promise<{ readonly task: Task; readonly hadEnded: boolean } | undefined> {
    if (this.#recovery.isWaitingSuspect(scope, taskId))
      await this.#recovery.cancelWaitingSuspect(scope, taskId, payload);
    for (;;) {
      const opened = await this.#runners.openForWriting(scope, taskId);
      if (!opened) return undefined;
      try {
        if (!(opened instanceof ActiveTask)) {
          const task = await this.#nodes?.ownerRequests.cancelTask(opened, payload);
          if (task) return { task, hadEnded: false };
          // The turn has ended, so this node can cancel the task.
          continue;
        }
        const hadEnded = opened.state === undefined || isTerminal(opened.state);
        if (!hadEnded) {
          // A running agent receives the signal also while the store cannot commit.
          if (!opened.isAgentWorking) assertStoreAcceptsNewWork(this.#storeHealth);
          opened.cancel(reason, payload.caller, payload.metadata);
        }
        while (!opened.hasEndedAtSeq(opened.seq)) await this.#requestWaitLimit.wait(opened.waitForCommit());
        return { task: opened.getSnapshot(), hadEnded };
      } catch (error) {
        if (!this.#nodes || !isChangeByOtherWriter(error)) throw error;
      } finally {
        opened.release();
      }
    }
  }
}
