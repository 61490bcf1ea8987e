import {
  findAfterGeneration,
  isObject,
  type JsonValue,
  PARENT_TASK_KEY,
  type Task,
} from "../../protocol/index.ts";
import type { RequestLine } from "./traffic-line-types.ts";

/** Ids in the parameters of a request, as members of its line. */
export type RequestIds = Pick<
  RequestLine,
  "task_id" | "context_id" | "message_id" | "after" | "reference_task_ids" | "parent"
>;

/**
 * Finds the ids in the parameters of a request, before the parameters are decoded. The parameters may be of A2A 1.0 or
 * 0.3, and may be invalid.
 */
export function findRequestIds(params: unknown): RequestIds {
  if (!isObject(params)) return {};
  const message = isObject(params["message"]) ? params["message"] : {};
  const taskId = message["taskId"] ?? params["taskId"] ?? params["id"];
  const after = findAfterGeneration(params["metadata"]);
  const references = message["referenceTaskIds"];
  const metadata = isObject(message["metadata"]) ? message["metadata"] : {};
  const parent = findParentTask(metadata[PARENT_TASK_KEY]);
  return {
    ...(isId(taskId) && { task_id: taskId }),
    ...(isId(message["contextId"]) && { context_id: message["contextId"] }),
    ...(isId(message["messageId"]) && { message_id: message["messageId"] }),
    ...(typeof after === "number" && { after }),
    ...(Array.isArray(references) && { reference_task_ids: references.filter(isId) }),
    ...(parent && { parent }),
  };
}

function findParentTask(parent: JsonValue | undefined): RequestLine["parent"] {
  if (!isObject(parent) || !isId(parent["taskId"])) return undefined;
  return { task_id: parent["taskId"], ...(isId(parent["agent"]) && { agent: parent["agent"] }) };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Returns the task in the result of an operation: the result itself, or its member `task`. */
export function findResultTask(result: object): Task | undefined {
  if ("task" in result) return result.task as Task;
  return "id" in result && "status" in result && "contextId" in result ? (result as Task) : undefined;
}
