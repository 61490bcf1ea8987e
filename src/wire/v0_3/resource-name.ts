import { createCheckedSchema, createConvertingSchema } from "../composite-schemas.ts";
import { type DecodingSchema } from "../proto-json-schema.ts";
import { stringSchema } from "../scalar-schemas.ts";

// The proto of 0.3 identifies tasks and push configurations by resource paths. A task id may contain slashes.
// The id of a configuration must not contain one.

const TASK_RESOURCE_NAME_PATTERN = /^tasks\/(.+)$/s;
const PUSH_CONFIG_RESOURCE_NAME_PATTERN = /^tasks\/(.+)\/pushNotificationConfigs\/([^/]+)$/s;

/** Formats the resource name of a task. */
export function formatTaskResourceName(taskId: string): string {
  return `tasks/${taskId}`;
}

/** Formats the resource name of a push notification configuration. */
export function formatPushConfigResourceName(taskId: string, id: string): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

/** Schema for the resource name `tasks/{id}`, which decodes to the id. */
export const TASK_RESOURCE_NAME_SCHEMA: DecodingSchema<string> = createConvertingSchema(
  createCheckedSchema(stringSchema, (name) =>
    TASK_RESOURCE_NAME_PATTERN.test(name) ? undefined : "must be tasks/{task id}",
  ),
  (name) => TASK_RESOURCE_NAME_PATTERN.exec(name)?.[1] ?? "",
);

/** Ids in the resource name of a push notification configuration. */
export interface PushConfigIds {
  readonly taskId: string;
  readonly id: string;
}

/**
 * Schema for the resource name `tasks/{task id}/pushNotificationConfigs/{id}`, which decodes to the task id
 * and the configuration id.
 */
export const PUSH_CONFIG_RESOURCE_NAME_SCHEMA: DecodingSchema<PushConfigIds> = createConvertingSchema(
  createCheckedSchema(stringSchema, (name) =>
    PUSH_CONFIG_RESOURCE_NAME_PATTERN.test(name)
      ? undefined
      : "must be tasks/{task id}/pushNotificationConfigs/{configuration id}",
  ),
  (name) => {
    const [, taskId = "", id = ""] = PUSH_CONFIG_RESOURCE_NAME_PATTERN.exec(name) ?? [];
    return { taskId, id };
  },
);
