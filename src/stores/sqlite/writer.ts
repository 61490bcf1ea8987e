import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Append, AppendRefusal } from "../../engine/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import type { PushTable } from "./push.ts";
import type { Scopes } from "./scopes.ts";

/** Emptied when it is full: what is needed again costs one lookup. */
const MAX_CACHED = 10_000;

/** Writes appends with the fewest statements that do it. Call it only within a transaction. */
export class Writer {
  readonly #scopes: Scopes;
  readonly #push: PushTable;
  /** Keys of tasks that are at work, by scope and id: they are appended to again soon. */
  readonly #keys = new Map<string, number>();
  /** Given out here, so that a message can be written before its task: nobody else writes to the file. */
  #nextKey: number;
  readonly #findTask: StatementSync;
  readonly #addTask: StatementSync;
  readonly #advanceTask: StatementSync;
  readonly #addEvents: StatementSync;
  readonly #addMessage: StatementSync;
  readonly #removeMessage: StatementSync;
  readonly #putSnapshot: StatementSync;
  readonly #putTurn: StatementSync;
  readonly #removeTurn: StatementSync;

  constructor(db: DatabaseSync, scopes: Scopes, push: PushTable) {
    this.#scopes = scopes;
    this.#push = push;
    const last = db.prepare("SELECT coalesce(max(key), 0) AS key FROM task").get();
    this.#nextKey = (last?.["key"] as number) + 1;
    this.#findTask = db.prepare("SELECT key FROM task WHERE scope = ? AND task_id = ?");
    this.#addTask = db.prepare(
      `INSERT INTO task (key, scope, task_id, context_id, seq, state, timestamp) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (scope, task_id) DO NOTHING`,
    );
    this.#advanceTask = db.prepare(
      "UPDATE task SET seq = ?, state = ?, timestamp = ? WHERE key = ? AND seq = ?",
    );
    this.#addEvents = db.prepare("INSERT INTO log (task, seq, lines) VALUES (?, ?, ?)");
    this.#addMessage = db.prepare(
      `INSERT INTO message (scope, message_id, task, seq) VALUES (?, ?, ?, ?)
       ON CONFLICT (scope, message_id) DO NOTHING`,
    );
    this.#removeMessage = db.prepare("DELETE FROM message WHERE scope = ? AND message_id = ?");
    this.#putSnapshot = db.prepare(
      `INSERT INTO snapshot (task, seq, json) VALUES (?, ?, ?)
       ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, json = excluded.json`,
    );
    this.#putTurn = db.prepare("INSERT OR REPLACE INTO turn (task, json) VALUES (?, ?)");
    this.#removeTurn = db.prepare("DELETE FROM turn WHERE task = ?");
  }

  /** Writes all of an append, or refuses it and leaves nothing of it. */
  append(append: Append): AppendRefusal | undefined {
    const { after, events, snapshot, status, webhooks = [], turn } = append;
    const scope = this.#scopes.findOrAdd(append.scope);
    const key = after === 0 ? this.#nextKey : this.#keyOf(scope, append.taskId);
    if (key === undefined) return "conflict";
    // First what can be refused. What was written until then is taken back by hand, which is rare and spares every
    // append a savepoint.
    if (!this.#claimMessages(scope, key, append.messages)) return "duplicate-message";
    const seq = after + events.length;
    if (!(after === 0 ? this.#create(key, scope, seq, append) : this.#advance(key, seq, append))) {
      this.#releaseMessages(scope, append.messages);
      return "conflict";
    }
    this.#addEvents.run(key, seq, events.map(({ json }) => json).join("\n"));
    if (snapshot) this.#putSnapshot.run(key, seq, JSON.stringify(snapshot));
    if (turn) this.#putTurn.run(key, JSON.stringify(turn));
    else if (turn === null) this.#removeTurn.run(key);
    for (const webhook of webhooks) this.#push.register({ key, seq, state: status.state }, after, webhook);
    this.#remember(key, scope, append);
    return undefined;
  }

  #create(key: number, scope: number, seq: number, { taskId, contextId, status }: Append): boolean {
    const { changes } = this.#addTask.run(key, scope, taskId, contextId, seq, status.state, status.timestamp);
    if (changes === 0) return false;
    this.#nextKey++;
    return true;
  }

  #advance(key: number, seq: number, { after, status }: Append): boolean {
    return this.#advanceTask.run(seq, status.state, status.timestamp, key, after).changes === 1;
  }

  #claimMessages(scope: number, key: number, messages: Append["messages"]): boolean {
    for (const [at, { messageId, seq }] of messages.entries()) {
      if (this.#addMessage.run(scope, messageId, key, seq).changes === 0) {
        this.#releaseMessages(scope, messages.slice(0, at));
        return false;
      }
    }
    return true;
  }

  #releaseMessages(scope: number, messages: Append["messages"]): void {
    for (const { messageId } of messages) this.#removeMessage.run(scope, messageId);
  }

  #keyOf(scope: number, taskId: string): number | undefined {
    return (
      this.#keys.get(`${scope} ${taskId}`) ??
      (this.#findTask.get(scope, taskId)?.["key"] as number | undefined)
    );
  }

  #remember(key: number, scope: number, { taskId, status }: Append): void {
    const name = `${scope} ${taskId}`;
    if (isTerminal(status.state)) {
      this.#keys.delete(name);
      return;
    }
    if (this.#keys.size >= MAX_CACHED) this.#keys.clear();
    this.#keys.set(name, key);
  }
}
