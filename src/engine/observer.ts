import type { LogEvent } from "../protocol/index.ts";
import type { Scope } from "./caller.ts";

/**
 * All that a stranger may listen to. Called synchronously after the fact; what a listener throws is dropped, so that
 * it can never harm a task.
 */
export interface Observer {
  /** An event was committed. */
  onEvent?(seen: { scope: Scope; taskId: string; event: LogEvent }): void;
  /** An agent began or ended a turn; `error` is what it threw. */
  onRun?(seen: { scope: Scope; taskId: string; phase: "begin" | "end"; error?: unknown }): void;
  /** Something failed that no caller is told about, or is told less about. */
  onError?(seen: { where: string; error: unknown; taskId?: string }): void;
}
