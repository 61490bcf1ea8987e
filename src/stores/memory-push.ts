import type { PushStore, Scope, Webhook, WebhookProgress, WebhookRegistration } from "../engine/index.ts";
import { isTerminal, type TaskState } from "../protocol/index.ts";
import { scopeKey } from "./scope-key.ts";

/** What is asked about a task that has a webhook, or is to get one. */
type Look = (scope: Scope, taskId: string) => { readonly seq: number; readonly state: TaskState } | undefined;

/** Webhooks in the memory of this process. */
export class MemoryPush implements PushStore {
  readonly #look: Look;
  readonly #byTask = new Map<string, Map<string, Webhook>>();
  /** Those that are owed something, or will be, as long as their tasks go on. */
  readonly #owing = new Map<number, { scope: Scope; taskId: string; id: string }>();
  #lastKey = 0;

  constructor(look: Look) {
    this.#look = look;
  }

  async put(scope: Scope, taskId: string, registration: WebhookRegistration): Promise<Webhook | undefined> {
    const task = this.#look(scope, taskId);
    return task && this.register(scope, taskId, task.seq, registration);
  }

  /** Registers a webhook for what comes behind `after`. */
  register(scope: Scope, taskId: string, after: number, { config, version }: WebhookRegistration): Webhook {
    const known = this.#of(scope, taskId)?.get(config.id);
    const key = known?.key ?? ++this.#lastKey;
    const delivered = known?.delivered ?? after;
    const webhook = { key, scope, taskId, config, version, delivered };
    const siblings = this.#of(scope, taskId) ?? new Map<string, Webhook>();
    this.#byTask.set(nameOf(scope, taskId), siblings.set(config.id, webhook));
    const task = this.#look(scope, taskId);
    if (task && (task.seq > delivered || !isTerminal(task.state)))
      this.#owing.set(key, { scope, taskId, id: config.id });
    return webhook;
  }

  async get(scope: Scope, taskId: string, id: string): Promise<Webhook | undefined> {
    return this.#of(scope, taskId)?.get(id);
  }

  async list(scope: Scope, taskId: string): Promise<Webhook[] | undefined> {
    if (!this.#look(scope, taskId)) return undefined;
    return [...(this.#of(scope, taskId)?.values() ?? [])];
  }

  async remove(scope: Scope, taskId: string, id: string): Promise<boolean> {
    const siblings = this.#of(scope, taskId);
    const webhook = siblings?.get(id);
    if (siblings && webhook) {
      this.#owing.delete(webhook.key);
      siblings.delete(id);
      if (siblings.size === 0) this.#byTask.delete(nameOf(scope, taskId));
    }
    return this.#look(scope, taskId) !== undefined;
  }

  async due(after: number, limit: number): Promise<Webhook[]> {
    const due: Webhook[] = [];
    for (const [key, { scope, taskId, id }] of this.#owing) {
      const webhook = key > after ? this.#of(scope, taskId)?.get(id) : undefined;
      if (webhook && webhook.delivered < (this.#look(scope, taskId)?.seq ?? 0)) due.push(webhook);
    }
    return due.toSorted((a, b) => a.key - b.key).slice(0, limit);
  }

  async advance(progress: readonly WebhookProgress[]): Promise<void> {
    for (const { key, delivered, finished, failingSince, dead } of progress) {
      const place = this.#owing.get(key);
      const siblings = place && this.#of(place.scope, place.taskId);
      const known = siblings?.get(place?.id ?? "");
      if (!siblings || !known) continue;
      const { scope, taskId, config, version } = known;
      siblings.set(config.id, {
        key,
        scope,
        taskId,
        config,
        version,
        delivered: Math.max(known.delivered, delivered),
        ...(failingSince === undefined ? {} : { failingSince }),
        ...(dead ? { dead } : {}),
      });
      if (finished || dead) this.#owing.delete(key);
    }
  }

  async dead(limit: number): Promise<Webhook[]> {
    const all = [...this.#byTask.values()].flatMap((siblings) => [...siblings.values()]);
    return all
      .filter(({ dead }) => dead)
      .toSorted((a, b) => b.key - a.key)
      .slice(0, limit);
  }

  /** The task is gone. */
  forget(scope: Scope, taskId: string): void {
    if (this.#byTask.size === 0) return;
    for (const { key } of this.#of(scope, taskId)?.values() ?? []) this.#owing.delete(key);
    this.#byTask.delete(nameOf(scope, taskId));
  }

  #of(scope: Scope, taskId: string): Map<string, Webhook> | undefined {
    return this.#byTask.get(nameOf(scope, taskId));
  }
}

function nameOf(scope: Scope, taskId: string): string {
  return `${taskId.length}:${taskId}${scopeKey(scope)}`;
}
