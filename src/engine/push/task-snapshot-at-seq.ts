import { fold, isEventRefusal, copyTask, type LogEvent, type Task } from "../../protocol/index.ts";
import type { TaskScope } from "../caller.ts";
import { readLog } from "../read-task-log.ts";
import type { TaskStore } from "../task-store.ts";

/** The state of a task at one position in its log. `TaskSnapshotAtSeq` advances event by event. */
export class TaskSnapshotAtSeq {
  #task: Task | undefined;
  #seq: number;

  private constructor(task: Task | undefined, seq: number) {
    this.#task = task;
    this.#seq = seq;
  }

  /** Loads the state of the task at `seq`. The sequence number `seq` can be far behind the end of the log. */
  static async loadAtSeq(
    store: TaskStore,
    scope: TaskScope,
    taskId: string,
    seq: number,
  ): Promise<TaskSnapshotAtSeq> {
    const newest = seq > 0 ? await store.load(scope, taskId) : undefined;
    if (newest?.seq === seq) return new TaskSnapshotAtSeq(newest.task, seq);
    const snapshot = new TaskSnapshotAtSeq(undefined, 0);
    for await (const event of readLog(store, { scope, taskId }, 0, seq)) snapshot.apply(event);
    return snapshot;
  }

  /** Applies the next event to the task. `TaskSnapshotAtSeq` ignores events that were already applied. */
  apply(event: LogEvent): void {
    if (event.seq <= this.#seq) return;
    const folded = fold(this.#task, event.event);
    // Logged events were validated when they were accepted.
    if (!isEventRefusal(folded)) this.#task = folded;
    this.#seq = event.seq;
  }

  /** Returns a copy of the task that later events do not change. */
  get task(): Task | undefined {
    return this.#task && copyTask(this.#task);
  }
}
