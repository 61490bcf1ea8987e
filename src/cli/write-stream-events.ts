import type { StreamResponse, Task, TaskStatus } from "../protocol/index.ts";
import { toInterruptedWaitError, type AgentCommandContext } from "./define-agent-command.ts";
import { formatColloquyCommand } from "./format-colloquy-command.ts";
import type { ClientOptions } from "./client-options.ts";
import { warnAboutUncompletedTask, yieldUntilTerminalOrInterrupted } from "./wait-for-task.ts";

/**
 * Writes each event of a stream without delay. At the end, the function writes the task's ids and state.
 * `known` is true if the stream starts with a task that the user has already seen.
 */
export async function writeStreamEvents(
  stream: AsyncIterable<StreamResponse>,
  call: AgentCommandContext<ClientOptions>,
  known = false,
): Promise<void> {
  const { output, agentRef, signal } = call;
  let task: (Pick<Task, "id" | "contextId"> & { status: TaskStatus }) | undefined;
  try {
    for await (const event of yieldUntilTerminalOrInterrupted(stream, known)) {
      if (known && !task) output.writeFirstEventOfResumedTask(event);
      else output.writeEvent(event);
      if ("task" in event) task = event.task;
      else if ("statusUpdate" in event) {
        const { taskId, contextId, status } = event.statusUpdate;
        task = { id: taskId, contextId, status };
      }
    }
  } catch (error) {
    if (task && signal.aborted)
      throw toInterruptedWaitError(
        call,
        error,
        formatColloquyCommand("task", "subscribe", agentRef, task.id),
      );
    throw error;
  }
  if (!task) return;
  output.writeTaskIdsAtStreamEnd({ id: task.id, contextId: task.contextId, state: task.status.state });
  warnAboutUncompletedTask(output, agentRef, task);
}
