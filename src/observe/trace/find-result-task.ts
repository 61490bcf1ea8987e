import type { Task } from "../../protocol/index.ts";

/** Returns the task in the result of an operation: the result itself, or its member `task`. */
export function findResultTask(result: object): Task | undefined {
  if ("task" in result) return result.task as Task;
  return "id" in result && "status" in result && "contextId" in result ? (result as Task) : undefined;
}
