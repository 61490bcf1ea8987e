import type { SqlDatabase, SqlValue, SqlStatement } from "./sql-database.ts";
import { LruCache } from "../../base/data-structures/index.ts";
import type { TaskScope } from "../../engine/index.ts";
import { parseTextQuery, type TextQuery } from "../task-words.ts";
import { buildAllCallersSql, buildScopeSql, buildTextSql } from "./task-overview-sql.ts";
import { decodeState, decodeTime, encodeTime } from "./status-columns.ts";
import type { TaskOwnerScopeTable } from "./task-owner-scope-table.ts";
import type { TaskOverviewEntry, TaskOverviewPage, TaskOverviewQuery } from "../server-store.ts";

/** Sorts after every status time. */
const END_OF_TIMES = Number.MAX_SAFE_INTEGER;

const MAX_PREPARED_STATEMENTS = 32;

interface TaskOverviewRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly taskId: string;
  readonly contextId: string;
  readonly state: number;
  readonly timestamp: number;
  readonly seq: number;
}

/** Lists committed tasks of some scopes or of all callers. The cost of a page does not depend on the number of tasks. */
export class TaskOverviewReader {
  readonly #db: SqlDatabase;
  readonly #scopeTable: TaskOwnerScopeTable;
  readonly #statementsBySql = new LruCache<SqlStatement>(MAX_PREPARED_STATEMENTS);

  constructor(db: SqlDatabase, scopeTable: TaskOwnerScopeTable) {
    this.#db = db;
    this.#scopeTable = scopeTable;
  }

  list(query: TaskOverviewQuery): TaskOverviewPage {
    const { limit, text } = query;
    const textQuery = text === undefined ? undefined : parseTextQuery(text);
    // A text without words matches no task.
    if (text !== undefined && !textQuery) return { tasks: [], hasMore: false };
    const rows = (textQuery ? this.#selectMatchingRows(query, textQuery) : this.#selectRows(query))
      .toSorted(compareNewestFirst)
      .slice(0, limit + 1);
    return { tasks: rows.slice(0, limit).map(toOverviewEntry), hasMore: rows.length > limit };
  }

  findScope(agent: string, taskId: string): TaskScope | undefined {
    const row = this.#prepare(
      `SELECT tenant, principal, agent FROM scope CROSS JOIN task ON task.scope = scope.key AND task.task_id = $taskId
      WHERE agent = $agent LIMIT 1`,
    ).get({ $agent: agent, $taskId: taskId });
    return row && { ...(row as unknown as TaskScope) };
  }

  /** Returns at least the rows of the page and one more row, if they exist, in any order. */
  #selectRows(query: TaskOverviewQuery): TaskOverviewRow[] {
    const { scopes } = query;
    if (!scopes) {
      const agent: Record<string, SqlValue> = query.agent === undefined ? {} : { $agent: query.agent };
      return this.#select(buildAllCallersSql(query, this.#db.maxUnionTerms), query, agent);
    }
    const sql = buildScopeSql(query, this.#db.maxUnionTerms);
    return scopes.flatMap((scope) => {
      const key = this.#scopeTable.findKey(scope);
      return key === undefined ? [] : this.#select(sql, query, { $scope: key });
    });
  }

  #selectMatchingRows(query: TaskOverviewQuery, textQuery: TextQuery): TaskOverviewRow[] {
    const keys = query.scopes?.flatMap((scope) => this.#scopeTable.findKey(scope) ?? []);
    return this.#select(buildTextSql(query), query, {
      $text: toFullTextQuery(textQuery),
      ...(keys ? { $scopes: JSON.stringify(keys) } : {}),
      ...(!keys && query.agent !== undefined ? { $agent: query.agent } : {}),
    });
  }

  #select(sql: string, query: TaskOverviewQuery, parameters: Record<string, SqlValue>): TaskOverviewRow[] {
    const { after, contextId, statusSince, statusUntil, limit } = query;
    return this.#prepare(sql).all({
      $limit: limit + 1,
      $since: statusSince === undefined ? 0 : encodeTime(statusSince),
      $until: statusUntil === undefined ? END_OF_TIMES : encodeTime(statusUntil),
      $afterTimestamp: after ? encodeTime(after.timestamp) : END_OF_TIMES,
      $afterTaskId: after?.taskId ?? "",
      ...(contextId === undefined ? {} : { $contextId: contextId }),
      ...parameters,
    }) as unknown as TaskOverviewRow[];
  }

  #prepare(sql: string): SqlStatement {
    let statement = this.#statementsBySql.get(sql);
    if (!statement) this.#statementsBySql.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}

function compareNewestFirst(a: TaskOverviewRow, b: TaskOverviewRow): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? 1 : -1;
  return a.taskId < b.taskId ? 1 : -1;
}

function toOverviewEntry({
  tenant,
  principal,
  agent,
  state,
  timestamp,
  ...entry
}: TaskOverviewRow): TaskOverviewEntry {
  return {
    ...entry,
    scope: { tenant, principal, agent },
    state: decodeState(state),
    timestamp: decodeTime(timestamp),
  };
}

/** Converts a query to the query language of SQLite's full-text search. Words contain no quotation marks. */
export function toFullTextQuery({ words, prefix }: TextQuery): string {
  return `${[...words, prefix].map((word) => `"${word}"`).join(" ")} *`;
}
