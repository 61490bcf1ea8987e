import type { AgentEvent } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";

/** Start of the metadata keys of an A2A task that contain the ids of unfinished MCP tasks, by tool. */
const METADATA_KEY_PREFIX = "colloquy:mcpTask:";

/** Creates an event that records the id of a tool's MCP task, or that the MCP task has ended (`null`). */
export function createMcpTaskRecord(toolName: string, taskId: string | null): AgentEvent {
  return {
    status: { state: "TASK_STATE_WORKING" },
    metadata: { [METADATA_KEY_PREFIX + toolName]: taskId },
  };
}

/** Returns the id of the unfinished MCP task of a tool, if the A2A task has recorded one. */
export function findRecordedMcpTask(task: Pick<Task, "metadata">, toolName: string): string | undefined {
  const taskId = task.metadata?.[METADATA_KEY_PREFIX + toolName];
  return typeof taskId === "string" ? taskId : undefined;
}
