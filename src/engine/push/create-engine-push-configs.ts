import type { TaskScope } from "../caller.ts";
import type { EnginePushOptions } from "../engine-options.ts";
import type { IdGenerator } from "../id-generator.ts";
import type { RunnerRegistry } from "../runner-registry.ts";
import type { TaskStore } from "../task-store.ts";
import type { PushConfigOperations } from "./push-config-operations.ts";

interface EnginePushConfigsDependencies {
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
  readonly generateId: IdGenerator;
}

/**
 * Creates the operations on the push notification configs of an engine, or returns `undefined` if the store keeps no
 * configs. Running tasks notice the changes of their configs.
 */
export function createEnginePushConfigs(
  { outbox, validateWebhook, createConfigOperations, redactSecrets = false }: EnginePushOptions,
  { agentId, store: { pushStore }, runners, generateId }: EnginePushConfigsDependencies,
): PushConfigOperations | undefined {
  const onChange = (scope: TaskScope, taskId: string, id: string): void => {
    const runner = runners.findLive(scope, taskId);
    if (runner) runner.mayHaveWebhooks = true;
    outbox.notifyWebhookChange(scope, taskId, id);
  };
  return (
    pushStore &&
    createConfigOperations({
      agentId,
      store: pushStore,
      validateWebhook,
      generateId,
      redactSecrets,
      limits: outbox.limits,
      onChange,
    })
  );
}
