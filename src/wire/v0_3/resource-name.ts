import { checked, converted, type Type } from "../proto-json.ts";
import { string } from "../scalars.ts";

// The proto of 0.3 names tasks and their configurations by paths. Ids may have slashes in them, of which a
// configuration's id can have none.

const TASK = /^tasks\/(.+)$/s;
const CONFIG = /^tasks\/(.+)\/pushNotificationConfigs\/([^/]+)$/s;

export function nameOfTask(taskId: string): string {
  return `tasks/${taskId}`;
}

export function nameOfConfig(taskId: string, id: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

/** `tasks/{id}`, read into the id. */
export const TASK_NAME: Type<string> = converted(
  checked(string, (name) => (TASK.test(name) ? undefined : "must be tasks/{task id}")),
  (name) => TASK.exec(name)?.[1] ?? "",
);

export interface ConfigName {
  readonly taskId: string;
  readonly id: string;
}

/** `tasks/{task id}/pushNotificationConfigs/{id}`, read into both. */
export const CONFIG_NAME: Type<ConfigName> = converted(
  checked(string, (name) =>
    CONFIG.test(name) ? undefined : "must be tasks/{task id}/pushNotificationConfigs/{configuration id}",
  ),
  (name) => {
    const [, taskId = "", id = ""] = CONFIG.exec(name) ?? [];
    return { taskId, id };
  },
);
