import type { StoredTask, TaskScope } from "../../engine/index.ts";
import { TaskTextIndexer } from "../task-text-indexer.ts";
import { toScope } from "../task-owner-scope-key.ts";
import { listTaskWords, type TextQuery } from "../task-words.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import {
  FIND_QUEUED_TEXT,
  FIND_UNINDEXED_TASKS,
  SAVE_TEXT,
  type UnindexedTaskRow,
} from "./statements/overview.ts";

/** Number of tasks that one statement compares with the index. */
const TASKS_PER_RANGE = 2_000;

interface PostgresTextIndexOptions {
  /** Returns the id of this node. */
  readonly getNode: () => string;
  readonly load: (scope: TaskScope, taskId: string) => Promise<StoredTask | undefined>;
}

/**
 * Indexes the words of tasks in the background. Each append that leaves a task without a running turn queues the task in
 * the same statement. At its start, a node also indexes all tasks that the index lacks, because nodes without the option
 * queue no tasks.
 */
export class PostgresTextIndex extends TaskTextIndexer {
  readonly #connection: PostgresConnection;
  readonly #options: PostgresTextIndexOptions;
  /** Key of the last task that has been compared with the index, or `undefined` after all tasks. */
  #comparedThrough: number | undefined;

  constructor(connection: PostgresConnection, options: PostgresTextIndexOptions) {
    super({
      start: () => void (this.#comparedThrough = 0),
      indexBatch: (limit) => this.#indexBatch(limit),
    });
    this.#connection = connection;
    this.#options = options;
  }

  /** Indexes queued tasks. Tasks that were stored before the start follow once the queue is empty. */
  async #indexBatch(limit: number): Promise<boolean> {
    const queued = await this.#connection.query(FIND_QUEUED_TEXT, [this.#options.getNode(), limit]);
    const queueKeysByTask = Map.groupBy(queued, ({ key }) => key);
    for (const [task, ...repeated] of queueKeysByTask.values())
      if (task)
        await this.#indexTask(
          task,
          [task, ...repeated].map(({ queueKey }) => queueKey),
        );
    if (queued.length === limit) return true;
    if (this.#comparedThrough === undefined) return false;
    await this.#indexNextRange(this.#comparedThrough);
    return true;
  }

  async #indexNextRange(after: number): Promise<void> {
    const rows = await this.#connection.query(FIND_UNINDEXED_TASKS, [after, TASKS_PER_RANGE]);
    for (const row of rows) if (row.key !== null) await this.#indexTask(row as UnindexedTaskRow, []);
    const [range] = rows;
    this.#comparedThrough = range?.taskCount === TASKS_PER_RANGE ? (range.lastKey ?? undefined) : undefined;
  }

  async #indexTask(row: UnindexedTaskRow, queueKeys: readonly number[]): Promise<void> {
    const stored = await this.#options.load(toScope(row), row.taskId);
    // The deletion of a task removes the task from the queue.
    if (stored)
      await this.#connection.query(SAVE_TEXT, [
        row.key,
        stored.seq,
        renderWordVector(listTaskWords(stored.task)),
        queueKeys,
      ]);
  }
}

/** Renders words in the text format of `tsvector`. Words contain no quotation marks and backslashes. */
function renderWordVector(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(" ");
}

/** Renders a query in the text format of `tsquery`. */
export function renderWordQuery({ words, prefix }: TextQuery): string {
  return [...words.map((word) => `'${word}'`), `'${prefix}':*`].join(" & ");
}
