import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Scope, Webhook, WebhookProgress, WebhookRegistration } from "../../engine/index.ts";
import { isTerminal, type TaskState } from "../../protocol/index.ts";
import type { Scopes } from "./scopes.ts";

interface TaskRow {
  readonly key: number;
  readonly seq: number;
  readonly state: TaskState;
}

interface PushRow {
  readonly key: number;
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly taskId: string;
  readonly config: string;
  readonly version: string;
  readonly delivered: number;
  readonly failingSince: number | null;
  readonly deadAt: number | null;
  readonly deadReason: string | null;
}

const SELECT = `
  SELECT push.key AS key, tenant, principal, agent, task_id AS taskId, config, version, delivered,
    failing_since AS failingSince, dead_at AS deadAt, dead_reason AS deadReason
  FROM push JOIN task ON task.key = push.task JOIN scope ON scope.key = task.scope`;

/** The webhooks of the tasks in one database. */
export class PushTable {
  readonly #scopes: Scopes;
  readonly #task: StatementSync;
  readonly #put: StatementSync;
  readonly #byId: StatementSync;
  readonly #byTask: StatementSync;
  readonly #remove: StatementSync;
  readonly #due: StatementSync;
  readonly #advance: StatementSync;
  readonly #dead: StatementSync;

  constructor(db: DatabaseSync, scopes: Scopes) {
    this.#scopes = scopes;
    this.#task = db.prepare("SELECT key, seq, state FROM task WHERE scope = ? AND task_id = ?");
    this.#put = db.prepare(
      `INSERT INTO push (task, id, config, version, delivered, owing)
       VALUES (:task, :id, :config, :version, :after, :after < :seq OR NOT :ended)
       ON CONFLICT (task, id) DO UPDATE SET config = excluded.config, version = excluded.version,
         owing = delivered < :seq OR NOT :ended, failing_since = NULL, dead_at = NULL, dead_reason = NULL`,
    );
    this.#byId = db.prepare(`${SELECT} WHERE push.task = ? AND push.id = ?`);
    this.#byTask = db.prepare(`${SELECT} WHERE push.task = ? ORDER BY push.key`);
    this.#remove = db.prepare("DELETE FROM push WHERE task = ? AND id = ?");
    this.#due = db.prepare(
      `${SELECT} WHERE push.owing = 1 AND push.key > ? AND push.delivered < task.seq ORDER BY push.key LIMIT ?`,
    );
    this.#advance = db.prepare(
      `UPDATE push SET delivered = max(delivered, ?), owing = ?, failing_since = ?, dead_at = ?, dead_reason = ?
       WHERE key = ?`,
    );
    this.#dead = db.prepare(`${SELECT} WHERE push.dead_at IS NOT NULL ORDER BY push.key DESC LIMIT ?`);
  }

  put(scope: Scope, taskId: string, registration: WebhookRegistration): Webhook | undefined {
    const task = this.#find(scope, taskId);
    if (!task) return undefined;
    this.register(task, task.seq, registration);
    return this.#one(task, registration.config.id);
  }

  /** Registers a webhook for what comes behind `after`. Call it only within a transaction. */
  register(task: TaskRow, after: number, { config, version }: WebhookRegistration): void {
    this.#put.run({
      task: task.key,
      id: config.id,
      config: JSON.stringify(config),
      version,
      after,
      seq: task.seq,
      ended: isTerminal(task.state) ? 1 : 0,
    });
  }

  get(scope: Scope, taskId: string, id: string): Webhook | undefined {
    const task = this.#find(scope, taskId);
    return task && this.#one(task, id);
  }

  list(scope: Scope, taskId: string): Webhook[] | undefined {
    const task = this.#find(scope, taskId);
    return task && webhooks(this.#byTask.all(task.key));
  }

  remove(scope: Scope, taskId: string, id: string): boolean {
    const task = this.#find(scope, taskId);
    if (task) this.#remove.run(task.key, id);
    return task !== undefined;
  }

  due(after: number, limit: number): Webhook[] {
    return webhooks(this.#due.all(after, limit));
  }

  advance(progress: readonly WebhookProgress[]): void {
    for (const { key, delivered, finished, failingSince, dead } of progress) {
      const owing = finished || dead ? 0 : 1;
      this.#advance.run(delivered, owing, failingSince ?? null, dead?.at ?? null, dead?.reason ?? null, key);
    }
  }

  dead(limit: number): Webhook[] {
    return webhooks(this.#dead.all(limit));
  }

  #one({ key }: TaskRow, id: string): Webhook | undefined {
    return webhooks(this.#byId.all(key, id))[0];
  }

  #find(scope: Scope, taskId: string): TaskRow | undefined {
    const owner = this.#scopes.find(scope);
    if (owner === undefined) return undefined;
    return this.#task.get(owner, taskId) as unknown as TaskRow | undefined;
  }
}

function webhooks(rows: unknown[]): Webhook[] {
  return (rows as PushRow[]).map(
    ({ tenant, principal, agent, config, failingSince, deadAt, deadReason, ...row }) => ({
      ...row,
      scope: { tenant, principal, agent },
      config: JSON.parse(config) as Webhook["config"],
      ...(failingSince === null ? {} : { failingSince }),
      ...(deadAt === null ? {} : { dead: { at: deadAt, reason: deadReason ?? "" } }),
    }),
  );
}
