import type { PushStore, WebhookLeases } from "./push-store.ts";

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
