import type { LogEvent } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { TaskStore } from "./task-store.ts";

/** Maximum size of a page when a task's log is read. */
export const LOG_PAGE_LIMIT: { readonly events: number; readonly maxBytes: number } = {
  events: 512,
  maxBytes: 256 * 1024,
};

/**
 * Yields the committed events of a task with `afterSeq < seq <= untilSeq`. The events are read from the store
 * page by page.
 */
export async function* readLog(
  store: TaskStore,
  { scope, taskId }: { readonly scope: TaskScope; readonly taskId: string },
  afterSeq: number,
  untilSeq: number = Infinity,
): AsyncGenerator<LogEvent, void> {
  let seq = afterSeq;
  while (seq < untilSeq) {
    const events = await store.readEvents(scope, taskId, seq, LOG_PAGE_LIMIT);
    const last = events.at(-1);
    if (!last) return;
    yield* events.filter((event) => event.seq <= untilSeq);
    seq = last.seq;
  }
}
