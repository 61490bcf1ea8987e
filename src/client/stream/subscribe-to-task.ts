import { A2AError, isInterrupted, isTerminal, type Task } from "../../protocol/index.ts";
import type { CallOptions } from "../transport/transport.ts";
import { isRetryable } from "./retry.ts";
import type { ReceivedStreamEvent, Transport } from "../transport/transport.ts";

interface SubscribeParams {
  readonly id: string;
  readonly tenant?: string;
}

/**
 * Yields the events of a task after an event id. If no event id is given, or if the server ignores the event
 * id, the first event is the complete task. If the server refuses the subscription because the task has
 * already ended or waits for its user, the complete task is the only event of the stream.
 */
export async function* subscribeToTask(
  transport: Transport,
  params: SubscribeParams,
  call: CallOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
  const getTask = (): Promise<Task> => transport.call("GetTask", params, call);
  try {
    const received = transport.stream("SubscribeToTask", params, { ...call, lastEventId });
    yield* transport.version === "0.3" ? withTaskSnapshot(received, getTask, lastEventId) : received;
  } catch (error) {
    if (!(error instanceof A2AError) || !TASK_STOPPED_ERROR_CHECKS[transport.version](error)) throw error;
    const task = await getTask();
    if (!isTerminal(task.status.state) && !isInterrupted(task.status.state)) throw error;
    yield { event: { task } };
  }
}

/**
 * Errors of servers that refuse a subscription because the agent of the task has stopped, by protocol version.
 * A2A 1.0 defines `UNSUPPORTED_OPERATION` (A2A §3.1.6), and Go's SDK answers `TASK_NOT_FOUND`.
 */
const TASK_STOPPED_ERROR_CHECKS: Record<Transport["version"], (error: A2AError) => boolean> = {
  "1.0": ({ reason }) => reason === "UNSUPPORTED_OPERATION" || reason === "TASK_NOT_FOUND",
  // A2A 0.3 does not define this error, and servers differ. The client calls `GetTask` to find out.
  "0.3": (error) => !isRetryable(error),
};

/**
 * Adds a snapshot of the task to an A2A 0.3 subscription. A2A 0.3 does not define the first event of a
 * subscription, and some servers send no event until the task changes.
 *
 * If the client has no last event id, the snapshot is the first event. If the client has a last event id and
 * the server's next event id follows it, the stream continues without a snapshot. If the event ids have a
 * gap, the client fetches the task and yields the snapshot before the first event. If the stream began
 * without a complete task, a second snapshot replaces the last event of the stream.
 */
async function* withTaskSnapshot(
  stream: AsyncIterable<ReceivedStreamEvent>,
  getTask: () => Promise<Task>,
  lastEventId: string | undefined,
): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
  if (lastEventId === undefined) {
    const task = await getTask();
    const isLast = isTerminal(task.status.state);
    yield { event: { task }, isLast };
    if (isLast) return;
  }
  let isComplete: boolean | undefined;
  let isLast = false;
  for await (const received of stream) {
    if (isComplete === undefined) {
      isComplete = "task" in received.event || isNextEventId(received.id, lastEventId);
      if (!isComplete && lastEventId !== undefined) yield { event: { task: await getTask() } };
    }
    isLast = received.isLast === true;
    if (!isLast || isComplete) yield received;
  }
  if (!isComplete) yield { event: { task: await getTask() }, isLast };
}

/**
 * Returns whether the server resumed the stream directly after the last event id. A server that resumes a
 * stream does not send the complete task first.
 */
function isNextEventId(id: string | undefined, lastEventId: string | undefined): boolean {
  return lastEventId !== undefined && id !== undefined && Number(id) === Number(lastEventId) + 1;
}
