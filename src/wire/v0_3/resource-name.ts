import { withCheck, withConversion, type Schema } from "../proto-json-schema.ts";
import { stringSchema } from "../scalar-schemas.ts";

// The proto of 0.3 names tasks and their configurations by paths. Ids may have slashes in them, of which a
// configuration's id can have none.

const TASK_RESOURCE_NAME_PATTERN = /^tasks\/(.+)$/s;
const PUSH_CONFIG_RESOURCE_NAME_PATTERN = /^tasks\/(.+)\/pushNotificationConfigs\/([^/]+)$/s;

export function formatTaskResourceName(taskId: string): string {
  return `tasks/${taskId}`;
}

export function formatPushConfigResourceName(taskId: string, id: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

/** `tasks/{id}`, read into the id. */
export const TASK_RESOURCE_NAME_SCHEMA: Schema<string> = withConversion(
  withCheck(stringSchema, (name) =>
    TASK_RESOURCE_NAME_PATTERN.test(name) ? undefined : "must be tasks/{task id}",
  ),
  (name) => TASK_RESOURCE_NAME_PATTERN.exec(name)?.[1] ?? "",
);

export interface PushConfigIds {
  readonly taskId: string;
  readonly id: string;
}

/** `tasks/{task id}/pushNotificationConfigs/{id}`, read into both. */
export const PUSH_CONFIG_RESOURCE_NAME_SCHEMA: Schema<PushConfigIds> = withConversion(
  withCheck(stringSchema, (name) =>
    PUSH_CONFIG_RESOURCE_NAME_PATTERN.test(name)
      ? undefined
      : "must be tasks/{task id}/pushNotificationConfigs/{configuration id}",
  ),
  (name) => {
    const [, taskId = "", id = ""] = PUSH_CONFIG_RESOURCE_NAME_PATTERN.exec(name) ?? [];
    return { taskId, id };
  },
);
