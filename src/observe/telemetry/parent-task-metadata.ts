import { isObject, type Message, PARENT_TASK_EXTENSION_URI, PARENT_TASK_KEY } from "../../protocol/index.ts";
import type { ParentTask } from "./trace-scope.ts";

const MAX_ID_LENGTH = 256;

/** Adds the task of the calling agent to a message (docs/extensions/parent-task-v1.md). */
export function addParentTask(message: Message, { taskId, agent }: ParentTask): Message {
  const parent = { taskId, ...(agent === undefined ? {} : { agent }) };
  const { extensions = [], metadata } = message;
  if (metadata?.[PARENT_TASK_KEY] !== undefined) return message;
  return {
    ...message,
    extensions: extensions.includes(PARENT_TASK_EXTENSION_URI)
      ? extensions
      : [...extensions, PARENT_TASK_EXTENSION_URI],
    metadata: { ...metadata, [PARENT_TASK_KEY]: parent },
  };
}

/**
 * Returns the task of the agent that sent a message, or `undefined`. The caller states the task, and nothing proves the
 * statement, so that it must not grant access. An invalid statement is ignored.
 */
export function findParentTask(metadata: unknown): ParentTask | undefined {
  const parent = isObject(metadata) ? metadata[PARENT_TASK_KEY] : undefined;
  if (!isObject(parent)) return undefined;
  const { taskId, agent } = parent;
  if (!isId(taskId)) return undefined;
  return { taskId, ...(isId(agent) ? { agent } : {}) };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_LENGTH;
}
