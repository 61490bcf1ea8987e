import { fold, isEventRefusal, copyTask, type LogEvent, type Task } from "../../protocol/index.ts";
import type { TaskScope } from "../caller.ts";
import type { TaskStore } from "../task-store.ts";

const PAGE_LIMIT = { events: 512, maxBytes: 256 * 1024 };

/** The task as it was at some place in its log, moved on event by event. */
export class TaskProjection {
  #task: Task | undefined;
  #seq: number;

  private constructor(task: Task | undefined, seq: number) {
    this.#task = task;
    this.#seq = seq;
  }

  /** The task at `seq`, which may be long past. */
  static async loadAt(
    store: TaskStore,
    scope: TaskScope,
    taskId: string,
    seq: number,
  ): Promise<TaskProjection> {
    const newest = seq > 0 ? await store.load(scope, taskId) : undefined;
    if (newest?.seq === seq) return new TaskProjection(newest.task, seq);
    const replica = new TaskProjection(undefined, 0);
    while (replica.#seq < seq) {
      const events = await store.readEvents(scope, taskId, replica.#seq, PAGE_LIMIT);
      if (events.length === 0) break;
      for (const event of events) if (event.seq <= seq) replica.apply(event);
    }
    return replica;
  }

  /** The events that come next, in order; one that is known already changes nothing. */
  apply(event: LogEvent): void {
    if (event.seq <= this.#seq) return;
    const folded = fold(this.#task, event.event);
    // What is in a log was legal when it came in.
    if (!isEventRefusal(folded)) this.#task = folded;
    this.#seq = event.seq;
  }

  /** A copy that later events do not touch. */
  get task(): Task | undefined {
    return this.#task && copyTask(this.#task);
  }
}
