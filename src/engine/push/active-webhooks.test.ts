import { expect, it } from "vitest";
import { FakeClock, flushEventLoopForTest } from "../engine.fixture.ts";
import { ActiveWebhooks } from "./active-webhooks.ts";
import { DeliveryProgressRecorder } from "./delivery-progress-recorder.ts";
import type { PushStore, Webhook } from "./push-store.ts";
import { RunningOperationCounter } from "./running-operation-counter.ts";
import type { ClaimedWebhooks } from "./push-store.ts";

const scope = { tenant: "", principal: "", agent: "a" };
const task = { scope, taskId: "t", mayHaveWebhooks: true };

function createWebhook(key: number): Webhook {
  const config = { id: `w${key}`, taskId: "t", url: "https://example.com" };
  return { key, scope, taskId: "t", config, version: "1.0", deliveredSeq: 0 };
}

/** A node whose claims end with the results that the test gives, in the order of the claims. */
function createNode(due: readonly Webhook[]): {
  webhooks: ActiveWebhooks;
  readyKeys: number[];
  endClaim: (claimed: ClaimedWebhooks) => Promise<void>;
} {
  const claims: ((claimed: ClaimedWebhooks) => void)[] = [];
  const readyKeys: number[] = [];
  const store: Partial<PushStore> = {
    saveProgress: () => Promise.resolve(),
    leases: {
      pollIntervalMs: 1000,
      claim: () => new Promise((resolve) => claims.push(resolve)),
      claimDue: () => Promise.resolve([...due]),
      isHeld: () => Promise.resolve(true),
      release: () => Promise.resolve(),
    },
  };
  const clock = new FakeClock();
  const onError = (error: unknown): never => expect.unreachable(String(error));
  const webhooks = new ActiveWebhooks({
    store: store as PushStore,
    clock,
    progressRecorder: new DeliveryProgressRecorder(store as PushStore, clock, () => {}, onError),
    waitGroup: new RunningOperationCounter(),
    maxTasks: 10,
    onReady: ({ webhook }) => void readyKeys.push(webhook.key),
    onFound: () => {},
    onError,
  });
  const endClaim = async (claimed: ClaimedWebhooks): Promise<void> => {
    await flushEventLoopForTest();
    expect(claims).toHaveLength(1);
    claims.shift()?.(claimed);
    await flushEventLoopForTest();
  };
  return { webhooks, readyKeys, endClaim };
}

it("a webhook that the search claims during a lookup of its task gets its events [E12, E21]", async () => {
  const left = createWebhook(1);
  const { webhooks, readyKeys, endClaim } = createNode([left]);
  webhooks.notifyCommit(task);
  await flushEventLoopForTest();
  // The search claims the webhook that the lookup waits for, so that the lookup finds it in the hands of another claim.
  await webhooks.loadDueWebhooks();
  await endClaim({ held: [], hasOthers: false });
  await endClaim({ held: [left], hasOthers: false });
  expect(readyKeys).toEqual([1]);
});

it("a due webhook of a task with another active webhook gets its events [E12, E21]", async () => {
  const [active, left] = [createWebhook(1), createWebhook(2)];
  const { webhooks, readyKeys, endClaim } = createNode([left]);
  webhooks.notifyCommit(task);
  await endClaim({ held: [active], hasOthers: true });
  await webhooks.loadDueWebhooks();
  await endClaim({ held: [active, left], hasOthers: false });
  expect(readyKeys).toContain(2);
});

it("a due webhook that is already in memory needs no further lookup", async () => {
  const active = createWebhook(1);
  const { webhooks, endClaim } = createNode([active]);
  webhooks.notifyCommit(task);
  await endClaim({ held: [active], hasOthers: false });
  await webhooks.loadDueWebhooks();
  await expect(endClaim({ held: [], hasOthers: false })).rejects.toThrow("length");
});
