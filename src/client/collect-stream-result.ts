import {
  A2AError,
  fold,
  isEventRefusal,
  type SendMessageResponse,
  copyTask,
  type StreamResponse,
  type Task,
} from "../protocol/index.ts";

/**
 * Reads a stream to its end and returns the same result as `SendMessage`. The result is the updated task, or
 * a message if the agent replied without a task.
 *
 * The stream of a message to an existing task contains only the artifacts of that message's turn. The result
 * also contains the earlier artifacts if you pass the task before the message as `previousTask`.
 */
export async function collect(
  stream: AsyncIterable<StreamResponse>,
  previousTask?: Task,
): Promise<SendMessageResponse> {
  let result: SendMessageResponse | undefined;
  for await (const event of stream) result = addToResult(result, event, previousTask);
  if (result) return result;
  throw new A2AError("INVALID_AGENT_RESPONSE", "The agent's stream ended without a task or a message.");
}

/** Returns the result of a stream after one more event. `result` is the result before the event. */
export function addToResult(
  result: SendMessageResponse | undefined,
  event: StreamResponse,
  previousTask?: Task,
): SendMessageResponse | undefined {
  const task = result && "task" in result ? result.task : undefined;
  // A complete task replaces all earlier events. Servers send one after a reconnect or at the end of a stream.
  if ("task" in event)
    return { task: copyTask(task ? event.task : keepPreviousArtifacts(previousTask, event.task)) };
  // Messages of the task's users are no replies. A stream contains them with the message events extension.
  if ("message" in event && !task) return event.message.role === "ROLE_AGENT" ? event : result;
  const current = task ?? (previousTask ? copyTask(previousTask) : createTaskFromUpdate(event));
  const folded = fold(current, event);
  if (!isEventRefusal(folded)) return { task: folded };
  return current ? { task: current } : result;
}

/** Returns the task with the artifacts of an earlier snapshot, unless the task contains artifacts. */
function keepPreviousArtifacts(previousTask: Task | undefined, task: Task): Task {
  if (task.artifacts || !previousTask?.artifacts || previousTask.id !== task.id) return task;
  return { ...task, artifacts: previousTask.artifacts };
}

/**
 * Creates a task object from a streamed update. If the task already existed, an A2A 0.3 stream may begin
 * without the complete task.
 */
function createTaskFromUpdate(event: StreamResponse): Task | undefined {
  if ("statusUpdate" in event) {
    const { taskId, contextId, status } = event.statusUpdate;
    return { id: taskId, contextId, status };
  }
  if (!("artifactUpdate" in event)) return undefined;
  const { taskId: id, contextId } = event.artifactUpdate;
  return { id, contextId, status: { state: "TASK_STATE_WORKING" } };
}
