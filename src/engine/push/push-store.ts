import type { TaskPushNotificationConfig } from "../../protocol/index.ts";
import type { TaskScope } from "../caller.ts";

/** A webhook registration: the URL for updates of a task, and the A2A version of the notifications. */
export interface WebhookRegistration {
  readonly config: TaskPushNotificationConfig & { readonly id: string };
  /** A2A version of the request that registered the webhook. Its notifications use this version. */
  readonly version: string;
}

/** A registered webhook with its delivery progress. */
export interface Webhook extends WebhookRegistration {
  /** Key assigned by the store. Keys increase with each registration and are never reused. */
  readonly key: number;
  readonly scope: TaskScope;
  readonly taskId: string;
  /** Seq up to which all events were delivered or existed before the webhook. */
  readonly deliveredSeq: number;
  /** Time since which every delivery has failed, in milliseconds since 1970. */
  readonly failingSince?: number;
  /** Set when delivery to the webhook has stopped permanently. */
  readonly deadLetter?: DeadLetter;
}

interface DeadLetter {
  /** Time at which delivery stopped, in milliseconds since 1970. */
  readonly at: number;
  readonly reason: string;
}

/** Delivery progress of a webhook. */
export interface WebhookProgress extends Pick<
  Webhook,
  "key" | "deliveredSeq" | "failingSince" | "deadLetter"
> {
  /** True when the task has ended and every event is delivered. */
  readonly isFinished: boolean;
}

/**
 * Storage for the webhooks of a store's tasks. Webhooks exist as long as their tasks. The task's log serves
 * as the outbox, and a webhook stores only its position in the log. The guarantees of `TaskStore` also apply
 * here.
 */
export interface PushStore {
  /**
   * Registers a webhook for future events. A webhook with the same id is replaced: the new one continues at
   * its position and is no longer dead. Resolves with `undefined` when the task does not exist.
   */
  put(scope: TaskScope, taskId: string, registration: WebhookRegistration): Promise<Webhook | undefined>;
  get(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined>;
  /**
   * Resolves with the webhooks of a task in the order of registration, or with `undefined` when the task does
   * not exist.
   */
  list(scope: TaskScope, taskId: string): Promise<Webhook[] | undefined>;
  /**
   * Removes a webhook. Resolves with false when the task does not exist, and with true otherwise, even if the
   * webhook was missing.
   */
  remove(scope: TaskScope, taskId: string, id: string): Promise<boolean>;
  /**
   * Resolves with webhooks of all scopes that have undelivered events, ordered by key, starting after the key
   * `after`.
   */
  listDue(after: number, limit: number): Promise<Webhook[]>;
  /**
   * Saves the progress of several webhooks in one transaction. Progress never decreases, and progress of
   * removed webhooks is ignored.
   */
  saveProgress(progress: readonly WebhookProgress[]): Promise<void>;
  /** Resolves with the dead webhooks of all scopes, newest registration first. */
  listDead(limit: number): Promise<Webhook[]>;
}
