import type { TaskScope, WebhookRegistration } from "../engine/index.ts";
import type {
  ClaimedWebhooks,
  DueWebhookQuery,
  PushStore,
  Webhook,
  WebhookProgress,
  WebhookRetries,
} from "../webhooks/index.ts";
import { isTerminal } from "../protocol/index.ts";
import type { MemoryScopeData, MemoryTaskLog, MemoryWebhook } from "./memory-task-log.ts";

/** Stores webhooks in the logs of their tasks. */
export class MemoryPushStore implements PushStore {
  readonly #findScope: (scope: TaskScope) => MemoryScopeData | undefined;
  /** Webhooks that have undelivered events or whose tasks have not ended, by their keys. */
  readonly #owing = new Map<number, MemoryWebhook>();
  /** Webhooks whose delivery has stopped permanently, by their keys. */
  readonly #dead = new Map<number, MemoryWebhook>();
  #lastKey = 0;

  constructor(findScope: (scope: TaskScope) => MemoryScopeData | undefined) {
    this.#findScope = findScope;
  }

  async put(
    scope: TaskScope,
    taskId: string,
    registration: WebhookRegistration,
  ): Promise<Webhook | undefined> {
    const log = this.#findLog(scope, taskId);
    return log && this.register(log, log.seq, registration);
  }

  /** Registers a webhook for the events after the sequence number `after`. */
  register(log: MemoryTaskLog, after: number, { config, version }: WebhookRegistration): Webhook {
    const known = log.webhooks?.get(config.id)?.webhook;
    const key = known?.key ?? ++this.#lastKey;
    const deliveredSeq = known?.deliveredSeq ?? after;
    const { scopeData, taskId } = log;
    const webhook = { key, scope: scopeData.scope, taskId, config, version, deliveredSeq };
    const entry = { webhook, log, dueAt: 0 };
    log.webhooks = (log.webhooks ?? new Map<string, MemoryWebhook>()).set(config.id, entry);
    this.#setOwing(entry, log.seq > deliveredSeq || !isTerminal(log.state));
    return webhook;
  }

  #setOwing(entry: MemoryWebhook, isOwing: boolean): void {
    const { key } = entry.webhook;
    if (isOwing !== this.#owing.has(key)) entry.log.scopeData.owingWebhooks += isOwing ? 1 : -1;
    if (isOwing) this.#owing.set(key, entry);
    else this.#owing.delete(key);
    this.#dead.delete(key);
  }

  async get(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined> {
    return this.#findLog(scope, taskId)?.webhooks?.get(id)?.webhook;
  }

  async list(scope: TaskScope, taskId: string): Promise<Webhook[] | undefined> {
    const log = this.#findLog(scope, taskId);
    return log && listEntries(log).map(({ webhook }) => webhook);
  }

  async remove(scope: TaskScope, taskId: string, id: string): Promise<boolean> {
    const log = this.#findLog(scope, taskId);
    const entry = log?.webhooks?.get(id);
    if (entry) this.#setOwing(entry, false);
    log?.webhooks?.delete(id);
    return log !== undefined;
  }

  async claim(scope: TaskScope, taskId: string, now: number): Promise<ClaimedWebhooks> {
    const log = this.#findLog(scope, taskId);
    const active = (log ? listEntries(log) : []).filter(
      ({ webhook, dueAt }) => this.#owing.has(webhook.key) && dueAt <= now,
    );
    const webhooks = active.filter(hasUndeliveredEvents).map(({ webhook }) => webhook);
    return { webhooks, mayNeedMore: active.length > 0 };
  }

  async claimDue({ search, after, limit, now }: DueWebhookQuery): Promise<Webhook[]> {
    return [...this.#owing.values()]
      .filter(
        (entry) =>
          entry.webhook.key > after &&
          entry.dueAt <= now &&
          (search === "all" || entry.dueAt > 0) &&
          hasUndeliveredEvents(entry),
      )
      .map(({ webhook }) => webhook)
      .toSorted((a, b) => a.key - b.key)
      .slice(0, limit);
  }

  async findRetries(now: number): Promise<WebhookRetries> {
    const times = [...this.#owing.values()].map(({ dueAt }) => dueAt).filter((dueAt) => dueAt > now);
    const nextAt = times.reduce((a, b) => Math.min(a, b), Infinity);
    return { count: times.length, ...(times.length > 0 ? { nextAt } : {}) };
  }

  async saveProgress(progress: readonly WebhookProgress[]): Promise<void> {
    for (const { key, isFinished, dueAt = 0, deadLetter, ...one } of progress) {
      const entry = this.#owing.get(key);
      if (!entry) continue;
      const { scope, taskId, config, version, deliveredSeq } = entry.webhook;
      entry.webhook = {
        key,
        scope,
        taskId,
        config,
        version,
        deliveredSeq: Math.max(deliveredSeq, one.deliveredSeq),
        ...(one.failingSince === undefined ? {} : { failingSince: one.failingSince }),
        ...(one.failedAttempts ? { failedAttempts: one.failedAttempts } : {}),
        ...(deadLetter ? { deadLetter } : {}),
      };
      entry.dueAt = dueAt;
      if (isFinished || deadLetter) this.#setOwing(entry, false);
      if (deadLetter) this.#dead.set(key, entry);
    }
  }

  async countUndelivered(scope: TaskScope, limit: number): Promise<number> {
    return Math.min(limit, this.#findScope(scope)?.owingWebhooks ?? 0);
  }

  async listDeadWebhooks(limit: number): Promise<Webhook[]> {
    const dead = [...this.#dead.values()].map(({ webhook }) => webhook);
    return dead.toSorted((a, b) => b.key - a.key).slice(0, limit);
  }

  /** Returns true if a webhook of the task has not received all events yet. */
  hasPendingWebhooks(log: MemoryTaskLog): boolean {
    return listEntries(log).some(({ webhook }) => this.#owing.has(webhook.key));
  }

  /** Removes the webhooks of a task that the task store deletes. */
  removeTask(log: MemoryTaskLog): void {
    for (const entry of listEntries(log)) this.#setOwing(entry, false);
  }

  #findLog(scope: TaskScope, taskId: string): MemoryTaskLog | undefined {
    return this.#findScope(scope)?.logs.get(taskId);
  }
}

function listEntries({ webhooks }: MemoryTaskLog): MemoryWebhook[] {
  return webhooks ? [...webhooks.values()] : [];
}

function hasUndeliveredEvents({ webhook, log }: MemoryWebhook): boolean {
  return webhook.deliveredSeq < log.seq;
}
