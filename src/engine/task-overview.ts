import type { TaskState } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";
import type { TaskListCursor } from "./task-list-cursor.ts";

/** Selects tasks of one or all callers. All conditions must be met. */
export interface TaskOverviewQuery {
  /** The scopes whose tasks are listed. By default, the list contains the tasks of all callers. */
  readonly scopes?: readonly TaskScope[];
  /** Id of the agent in a list of the tasks of all callers. Default: all agents. */
  readonly agent?: string;
  readonly contextId?: string;
  readonly status?: TaskState;
  /** Earliest status time, inclusive, in ISO 8601 UTC with milliseconds. */
  readonly statusSince?: string;
  /** Latest status time, inclusive, in ISO 8601 UTC with milliseconds. */
  readonly statusUntil?: string;
  /** Words of the task's messages and artifacts. Only stores with `searchesText` support the condition. */
  readonly text?: string;
  /** Position in the list. The page begins after this position. */
  readonly after?: TaskListCursor;
  /** Maximum number of tasks on the page. */
  readonly limit: number;
}

/** A task in an overview, without its content. */
export interface TaskOverviewEntry extends TaskListCursor {
  readonly scope: TaskScope;
  readonly contextId: string;
  readonly state: TaskState;
  /** Sequence number of the task's last event. */
  readonly seq: number;
}

export interface TaskOverviewPage {
  /** Tasks with the newest status first. */
  readonly tasks: readonly TaskOverviewEntry[];
  /** True if at least one more task follows the returned tasks. */
  readonly hasMore: boolean;
}

/** Lists the tasks of all callers for operators, and the tasks of one caller with more filters than `TaskStore.list`. */
export interface TaskOverview {
  /** Whether queries may contain `text`, because `startTextIndex` has been called. */
  readonly searchesText: boolean;
  /**
   * Starts to index the text of tasks, also of the stored tasks. The store indexes a task soon after its turn has ended.
   * Stores that cannot index text omit the function.
   */
  startTextIndex?(): Promise<void>;
  /**
   * Creates the indexes that lists of the tasks of all callers need, unless they exist. Servers with the option
   * `operator` call the function after `open`.
   */
  prepareForAllCallers(): Promise<void>;
  list(query: TaskOverviewQuery): Promise<TaskOverviewPage>;
  /** Resolves with the scope of a task, or with `undefined` if no caller has the task. */
  findScope(agent: string, taskId: string): Promise<TaskScope | undefined>;
}
