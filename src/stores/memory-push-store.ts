import type {
  ClaimedWebhooks,
  DueWebhookQuery,
  PushStore,
  TaskScope,
  Webhook,
  WebhookProgress,
  WebhookRegistration,
  WebhookRetries,
} from "../engine/index.ts";
import { isTerminal, type TaskState } from "../protocol/index.ts";
import { OrderedQueue } from "../base/data-structures/index.ts";
import { getScopeKey } from "./task-owner-scope-key.ts";

/** Looks up the last sequence number and the state of a task. */
type TaskSeqAndStateLookup = (
  scope: TaskScope,
  taskId: string,
) => { readonly seq: number; readonly state: TaskState } | undefined;

interface WebhookLocation {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly id: string;
}

/** Stores webhooks in the memory of the process. */
export class MemoryPushStore implements PushStore {
  readonly #findTaskState: TaskSeqAndStateLookup;
  readonly #byTask = new Map<string, Map<string, Webhook>>();
  /** Webhooks that have undelivered events or whose tasks have not ended. */
  readonly #undelivered = new Map<number, WebhookLocation>();
  /** Numbers of webhooks in `#undelivered`, by scope. */
  readonly #undeliveredByScope = new Map<string, number>();
  /** Webhooks that have undelivered events, in the order of their keys. */
  readonly #due = new OrderedQueue<WebhookLocation>();
  /** Times of the next attempts of webhooks whose last attempt has failed. */
  readonly #dueTimes = new Map<number, number>();
  #lastKey = 0;

  constructor(findTaskState: TaskSeqAndStateLookup) {
    this.#findTaskState = findTaskState;
  }

  async put(
    scope: TaskScope,
    taskId: string,
    registration: WebhookRegistration,
  ): Promise<Webhook | undefined> {
    const task = this.#findTaskState(scope, taskId);
    return task && this.register(scope, taskId, task.seq, registration);
  }

  /** Registers a webhook for the events after the sequence number `after`. */
  register(
    scope: TaskScope,
    taskId: string,
    after: number,
    { config, version }: WebhookRegistration,
  ): Webhook {
    const known = this.#findTaskWebhooks(scope, taskId)?.get(config.id);
    const key = known?.key ?? ++this.#lastKey;
    const deliveredSeq = known?.deliveredSeq ?? after;
    const webhook = { key, scope, taskId, config, version, deliveredSeq };
    this.#dueTimes.delete(key);
    const siblings = this.#findTaskWebhooks(scope, taskId) ?? new Map<string, Webhook>();
    this.#byTask.set(getTaskKey(scope, taskId), siblings.set(config.id, webhook));
    const task = this.#findTaskState(scope, taskId);
    if (task && (task.seq > deliveredSeq || !isTerminal(task.state))) {
      if (!this.#undelivered.has(key)) this.#countUndelivered(scope, 1);
      this.#undelivered.set(key, { scope, taskId, id: config.id });
      this.#updateDue(webhook, task.seq);
    }
    return webhook;
  }

  /** Marks the webhooks of a task as due after a commit of the task. */
  notifyCommit(scope: TaskScope, taskId: string, seq: number): void {
    if (this.#undelivered.size === 0) return;
    for (const webhook of this.#findTaskWebhooks(scope, taskId)?.values() ?? [])
      this.#updateDue(webhook, seq);
  }

  #updateDue({ key, deliveredSeq }: Webhook, taskSeq: number): void {
    const location = this.#undelivered.get(key);
    if (location && deliveredSeq < taskSeq) this.#due.insert(key, location);
    else this.#due.remove(key);
  }

  #countUndelivered(scope: TaskScope, change: number): void {
    const name = getScopeKey(scope);
    const count = (this.#undeliveredByScope.get(name) ?? 0) + change;
    if (count > 0) this.#undeliveredByScope.set(name, count);
    else this.#undeliveredByScope.delete(name);
  }

  #removeUndelivered(key: number): void {
    const location = this.#undelivered.get(key);
    if (location) this.#countUndelivered(location.scope, -1);
    this.#undelivered.delete(key);
    this.#dueTimes.delete(key);
    this.#due.remove(key);
  }

  async get(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined> {
    return this.#findTaskWebhooks(scope, taskId)?.get(id);
  }

  async list(scope: TaskScope, taskId: string): Promise<Webhook[] | undefined> {
    if (!this.#findTaskState(scope, taskId)) return undefined;
    return [...(this.#findTaskWebhooks(scope, taskId)?.values() ?? [])];
  }

  async remove(scope: TaskScope, taskId: string, id: string): Promise<boolean> {
    const siblings = this.#findTaskWebhooks(scope, taskId);
    const webhook = siblings?.get(id);
    if (siblings && webhook) {
      this.#removeUndelivered(webhook.key);
      siblings.delete(id);
      if (siblings.size === 0) this.#byTask.delete(getTaskKey(scope, taskId));
    }
    return this.#findTaskState(scope, taskId) !== undefined;
  }

  async claim(scope: TaskScope, taskId: string, now: number): Promise<ClaimedWebhooks> {
    const seq = this.#findTaskState(scope, taskId)?.seq ?? 0;
    const active = [...(this.#findTaskWebhooks(scope, taskId)?.values() ?? [])].filter(
      ({ key }) => this.#undelivered.has(key) && this.#isDue(key, now),
    );
    const webhooks = active.filter(({ deliveredSeq }) => deliveredSeq < seq);
    return { webhooks, mayNeedMore: active.length > 0 };
  }

  async claimDue({ search, after, limit, now }: DueWebhookQuery): Promise<Webhook[]> {
    const due: Webhook[] = [];
    for (const { scope, taskId, id } of this.#due.valuesAfter(after)) {
      if (due.length >= limit) break;
      const webhook = this.#findTaskWebhooks(scope, taskId)?.get(id);
      if (!webhook || !this.#isDue(webhook.key, now)) continue;
      if (search === "all" || this.#dueTimes.has(webhook.key)) due.push(webhook);
    }
    return due;
  }

  #isDue(key: number, now: number): boolean {
    return (this.#dueTimes.get(key) ?? 0) <= now;
  }

  async findRetries(now: number): Promise<WebhookRetries> {
    let count = 0;
    let nextAt = Infinity;
    for (const dueAt of this.#dueTimes.values()) {
      if (dueAt <= now) continue;
      count++;
      nextAt = Math.min(nextAt, dueAt);
    }
    return { count, ...(count > 0 ? { nextAt } : {}) };
  }

  async saveProgress(progress: readonly WebhookProgress[]): Promise<void> {
    for (const {
      key,
      deliveredSeq,
      isFinished,
      failingSince,
      failedAttempts,
      dueAt,
      deadLetter,
    } of progress) {
      const location = this.#undelivered.get(key);
      const siblings = location && this.#findTaskWebhooks(location.scope, location.taskId);
      const known = siblings?.get(location?.id ?? "");
      if (!siblings || !known) continue;
      const { scope, taskId, config, version } = known;
      const webhook = {
        key,
        scope,
        taskId,
        config,
        version,
        deliveredSeq: Math.max(known.deliveredSeq, deliveredSeq),
        ...(failingSince === undefined ? {} : { failingSince }),
        ...(failedAttempts ? { failedAttempts } : {}),
        ...(deadLetter ? { deadLetter } : {}),
      };
      siblings.set(config.id, webhook);
      if (dueAt === undefined) this.#dueTimes.delete(key);
      else this.#dueTimes.set(key, dueAt);
      if (isFinished || deadLetter) this.#removeUndelivered(key);
      else this.#updateDue(webhook, this.#findTaskState(scope, taskId)?.seq ?? 0);
    }
  }

  async countUndelivered(scope: TaskScope, limit: number): Promise<number> {
    return Math.min(limit, this.#undeliveredByScope.get(getScopeKey(scope)) ?? 0);
  }

  async listDeadWebhooks(limit: number): Promise<Webhook[]> {
    const all = [...this.#byTask.values()].flatMap((siblings) => [...siblings.values()]);
    return all
      .filter(({ deadLetter }) => deadLetter)
      .toSorted((a, b) => b.key - a.key)
      .slice(0, limit);
  }

  /** Returns true if a webhook of the task has not received all events yet. */
  hasPendingWebhooks(scope: TaskScope, taskId: string): boolean {
    if (this.#undelivered.size === 0) return false;
    return [...(this.#findTaskWebhooks(scope, taskId)?.values() ?? [])].some(({ key }) =>
      this.#undelivered.has(key),
    );
  }

  /** Removes the webhooks of a task that the task store has evicted. */
  removeTask(scope: TaskScope, taskId: string): void {
    if (this.#byTask.size === 0) return;
    for (const { key } of this.#findTaskWebhooks(scope, taskId)?.values() ?? []) this.#removeUndelivered(key);
    this.#byTask.delete(getTaskKey(scope, taskId));
  }

  #findTaskWebhooks(scope: TaskScope, taskId: string): Map<string, Webhook> | undefined {
    return this.#byTask.get(getTaskKey(scope, taskId));
  }
}

function getTaskKey(scope: TaskScope, taskId: string): string {
  return `${taskId.length}:${taskId}${getScopeKey(scope)}`;
}
