import {
  A2AError,
  fold,
  isEventRefusal,
  type Message,
  type SendMessageResponse,
  copyTask,
  type StreamResponse,
  type Task,
} from "../protocol/index.ts";

/**
 * Reads a stream to its end and gives what SendMessage would have given: the task with all that was streamed into it,
 * or the message of an agent that answered without a task.
 */
export async function collect(stream: AsyncIterable<StreamResponse>): Promise<SendMessageResponse> {
  let task: Task | undefined;
  let message: Message | undefined;
  for await (const event of stream) {
    // A whole task supersedes all that came before it: a snapshot after a cut, or the last word of a server.
    if ("task" in event) task = copyTask(event.task);
    else if (!task && "message" in event) message = event.message;
    else {
      task ??= createTaskFromUpdate(event);
      const folded = fold(task, event);
      if (!isEventRefusal(folded)) task = folded;
    }
  }
  if (task) return { task };
  if (message) return { message };
  throw new A2AError(
    "INVALID_AGENT_RESPONSE",
    "The agent's stream ended without a task and without a message.",
  );
}

/** What is known of a task from an update alone: of a task that went on, A2A 0.3 need not send the whole first. */
function createTaskFromUpdate(event: StreamResponse): Task | undefined {
  if ("statusUpdate" in event) {
    const { taskId, contextId, status } = event.statusUpdate;
    return { id: taskId, contextId, status };
  }
  if (!("artifactUpdate" in event)) return undefined;
  const { taskId: id, contextId } = event.artifactUpdate;
  return { id, contextId, status: { state: "TASK_STATE_WORKING" } };
}
