import { getCallerKey, type TaskScope } from "../caller.ts";

/** Returns a text that identifies a task with webhooks among the tasks of all agents and callers. */
export function getWebhookTaskKey(scope: TaskScope, taskId: string): string {
  return `${scope.agent}/${taskId}/${getCallerKey(scope)}`;
}
