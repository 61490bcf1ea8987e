import type { LogEvent } from "../protocol/index.ts";
import type { TaskScope } from "./caller.ts";

/**
 * All that a stranger may listen to. Called synchronously after the fact; what a listener throws is dropped, so that
 * it can never harm a task.
 */
export interface Observer {
  /** An event was committed. */
  onEvent?(seen: { scope: TaskScope; taskId: string; event: LogEvent }): void;
  /** An agent began or ended a turn; `error` is what it threw. */
  onRun?(seen: { scope: TaskScope; taskId: string; phase: "begin" | "end"; error?: unknown }): void;
  /**
   * A push notification arrived, failed and is tried again, or was given up for good with its webhook. `reason` has no
   * secrets.
   */
  onPush?(seen: PushDeliveryReport): void;
  /** Something failed that no caller is told about, or is told less about. */
  onError?(seen: { where: string; error: unknown; taskId?: string; errorId?: string }): void;
}

/** What became of an event's delivery to a webhook. */
export interface PushDeliveryReport {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly configId: string;
  readonly seq: number;
  readonly outcome: "delivered" | "failed" | "dead";
  readonly reason?: string;
  readonly retryInMs?: number;
}

/** An observer whose listeners cannot throw. */
export function withSafeListeners(observer: Observer): Observer {
  const safe: Observer = {};
  // Absent listeners stay absent: the hot path asks for them before it builds what they would be told.
  if (observer.onEvent) safe.onEvent = withErrorsSuppressed(observer.onEvent.bind(observer));
  if (observer.onRun) safe.onRun = withErrorsSuppressed(observer.onRun.bind(observer));
  if (observer.onPush) safe.onPush = withErrorsSuppressed(observer.onPush.bind(observer));
  if (observer.onError) safe.onError = withErrorsSuppressed(observer.onError.bind(observer));
  return safe;
}

function withErrorsSuppressed<A>(listener: (seen: A) => void): (seen: A) => void {
  return (seen) => {
    try {
      // A listener that fails, at once or later, has nobody left to tell.
      const answer: unknown = listener(seen);
      if (answer instanceof Promise) answer.catch(() => {});
    } catch {}
  };
}
