import { getTaskKey, type TaskScope } from "../caller.ts";
import type { Clock } from "../clock.ts";
import type { DeliveryProgressRecorder, SavedProgress } from "./delivery-progress-recorder.ts";
import type { ClaimedWebhooks, Webhook } from "./push-store.ts";
import type { RunningOperationCounter } from "./running-operation-counter.ts";
import { WebhookClaimRepeater } from "./webhook-claim-repeater.ts";
import type { WebhookSource } from "./webhook-source.ts";

/** A task that reports its commits to the outbox because it may have webhooks. */
export interface TaskWithPossibleWebhooks {
  readonly scope: TaskScope;
  readonly taskId: string;
  /**
   * False if the task has no webhook. If `mayHaveWebhooks` is false, commits of the task do not notify the
   * outbox.
   */
  mayHaveWebhooks: boolean;
}

const STORE_RETRY_MS = 1000;

interface WebhookLookupState {
  mustRepeat: boolean;
  task: TaskWithPossibleWebhooks | undefined;
  /** Ids of the webhooks that the latest commit registered or replaced. */
  readonly registeredIds: Set<string>;
  /** True if the lookup repeats an earlier lookup that found webhooks of another node. */
  readonly isRepetition: boolean;
}

interface WebhookLookupsDependencies {
  readonly source: WebhookSource;
  readonly clock: Clock;
  readonly progressRecorder: DeliveryProgressRecorder;
  readonly waitGroup: RunningOperationCounter;
  /** Resolves when all requested releases of leases have ended. */
  readonly awaitReleases: () => Promise<void>;
  /** Called with the webhooks of a task that need deliveries. */
  readonly onResult: (scope: TaskScope, taskId: string, undelivered: Webhook[]) => void;
  /** Called after a lookup that has succeeded. */
  readonly onEnd: () => void;
  readonly onError: (error: unknown, taskId?: string) => void;
}

/**
 * Looks up the webhooks of tasks in the store, one lookup at a time for each task. A failed lookup is repeated. A lookup
 * that finds webhooks of another node is repeated once, because that node can leave them.
 */
export class WebhookLookups {
  readonly #context: WebhookLookupsDependencies;
  readonly #running = new Map<string, WebhookLookupState>();
  readonly #claimRepeater: WebhookClaimRepeater;
  #isStopped = false;

  constructor(context: WebhookLookupsDependencies) {
    this.#context = context;
    const { clock, source } = context;
    this.#claimRepeater = new WebhookClaimRepeater(clock, source.leases?.pollIntervalMs ?? 0);
  }

  /** Number of running lookups. */
  get size(): number {
    return this.#running.size;
  }

  /** Returns true if the task has a scheduled repetition, which then waits longer. */
  postponeRepetition(taskKey: string): boolean {
    return this.#claimRepeater.postponeClaim(taskKey);
  }

  /** Repeats no more lookups. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Looks up a task's webhooks. If a lookup for the same task is already in progress, another lookup follows. */
  start(
    scope: TaskScope,
    taskId: string,
    task: TaskWithPossibleWebhooks | undefined,
    registered: Iterable<string> = [],
    isRepetition = false,
  ): void {
    const key = getTaskKey(scope, taskId);
    const running = this.#running.get(key);
    if (running) {
      running.mustRepeat = true;
      running.task ??= task;
      for (const id of registered) running.registeredIds.add(id);
      return;
    }
    const lookup: WebhookLookupState = {
      mustRepeat: false,
      task,
      registeredIds: new Set(registered),
      isRepetition,
    };
    this.#running.set(key, lookup);
    const { waitGroup } = this.#context;
    waitGroup.increment();
    void this.#run(scope, taskId, key, lookup).finally(() => waitGroup.decrement());
  }

  async #run(scope: TaskScope, taskId: string, key: string, lookup: WebhookLookupState): Promise<void> {
    const { source, progressRecorder, awaitReleases, onResult, onEnd, onError } = this.#context;
    try {
      if (source.leases) await awaitReleases();
      let found: ClaimedWebhooks;
      let savedAtStart: SavedProgress;
      do {
        lookup.mustRepeat = false;
        savedAtStart = progressRecorder.lastSaved;
        found = await source.claim(scope, taskId);
      } while (lookup.mustRepeat);
      this.#running.delete(key);
      const { held: webhooks, hasOthers } = found;
      for (const webhook of webhooks)
        if (lookup.registeredIds.has(webhook.config.id))
          progressRecorder.clearReregisteredWebhookFailure(webhook.key);
      const undelivered = webhooks.flatMap((webhook) => {
        const newer = progressRecorder.findNewerThanRead(webhook.key, savedAtStart);
        if (webhook.deadLetter || newer?.isFinished || newer?.deadLetter) return [];
        const deliveredSeq = Math.max(webhook.deliveredSeq, newer?.deliveredSeq ?? 0);
        return [{ ...webhook, deliveredSeq }];
      });
      // A dead webhook needs deliveries again only after a new registration, which is reported.
      if (undelivered.length === 0 && !hasOthers && lookup.task) lookup.task.mayHaveWebhooks = false;
      onResult(scope, taskId, undelivered);
      if (hasOthers && !lookup.isRepetition && !this.#isStopped)
        this.#claimRepeater.schedule(key, () => {
          if (!this.#isStopped) this.start(scope, taskId, lookup.task, [], true);
        });
      onEnd();
    } catch (error) {
      this.#running.delete(key);
      onError(error, taskId);
      if (!this.#isStopped) this.#retryLater(scope, taskId, lookup);
    }
  }

  #retryLater(scope: TaskScope, taskId: string, { task, registeredIds }: WebhookLookupState): void {
    this.#context.clock.schedule(STORE_RETRY_MS, () => this.start(scope, taskId, task, registeredIds));
  }
}
