import type { AgentEvent } from "../../../engine/index.ts";
import type { Task } from "../../../protocol/index.ts";

/**
 * Prefix of the metadata keys in an A2A task that store the ids of unfinished MCP tasks, with one key per
 * tool.
 */
const METADATA_KEY_PREFIX = "colloquy:mcpTask:";

/**
 * Creates an event that records the id of a tool's MCP task. The id `null` records that the MCP task has
 * ended.
 */
export function createMcpTaskRecord(toolName: string, taskId: string | null): AgentEvent {
  return {
    status: { state: "TASK_STATE_WORKING" },
    metadata: { [METADATA_KEY_PREFIX + toolName]: taskId },
  };
}

/**
 * Names of the tools whose recorded MCP task has ended during a turn. The key is the turn's copy of the A2A
 * task, which does not change when the turn records the end.
 */
const toolsWithEndedTask = new WeakMap<Pick<Task, "metadata">, Set<string>>();

/** Marks the MCP task that `task` records for a tool as ended. */
export function markRecordedMcpTaskAsEnded(task: Pick<Task, "metadata">, toolName: string): void {
  toolsWithEndedTask.set(task, (toolsWithEndedTask.get(task) ?? new Set()).add(toolName));
}

/** Returns the id of a tool's unfinished MCP task, if the A2A task has recorded an id. */
export function findRecordedMcpTask(task: Pick<Task, "metadata">, toolName: string): string | undefined {
  const taskId = task.metadata?.[METADATA_KEY_PREFIX + toolName];
  return typeof taskId === "string" && !toolsWithEndedTask.get(task)?.has(toolName) ? taskId : undefined;
}
