import type { TaskPushNotificationConfig } from "../../protocol/index.ts";
import type { TaskScope } from "../caller.ts";

/**
 * A URL that receives updates of a task, and the A2A version of these notifications.
 */
export interface WebhookRegistration {
  readonly config: TaskPushNotificationConfig & { readonly id: string };
  /**
   * A2A version of the request that registered the webhook. Notifications to the webhook use the same
   * version.
   */
  readonly version: string;
}

/** A registered webhook with its delivery progress. */
export interface Webhook extends WebhookRegistration {
  /**
   * Webhook key, which the store assigns. The keys of webhooks increase with each registration and are
   * never reused.
   */
  readonly key: number;
  readonly scope: TaskScope;
  readonly taskId: string;
  /**
   * Sequence number of the last event that was delivered to the webhook, or of the last event before its
   * registration.
   */
  readonly deliveredSeq: number;
  /** Time of the first failure in the current series of failed deliveries, in milliseconds since 1970. */
  readonly failingSince?: number;
  /**
   * Description of the problem, if the store cannot decrypt the token and the credentials. `config` then contains
   * neither, and the server sends no notifications.
   */
  readonly secretsError?: string;
  /** Details of the failure, if delivery to the webhook has stopped permanently. */
  readonly deadLetter?: PermanentDeliveryFailure;
}

interface PermanentDeliveryFailure {
  /** Time when delivery to the webhook stopped, in milliseconds since 1970. */
  readonly at: number;
  readonly reason: string;
}

/** Delivery progress of a webhook. */
export interface WebhookProgress extends Pick<
  Webhook,
  "key" | "deliveredSeq" | "failingSince" | "deadLetter"
> {
  /** True if the task has ended and the webhook has received every event. */
  readonly isFinished: boolean;
}

/**
 * Storage for webhooks. The webhooks of a task exist as long as the task. The log of a task serves as the
 * outbox, so the store saves only each webhook's position in the log. The guarantees of `TaskStore` also
 * apply to `PushStore`.
 */
export interface PushStore {
  /**
   * Registers a webhook for future events of a task. If the task already has a webhook with the same id, the
   * new webhook replaces the old webhook and keeps the old position in the log. A dead webhook becomes active
   * again. `put` resolves with `undefined` if the task does not exist.
   */
  put(scope: TaskScope, taskId: string, registration: WebhookRegistration): Promise<Webhook | undefined>;
  get(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined>;
  /**
   * Resolves with the webhooks of a task in the order of registration, or with `undefined` if the task does
   * not exist.
   */
  list(scope: TaskScope, taskId: string): Promise<Webhook[] | undefined>;
  /**
   * Removes a webhook. Resolves with false if the task does not exist. If the task exists, `remove`
   * resolves with true, even if the webhook does not exist.
   */
  remove(scope: TaskScope, taskId: string, id: string): Promise<boolean>;
  /**
   * Resolves with the webhooks that have undelivered events, in all scopes, in ascending order of their keys.
   * The result contains only webhooks with a key greater than `after`.
   */
  listDueWebhooks(after: number, limit: number): Promise<Webhook[]>;
  /**
   * Saves the progress of several webhooks in one transaction. The progress of a webhook never decreases,
   * and the progress of removed webhooks is ignored.
   */
  saveProgress(progress: readonly WebhookProgress[]): Promise<void>;
  /**
   * Resolves with the number of webhooks of the scope that may need deliveries, up to `limit`. Without this method, the
   * number of webhooks per caller is not limited.
   */
  countUndelivered?(scope: TaskScope, limit: number): Promise<number>;
  /**
   * Throws `UNSUPPORTED_OPERATION` if the store has no key that encrypts the token and the credentials of a webhook.
   * Stores without this method always have a key, or store no webhooks on a disk.
   */
  assertCanStoreSecrets?(): void;
  /** Resolves with the dead webhooks of all scopes, starting with the newest registration. */
  listDeadWebhooks(limit: number): Promise<Webhook[]>;
  /**
   * Leases of this node on webhooks. `leases` is `undefined` if only one process can open the store, which then delivers
   * to all webhooks.
   */
  readonly leases?: WebhookLeases;
}

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
