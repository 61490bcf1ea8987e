import type { StoredTask, TaskListPage, TaskListQuery, TaskScope } from "../../engine/index.ts";
import type { LogEvent } from "../../protocol/index.ts";
import { type EventPageLimit, iterateLoggedEvents, takeEventPage, type LogLines } from "../logged-events.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { restoreTask, restoreTaskWithoutArtifacts, type SnapshotRow } from "../restore-task.ts";
import { STORED_TASK_STATES } from "../stored-task-states.ts";
import type { PostgresConnection } from "./postgres-pool.ts";
import { computeScopeKey } from "./scope-key.ts";
import * as statements from "./statements/tasks.ts";

/** Largest number of tasks that the store counts. Counting all of a million tasks would take longer than the page. */
const MAX_COUNTED_POSTGRES_TASKS = 1000;
/** Sorts after every status time. */
export const END_OF_TIMES = "~";

/** The id of the reading node, and the cipher for the secrets of webhooks. Both change when the store is opened. */
interface ReadingNode {
  readonly getNode: () => string;
  readonly getCipher: () => PushSecretCipher;
}

/** Reads committed tasks, each with one statement. */
export class PostgresTaskReader {
  readonly #connection: PostgresConnection;
  readonly #reading: ReadingNode;

  constructor(connection: PostgresConnection, reading: ReadingNode) {
    this.#connection = connection;
    this.#reading = reading;
  }

  async load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    const parameters = [computeScopeKey(scope), taskId, this.#reading.getNode()] as const;
    const rows = await this.#connection.query(statements.LOAD_TASK, parameters);
    const head = rows.find(({ kind }) => kind === "task");
    if (!head) return undefined;
    const cipher = this.#reading.getCipher();
    const queuedTurns = rows
      .filter(({ kind }) => kind === "queued")
      .toSorted((a, b) => a.seq - b.seq)
      .map(({ text }) => cipher.decodeTurn(text ?? "", { ...scope, taskId }));
    const { snapshot, logRows } = toTaskContent(rows);
    return {
      ...restoreTask(snapshot, () => logRows),
      seq: head.seq,
      epoch: head.epoch ?? 0,
      awaitsRecovery: head.flag ?? false,
      ...(head.text === "other-node" ? { runsOnOtherNode: true } : {}),
      ...(queuedTurns.length > 0 ? { queuedTurns } : {}),
    };
  }

  async readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: EventPageLimit,
  ): Promise<LogEvent[]> {
    const maxBytes = Math.min(limit.maxBytes, Number.MAX_SAFE_INTEGER);
    const parameters = [computeScopeKey(scope), taskId, after, limit.events, maxBytes] as const;
    const rows = await this.#connection.query(statements.READ_EVENTS, parameters);
    return takeEventPage(iterateLoggedEvents(rows, after), after, limit);
  }

  async findMessage(
    scope: TaskScope,
    messageId: string,
  ): Promise<{ taskId: string; seq: number } | undefined> {
    const parameters = [computeScopeKey(scope), messageId] as const;
    return (await this.#connection.query(statements.FIND_MESSAGE, parameters))[0];
  }

  /** Lists committed tasks. The cost of a page does not depend on the number of stored tasks. */
  async list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    const { contextId, status, statusSince = "", after, limit, maxBytes, includeArtifacts = false } = query;
    const { LIST_TASKS, LIST_TASKS_OF_CONTEXT, COUNT_TASKS, COUNT_TASKS_OF_CONTEXT } = statements;
    const scopeKey = computeScopeKey(scope);
    const states = status === undefined ? STORED_TASK_STATES : [status];
    const context: [contextId?: string] = contextId === undefined ? [] : [contextId];
    const [rows, [counted]] = await Promise.all([
      this.#connection.query(contextId === undefined ? LIST_TASKS : LIST_TASKS_OF_CONTEXT, [
        scopeKey,
        states,
        statusSince,
        after?.timestamp ?? END_OF_TIMES,
        after?.taskId ?? "",
        limit,
        Math.min(maxBytes ?? Infinity, Number.MAX_SAFE_INTEGER),
        includeArtifacts,
        ...context,
      ]),
      this.#connection.query(contextId === undefined ? COUNT_TASKS : COUNT_TASKS_OF_CONTEXT, [
        scopeKey,
        states,
        statusSince,
        MAX_COUNTED_POSTGRES_TASKS,
        ...context,
      ]),
    ]);
    const page = rows.filter(({ kind }) => kind === "page").toSorted((a, b) => a.seq - b.seq);
    const rowsByTask = Map.groupBy(rows, ({ key }) => key);
    const shown = page.filter(({ flag }) => flag);
    const tasks = shown.map(({ key }) => {
      const { snapshot, logRows } = toTaskContent(rowsByTask.get(key) ?? []);
      return includeArtifacts
        ? restoreTask(snapshot, () => logRows).task
        : restoreTaskWithoutArtifacts(snapshot, logRows);
    });
    return { tasks, hasMore: page.length > shown.length, total: counted?.count ?? 0 };
  }
}

/** Selects the snapshot and the log rows among the rows of one task. The log rows are in the order of their events. */
function toTaskContent(rows: readonly statements.StoredTaskRow[]): {
  readonly snapshot: SnapshotRow | undefined;
  readonly logRows: readonly LogLines[];
} {
  const snapshot = rows.find(({ kind }) => kind === "snapshot");
  const logRows = rows
    .filter(({ kind }) => kind === "log")
    .map(({ seq, text }) => ({ seq, lines: text ?? "" }));
  return {
    snapshot: snapshot && { ...snapshot, json: snapshot.text ?? "" },
    logRows: logRows.toSorted((a, b) => a.seq - b.seq),
  };
}
