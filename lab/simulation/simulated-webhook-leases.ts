import type {
  PushStore,
  TaskScope,
  Webhook,
  WebhookLeases,
  WebhookProgress,
} from "../../src/engine/index.ts";
import { isTerminal } from "../../src/protocol/index.ts";
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
    const leases: WebhookLeases = {
      pollIntervalMs: POLL_INTERVAL_MS,
      claim: async (scope, taskId) => {
        const owing: Webhook[] = [];
        for (const webhook of (await pushStore.list(scope, taskId)) ?? [])
          if (await this.#isOwing(webhook)) owing.push(webhook);
        for (const webhook of owing)
          if (this.#isClaimable(node(), webhook)) this.#setHolder(webhook.key, node());
        const held = owing.filter(({ key }) => this.#holders.get(key) === node());
        return { held, hasOthers: held.length < owing.length };
      },
      claimDue: async (after, limit, search) => {
        const due = await pushStore.listDueWebhooks(after, Number.MAX_SAFE_INTEGER);
        const claimable = due.filter(
          (webhook) =>
            this.#isClaimable(node(), webhook) && (search === "all" || this.#isLeft(node(), webhook)),
        );
        const claimed = claimable.slice(0, limit);
        for (const { key } of claimed) this.#setHolder(key, node());
        return claimed;
      },
      isHeld: async (key) => this.#holders.get(key) === node(),
      release: async (keys) => {
        for (const key of keys) if (this.#holders.get(key) === node()) this.#setHolder(key, undefined);
      },
    };
    return {
      ...bindMethods(pushStore),
      leases,
      put: async (scope, taskId, registration) => {
        const webhook = await pushStore.put(scope, taskId, registration);
        if (webhook && this.#holders.get(webhook.key) !== node()) this.#setHolder(webhook.key, undefined);
        return webhook;
      },
      saveProgress: (progress) =>
        pushStore.saveProgress(progress.filter((one) => this.#acceptsProgress(node(), one))),
    };
  }

  #acceptsProgress(node: string, { key }: WebhookProgress): boolean {
    const holder = this.#holders.get(key);
    return holder === undefined || holder === node;
  }

  async #isOwing({ scope, taskId, deliveredSeq, deadLetter }: Webhook): Promise<boolean> {
    const stored = await this.#tables.tasks.load(scope, taskId);
    if (!stored || deadLetter) return false;
    return !isTerminal(stored.task.status.state) || deliveredSeq < stored.seq;
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
function bindMethods(store: PushStore): Omit<PushStore, "leases" | "put" | "saveProgress"> {
  return {
    get: (...args) => store.get(...args),
    list: (...args) => store.list(...args),
    remove: (...args) => store.remove(...args),
    listDueWebhooks: (...args) => store.listDueWebhooks(...args),
    listDeadWebhooks: (...args) => store.listDeadWebhooks(...args),
    ...(store.countUndelivered
      ? { countUndelivered: (scope, limit) => store.countUndelivered?.(scope, limit) ?? Promise.resolve(0) }
      : {}),
  };
}
