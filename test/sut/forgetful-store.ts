import type { Append, TaskStore } from "../../src/engine/index.ts";

/**
 * A store that does not remember the ids of messages. The TCK sends different messages under one id (it makes one id
 * per scenario and session), which to us are a message sent again, or an error (E10).
 */
export function withoutMessageIds(store: TaskStore): TaskStore {
  return {
    name: store.name,
    snapshots: store.snapshots,
    open: () => store.open(),
    close: () => store.close(),
    commit: (batch) => store.commit(batch.map((append): Append => ({ ...append, messages: [] }))),
    load: (...asked) => store.load(...asked),
    read: (...asked) => store.read(...asked),
    list: (...asked) => store.list(...asked),
    findMessage: () => Promise.resolve(undefined),
    unfinished: () => store.unfinished(),
  };
}
