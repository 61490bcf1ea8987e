import type { RunnerRegistry } from "./runner-registry.ts";
import type { TaskStore } from "./task-store.ts";

/**
 * Starts the queued turns that the store has and no runner holds. The earlier process has stopped, or the store
 * has failed. Each runner starts the first queued turn of its task as soon as no other turn of the task is
 * unfinished.
 */
export async function startQueuedTurns(context: {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
}): Promise<void> {
  for (const { scope, taskId } of await context.store.listTasksWithQueuedTurns()) {
    if (scope.agent !== context.agentId) continue;
    (await context.runners.findOrLoadAndRetainForRecovery(scope, taskId))?.release();
  }
}
