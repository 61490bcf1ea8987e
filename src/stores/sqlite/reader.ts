import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { KeptTurn, ListPage, ListQuery, Scope, UnfinishedTask } from "../../engine/index.ts";
import { LogEvent, type Task, type TaskState } from "../../protocol/index.ts";
import { replay } from "../replay.ts";
import type { Scopes } from "./scopes.ts";

interface TaskRow {
  key: number;
  seq: number;
}

/** The events of one append, up to `seq`. */
interface LogRow {
  seq: number;
  lines: string;
}

interface SnapshotRow {
  seq: number;
  json: string;
}

/** Answers from what was committed. */
export class Reader {
  readonly #db: DatabaseSync;
  readonly #scopes: Scopes;
  readonly #task: StatementSync;
  readonly #snapshot: StatementSync;
  readonly #log: StatementSync;
  readonly #message: StatementSync;
  readonly #unfinished: StatementSync;

  constructor(db: DatabaseSync, scopes: Scopes) {
    this.#db = db;
    this.#scopes = scopes;
    this.#task = db.prepare("SELECT key, seq FROM task WHERE scope = ? AND task_id = ?");
    this.#snapshot = db.prepare("SELECT seq, json FROM snapshot WHERE task = ?");
    this.#log = db.prepare("SELECT seq, lines FROM log WHERE task = ? AND seq > ? ORDER BY seq");
    this.#message = db.prepare(
      `SELECT task.task_id AS taskId, message.seq AS seq FROM message JOIN task ON task.key = message.task
       WHERE message.scope = ? AND message.message_id = ?`,
    );
    this.#unfinished = db.prepare(
      `SELECT tenant, principal, agent, task_id AS taskId, context_id AS contextId, seq, state, timestamp, turn.json AS turn
       FROM task JOIN scope ON scope.key = task.scope LEFT JOIN turn ON turn.task = task.key
       WHERE state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')`,
    );
  }

  load(scope: Scope, taskId: string): { task: Task; seq: number } | undefined {
    const row = this.#find(scope, taskId);
    return row && { task: this.#fold(row), seq: row.seq };
  }

  read(scope: Scope, taskId: string, after: number, limit: { events: number; maxBytes: number }): LogEvent[] {
    const row = this.#find(scope, taskId);
    const events: LogEvent[] = [];
    if (!row || row.seq <= after) return events;
    let bytes = 0;
    for (const event of this.#eventsAfter(row.key, after)) {
      events.push(event);
      bytes += Buffer.byteLength(event.json);
      if (events.length >= limit.events || bytes > limit.maxBytes) break;
    }
    return events;
  }

  list(scope: Scope, { contextId, status, since, after, limit }: ListQuery): ListPage {
    const owner = this.#scopes.find(scope);
    if (owner === undefined) return { tasks: [], more: false, total: 0 };
    const conditions = ["scope = ?"];
    const values: SQLInputValue[] = [owner];
    function where(condition: string, ...bound: SQLInputValue[]): void {
      conditions.push(condition);
      values.push(...bound);
    }
    if (contextId !== undefined) where("context_id = ?", contextId);
    if (status !== undefined) where("state = ?", status);
    if (since !== undefined) where("timestamp >= ?", since);
    // Left alone, SQLite walks the whole scope in the order of the list to find the few tasks of a context.
    const table = contextId === undefined ? "task" : "task INDEXED BY task_context";
    const total = this.#db
      .prepare(`SELECT count(*) AS total FROM ${table} WHERE ${conditions.join(" AND ")}`)
      .get(...values)?.["total"] as number;
    // A comparison of rows is one range of the index; spelled out with OR it would be a scan.
    if (after) where("(timestamp, task_id) < (?, ?)", after.timestamp, after.taskId);
    const rows = this.#db
      .prepare(
        `SELECT key, seq FROM ${table} WHERE ${conditions.join(" AND ")}
         ORDER BY timestamp DESC, task_id DESC LIMIT ?`,
      )
      .all(...values, limit + 1) as unknown as TaskRow[];
    return {
      tasks: rows.slice(0, limit).map((row) => this.#fold(row)),
      more: rows.length > limit,
      total,
    };
  }

  findMessage(scope: Scope, messageId: string): { taskId: string; seq: number } | undefined {
    const owner = this.#scopes.find(scope);
    if (owner === undefined) return undefined;
    const row = this.#message.get(owner, messageId);
    return row && { taskId: row["taskId"] as string, seq: row["seq"] as number };
  }

  unfinished(): UnfinishedTask[] {
    return this.#unfinished.all().map((row) => ({
      scope: {
        tenant: row["tenant"] as string,
        principal: row["principal"] as string,
        agent: row["agent"] as string,
      },
      taskId: row["taskId"] as string,
      contextId: row["contextId"] as string,
      seq: row["seq"] as number,
      state: row["state"] as TaskState,
      timestamp: row["timestamp"] as string,
      ...(row["turn"] === null ? {} : { turn: JSON.parse(row["turn"] as string) as KeptTurn }),
    }));
  }

  #find(scope: Scope, taskId: string): TaskRow | undefined {
    const owner = this.#scopes.find(scope);
    if (owner === undefined) return undefined;
    return this.#task.get(owner, taskId) as unknown as TaskRow | undefined;
  }

  /** The newest snapshot and what was logged since. */
  #fold({ key }: TaskRow): Task {
    const newest = this.#snapshot.get(key) as unknown as SnapshotRow | undefined;
    const task = newest && (JSON.parse(newest.json) as Task);
    return replay(task, this.#eventsAfter(key, newest?.seq ?? 0)) as Task;
  }

  *#eventsAfter(key: number, after: number): Generator<LogEvent> {
    for (const { seq, lines } of this.#log.iterate(key, after) as Iterable<LogRow>) {
      const events = lines.split("\n");
      const before = seq - events.length;
      for (const [index, json] of events.entries()) {
        // The first row may begin before what is asked for.
        if (before + index >= after) yield LogEvent.parse(before + index + 1, json);
      }
    }
  }
}
