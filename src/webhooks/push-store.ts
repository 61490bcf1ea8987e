import type { TaskScope, WebhookRegistration } from "../engine/index.ts";

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
  /** Number of attempts since the last successful delivery, if the last attempt has failed. */
  readonly failedAttempts?: number;
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
  "key" | "deliveredSeq" | "failingSince" | "failedAttempts" | "deadLetter"
> {
  /** True if the task has ended and the webhook has received every event. */
  readonly isFinished: boolean;
  /** Time of the next attempt in milliseconds since 1970. By default, the webhook may be claimed at once. */
  readonly dueAt?: number;
  /** True if the claim of this node ends. */
  readonly isReleased?: boolean;
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
   * Claims the webhooks of a task that have undelivered events, whose time of the next attempt is at most `now`, and that
   * no other living node holds. The result contains the webhooks that this node holds already.
   */
  claim(scope: TaskScope, taskId: string, now: number): Promise<ClaimedWebhooks>;
  /** Claims such webhooks of all tasks. */
  claimDue(query: DueWebhookQuery): Promise<Webhook[]>;
  /** Counts the webhooks whose next attempt is after `now`, up to 10,000, and finds the time of the first. */
  findRetries(now: number): Promise<WebhookRetries>;
  /**
   * Resolves with true if this node still holds the webhook, and the webhook still has the same registration. Absent if
   * only one process can open the store.
   */
  isHeld?(key: number): Promise<boolean>;
  /**
   * Interval in milliseconds at which a node claims the webhooks that other nodes have left. `undefined` if only one
   * process can open the store, which then delivers to all webhooks.
   */
  readonly pollIntervalMs?: number;
  /**
   * Saves the progress of several webhooks in one transaction, and ends the claims of released webhooks. The progress of
   * a webhook never decreases, and the progress of removed webhooks is ignored.
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
}

/** The result of a claim of one task. */
export interface ClaimedWebhooks {
  /** Webhooks that this node holds and that have undelivered events, in the order of registration. */
  readonly webhooks: readonly Webhook[];
  /**
   * False if each webhook of the task has received all events, is dead, or waits for a retry. A search finds the webhooks
   * that wait for a retry, so the next commit needs no claim.
   */
  readonly mayNeedMore: boolean;
}

/**
 * A search for webhooks to claim, in ascending order of their keys. While a turn runs, only the node of the turn can
 * claim the webhooks of its task, because commits notify the outbox of the same node.
 */
export interface DueWebhookQuery {
  /**
   * With `due`, the store finds only the webhooks whose retry is due, the webhooks of nodes that have stopped, and the
   * webhooks of tasks whose turn runs on this node. This search is fast, even if many webhooks exist. With `all`, the
   * store examines each webhook whose task has not ended.
   */
  readonly search: "due" | "all";
  /** The result contains only webhooks with a greater key. */
  readonly after: number;
  readonly limit: number;
  /** The result contains no webhook whose next attempt is later, in milliseconds since 1970. */
  readonly now: number;
}

/** The webhooks that wait for a retry. */
export interface WebhookRetries {
  readonly count: number;
  /** Time of the first retry in milliseconds since 1970. */
  readonly nextAt?: number;
}
