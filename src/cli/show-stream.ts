import type { StreamResponse, Task, TaskStatus } from "../protocol/index.ts";
import { toInterruptedWaitError, type AgentCommandContext } from "./agent-command.ts";
import { formatCommandLine } from "./command-line.ts";
import type { ClientOptions } from "./client-options.ts";
import { reportTaskState, untilTerminalOrInterrupted } from "./wait-for-task.ts";

/**
 * Writes the events of a stream as they arrive, and the task's ids and state at the end. `known` means that
 * the stream starts with a task whose history the user has seen.
 */
export async function showStream(
  stream: AsyncIterable<StreamResponse>,
  call: AgentCommandContext<ClientOptions>,
  known = false,
): Promise<void> {
  const { output, agentRef, signal } = call;
  let seen: (Pick<Task, "id" | "contextId"> & { status: TaskStatus }) | undefined;
  try {
    for await (const event of untilTerminalOrInterrupted(stream, known)) {
      if (known && !seen) output.writeResumedTask(event);
      else output.writeEvent(event);
      if ("task" in event) seen = event.task;
      else if ("statusUpdate" in event) {
        const { taskId, contextId, status } = event.statusUpdate;
        seen = { id: taskId, contextId, status };
      }
    }
  } catch (error) {
    if (seen && signal.aborted)
      throw toInterruptedWaitError(call, error, formatCommandLine("task", "subscribe", agentRef, seen.id));
    throw error;
  }
  if (!seen) return;
  output.writeStreamEnd({ id: seen.id, contextId: seen.contextId, state: seen.status.state });
  reportTaskState(output, agentRef, seen);
}
