import type { TaskPushNotificationConfig } from "../../protocol/index.ts";
import type { TaskScope } from "../caller.ts";

/** A webhook as it is registered: where updates of a task are posted, and in which version of A2A. */
export interface WebhookRegistration {
  readonly config: TaskPushNotificationConfig & { readonly id: string };
  /** Of the request that registered it; what is posted is written in that version. */
  readonly version: string;
}

/** A registered webhook, and how far its deliveries have come. */
export interface Webhook extends WebhookRegistration {
  /** Given by the store; grows from one registration to the next and is never given twice. */
  readonly key: number;
  readonly scope: TaskScope;
  readonly taskId: string;
  /** All events up to this seq are delivered, or were there before the webhook. */
  readonly deliveredSeq: number;
  /** Since when no delivery has succeeded, in milliseconds since 1970. */
  readonly failingSince?: number;
  /** Nothing is delivered any more: when that was given up, and why. */
  readonly deadLetter?: DeadLetter;
}

export interface DeadLetter {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly reason: string;
}

/** How far a webhook has come. */
export interface WebhookProgress extends Pick<
  Webhook,
  "key" | "deliveredSeq" | "failingSince" | "deadLetter"
> {
  /** The task has ended and every event is delivered: nothing will be owed any more. */
  readonly isFinished: boolean;
}

/**
 * The webhooks of a store's tasks. They live as long as their tasks. The log of the task is the outbox: a webhook only
 * has its place in it. Promises of `TaskStore` hold here too.
 */
export interface PushStore {
  /**
   * Registers a webhook for the events that follow; one with an id that the task has already takes its place, goes on
   * where that one was, and is dead no more. Undefined when there is no such task.
   */
  put(scope: TaskScope, taskId: string, registration: WebhookRegistration): Promise<Webhook | undefined>;
  get(scope: TaskScope, taskId: string, id: string): Promise<Webhook | undefined>;
  /** The webhooks of a task in the order of their registration; undefined when there is no such task. */
  list(scope: TaskScope, taskId: string): Promise<Webhook[] | undefined>;
  /** False when there is no such task; a webhook that is not there is removed already. */
  remove(scope: TaskScope, taskId: string, id: string): Promise<boolean>;
  /** Webhooks of all scopes, with a key greater than `after` and ordered by it, that have not been sent all there is. */
  listDue(after: number, limit: number): Promise<Webhook[]>;
  /** One transaction. Progress never goes back; that of webhooks which are gone is dropped. */
  saveProgress(progress: readonly WebhookProgress[]): Promise<void>;
  /** The dead ones of all scopes, newest registration first. */
  listDead(limit: number): Promise<Webhook[]>;
}
