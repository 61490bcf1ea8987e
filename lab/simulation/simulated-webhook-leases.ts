import type { TaskScope } from "../../src/engine/index.ts";
import type { PushStore, Webhook, WebhookProgress } from "../../src/webhooks/index.ts";
import type { MemoryStore } from "../../src/stores/index.ts";

/** Interval in milliseconds at which a node looks for webhooks that other nodes have left, as in PostgreSQL. */
const POLL_INTERVAL_MS = 1000;

/** The rows of other tables that the statements of webhooks read. */
interface WebhookTables {
  readonly tasks: MemoryStore;
  readonly isAlive: (node: string | undefined) => boolean;
  /** Returns the node of the running turn of a task. */
  readonly findTurnHolder: (
    scope: TaskScope,
    taskId: string,
  ) => { readonly node: string | undefined } | undefined;
}

/** The column `lease_node` of the table `push`, with the statements of `PostgresPushStore`. */
export class SimulatedWebhookLeases {
  readonly #holders = new Map<number, string>();
  readonly #tables: WebhookTables;

  constructor(tables: WebhookTables) {
    this.#tables = tables;
  }

  /** Gives the lease of webhooks that an append has registered to its node, or to no node. */
  async recordRegistration(
    node: string | undefined,
    { scope, taskId }: Pick<Webhook, "scope" | "taskId">,
    ids: readonly string[],
  ): Promise<void> {
    for (const { key, config } of (await this.#tables.tasks.pushStore.list(scope, taskId)) ?? [])
      if (ids.includes(config.id)) this.#setHolder(key, node);
  }

  /** Returns the push store of a node. */
  createPushStore(node: () => string): PushStore {
    const { pushStore } = this.#tables.tasks;
    return {
      ...bindMethods(pushStore),
      pollIntervalMs: POLL_INTERVAL_MS,
      claim: async (scope, taskId, now) => {
        const { webhooks, mayNeedMore } = await pushStore.claim(scope, taskId, now);
        return { webhooks: this.#claimAll(node(), webhooks), mayNeedMore };
      },
      claimDue: async ({ search, after, limit, now }) => {
        const all = { search: "all", after, limit: Number.MAX_SAFE_INTEGER, now } as const;
        const retries = await pushStore.claimDue({ ...all, search: "due" });
        const isRetry = (webhook: Webhook): boolean => retries.some(({ key }) => key === webhook.key);
        const due = (await pushStore.claimDue(all)).filter(
          (webhook) =>
            this.#isClaimable(node(), webhook) &&
            (search === "all" || isRetry(webhook) || this.#isLeft(node(), webhook)),
        );
        return this.#claimAll(node(), due.slice(0, limit));
      },
      isHeld: async (key) => this.#holders.get(key) === node(),
      put: async (scope, taskId, registration) => {
        const webhook = await pushStore.put(scope, taskId, registration);
        if (webhook && this.#holders.get(webhook.key) !== node()) this.#setHolder(webhook.key, undefined);
        return webhook;
      },
      saveProgress: async (progress) => {
        const accepted = progress.filter((one) => this.#acceptsProgress(node(), one));
        await pushStore.saveProgress(accepted);
        for (const { key, isReleased } of accepted) if (isReleased === true) this.#setHolder(key, undefined);
      },
    };
  }

  #acceptsProgress(node: string, { key }: WebhookProgress): boolean {
    const holder = this.#holders.get(key);
    return holder === undefined || holder === node;
  }

  /** Gives the claimable webhooks to the node, and returns them. */
  #claimAll(node: string, webhooks: readonly Webhook[]): Webhook[] {
    const claimable = webhooks.filter((webhook) => this.#isClaimable(node, webhook));
    for (const { key } of claimable) this.#setHolder(key, node);
    return claimable;
  }

  #isClaimable(node: string, { key, scope, taskId }: Webhook): boolean {
    const { isAlive, findTurnHolder } = this.#tables;
    const turn = findTurnHolder(scope, taskId);
    if (turn && turn.node !== node) return false;
    const holder = this.#holders.get(key);
    return holder === undefined || holder === node || !isAlive(holder);
  }

  /** Returns true for a webhook of another node, and for an unclaimed webhook of a turn of this node. */
  #isLeft(node: string, { key, scope, taskId }: Webhook): boolean {
    const holder = this.#holders.get(key);
    if (holder !== undefined) return holder !== node;
    return this.#tables.findTurnHolder(scope, taskId)?.node === node;
  }

  #setHolder(key: number, node: string | undefined): void {
    if (node === undefined) this.#holders.delete(key);
    else this.#holders.set(key, node);
  }
}

/** Returns the methods of a push store without leases, bound to the store. */
function bindMethods(
  store: PushStore,
): Omit<PushStore, "claim" | "claimDue" | "isHeld" | "pollIntervalMs" | "put" | "saveProgress"> {
  return {
    get: (...args) => store.get(...args),
    list: (...args) => store.list(...args),
    remove: (...args) => store.remove(...args),
    findRetries: (...args) => store.findRetries(...args),
    listDeadWebhooks: (...args) => store.listDeadWebhooks(...args),
    ...(store.countUndelivered
      ? { countUndelivered: (scope, limit) => store.countUndelivered?.(scope, limit) ?? Promise.resolve(0) }
      : {}),
  };
}
