import type { TrafficLine } from "../traffic-line-types.ts";

/** The members of a line that the filter reads. */
export interface FilteredLine {
  readonly kind: TrafficLine["kind"];
  /** The writer and the id of the call. */
  readonly callKey: string | undefined;
  readonly taskId: string | undefined;
  readonly parent: { readonly task_id: string } | undefined;
}

/**
 * Chooses the lines that describe a task: its own lines, the requests of its agent to other agents, and the model calls
 * of the tasks that the requests started. Other lines of these tasks are omitted, because they can be many. The filter
 * needs the lines in their order.
 */
export class TaskFamilyFilter {
  readonly #taskId: string;
  readonly #familyIds: Set<string>;
  readonly #calls = new Set<string>();

  constructor(taskId: string) {
    this.#taskId = taskId;
    this.#familyIds = new Set([taskId]);
  }

  includes({ kind, callKey, taskId: id, parent }: FilteredLine): boolean {
    if (id === this.#taskId) return true;
    const isCalled = parent !== undefined && this.#familyIds.has(parent.task_id);
    if (isCalled || (callKey !== undefined && this.#calls.has(callKey))) {
      if (callKey !== undefined) this.#calls.add(callKey);
      // The first frame names the task, and later frames only repeat its events.
      if (id !== undefined && this.#familyIds.has(id)) return kind !== "frame";
      if (id !== undefined) this.#familyIds.add(id);
      return true;
    }
    return kind === "model" && id !== undefined && this.#familyIds.has(id);
  }
}
