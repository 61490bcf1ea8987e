import { fold, isRefusal, snapshot, type LogEvent, type Task } from "../../protocol/index.ts";
import type { Scope } from "../caller.ts";
import type { TaskStore } from "../store.ts";

const PAGE = { events: 512, maxBytes: 256 * 1024 };

/** The task as it was at some place in its log, moved on event by event. */
export class Replica {
  #task: Task | undefined;
  #seq: number;

  private constructor(task: Task | undefined, seq: number) {
    this.#task = task;
    this.#seq = seq;
  }

  /** The task at `seq`, which may be long past. */
  static async at(store: TaskStore, scope: Scope, taskId: string, seq: number): Promise<Replica> {
    const newest = seq > 0 ? await store.load(scope, taskId) : undefined;
    if (newest?.seq === seq) return new Replica(newest.task, seq);
    const replica = new Replica(undefined, 0);
    while (replica.#seq < seq) {
      const events = await store.read(scope, taskId, replica.#seq, PAGE);
      if (events.length === 0) break;
      for (const event of events) if (event.seq <= seq) replica.add(event);
    }
    return replica;
  }

  /** The events that come next, in order; one that is known already changes nothing. */
  add(event: LogEvent): void {
    if (event.seq <= this.#seq) return;
    const folded = fold(this.#task, event.event);
    // What is in a log was legal when it came in.
    if (!isRefusal(folded)) this.#task = folded;
    this.#seq = event.seq;
  }

  /** A copy that later events do not touch. */
  get task(): Task | undefined {
    return this.#task && snapshot(this.#task);
  }
}
