import type { SharedTaskStore } from "../cluster/index.ts";
import type { PushStore } from "../webhooks/index.ts";
import type { StoreGauges, TaskListCursor, TaskScope, SessionRepository } from "../engine/index.ts";
import type { TaskDeletionStore } from "./task-deletion-store.ts";
import type { TaskState } from "../protocol/index.ts";

/** A task store with the ports that a server uses for operators, retention, and sessions. Every port is optional. */
export interface ServerStore extends SharedTaskStore {
  /** Storage for webhooks. Stores without a `pushStore` do not support push notifications. */
  readonly pushStore?: PushStore;
  /**
   * Storage for the sessions of agent frameworks in the database of the tasks. Without this member, sessions need a
   * separate storage.
   */
  readonly sessionRepository?: SessionRepository;
  /** Deletion of tasks. Stores without a `deletionStore` keep all tasks. */
  readonly deletionStore?: TaskDeletionStore;
  /** Lists of the tasks of all callers. Stores without an `overview` do not support operators. */
  readonly overview?: TaskOverview;
  /** The file of a store that consists of one file. */
  readonly file?: StoreFile;
  /** Returns measurements for the operator. The function uses no `this`. Stores without gauges omit the function. */
  readonly readGauges?: () => StoreGauges;
}

/** The file of a store. */
export interface StoreFile {
  /** Absolute path. */
  readonly path: string;
  /** Copies everything that the open store can read to the new file `target`. */
  backUp(target: string): Promise<void>;
}

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
  /** Words of the task's messages and artifacts. Requires a started `textIndex`. */
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

/** An index of the words of the tasks. */
export interface TextIndex {
  /** Whether queries may contain `text`, because `start` has been called. */
  readonly isStarted: boolean;
  /** Starts to index the tasks, also the stored tasks. The store indexes a task soon after its turn has ended. */
  start(): Promise<void>;
}

/** Lists the tasks of all callers for operators, and the tasks of one caller with more filters than `TaskStore.list`. */
export interface TaskOverview {
  /** Search for words. Stores without a `textIndex` cannot search text. */
  readonly textIndex?: TextIndex;
  /**
   * Creates the indexes that lists of the tasks of all callers need, unless they exist. Servers with the option
   * `operator` call the function after `open`.
   */
  prepareForAllCallers?(): Promise<void>;
  list(query: TaskOverviewQuery): Promise<TaskOverviewPage>;
  /** Resolves with the scope of a task, or with `undefined` if no caller has the task. */
  findScope(agent: string, taskId: string): Promise<TaskScope | undefined>;
}
