import type { TaskScope } from "../caller.ts";
import type { PushStore, Webhook } from "./push-store.ts";

/** The webhooks of one task, divided by the node that delivers their events. */
export interface ClaimedWebhooks {
  /** Webhooks of which this node holds the lease, in the order of registration. */
  readonly held: readonly Webhook[];
  /** True if another living node delivers to at least one webhook that may need deliveries. */
  readonly hasOthers: boolean;
}

/**
 * The leases of one node on webhooks. Only the holder of a webhook's lease delivers to the webhook, so that its
 * receiver gets the events in order. The leases end with the leases of the node on tasks. While a turn runs, only the
 * node of the turn can claim the webhooks of its task, because commits notify the outbox of the same node.
 */
export interface WebhookLeases {
  /** Interval in milliseconds at which a node claims the webhooks that other nodes have left. */
  readonly pollIntervalMs: number;
  /** Claims the webhooks of a task. Webhooks that the node holds already are part of the result. */
  claim(scope: TaskScope, taskId: string): Promise<ClaimedWebhooks>;
  /**
   * Claims webhooks with undelivered events that no living node holds. The webhooks have a key greater than `after`,
   * and are in ascending order of their keys. With `search: "left"`, the store finds only the webhooks of nodes that
   * have stopped, and of tasks whose turn runs on this node. This search is fast, even if many webhooks exist. With
   * `search: "all"`, the store examines each webhook whose task has not ended.
   */
  claimDue(after: number, limit: number, search: "left" | "all"): Promise<Webhook[]>;
  /** Resolves with true if this node still holds the lease, and the webhook still has the same registration. */
  isHeld(key: number): Promise<boolean>;
  /** Releases leases, so that every node can claim the webhooks. Leases of other nodes do not change. */
  release(keys: readonly number[]): Promise<void>;
}

/** Function through which the outbox claims webhooks, with and without leases. */
export interface WebhookSource extends Pick<WebhookLeases, "claim" | "claimDue"> {
  /** `undefined` if only one process can open the store. The process delivers to all webhooks. */
  readonly leases: WebhookLeases | undefined;
}

export function createWebhookSource(store: PushStore): WebhookSource {
  const { leases } = store;
  return {
    leases,
    claim: async (scope, taskId) =>
      leases
        ? await leases.claim(scope, taskId)
        : { held: (await store.list(scope, taskId)) ?? [], hasOthers: false },
    claimDue: (after, limit, search) =>
      leases ? leases.claimDue(after, limit, search) : store.listDueWebhooks(after, limit),
  };
}
