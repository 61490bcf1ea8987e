import { A2AError, isTerminal, type Task } from "../../protocol/index.ts";
import type { CallOptions } from "../transport/http.ts";
import { isRetryable } from "./retry.ts";
import type { ReceivedEvent, Transport } from "../transport/transport.ts";

interface SubscribeParams {
  readonly id: string;
  readonly tenant?: string;
}

/**
 * Yields the events of a task after an event id. Without an event id, or if the server ignores the id, the
 * first event is the complete task. If the task has already ended, the complete task is the only event.
 */
export async function* subscribeToTask(
  transport: Transport,
  params: SubscribeParams,
  call: CallOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const getTask = (): Promise<Task> => transport.call("GetTask", params, call);
  try {
    const received = transport.stream("SubscribeToTask", params, { ...call, lastEventId });
    yield* transport.version === "0.3" ? withTaskSnapshot(received, getTask, lastEventId) : received;
  } catch (error) {
    if (!(error instanceof A2AError) || !MAY_MEAN_TASK_ENDED[transport.version](error)) throw error;
    const task = await getTask();
    if (!isTerminal(task.status.state)) throw error;
    yield { event: { task } };
  }
}

/** Errors with which a server of each version may report that the task has already ended (A2A §3.1.6). */
const MAY_MEAN_TASK_ENDED: Record<Transport["version"], (error: A2AError) => boolean> = {
  "1.0": ({ reason }) => reason === "UNSUPPORTED_OPERATION",
  // A2A 0.3 does not define this error, and servers differ. The client calls `GetTask` to find out.
  "0.3": (error) => !isRetryable(error),
};

/**
 * Adds a snapshot of the task to a 0.3 subscription. A2A 0.3 does not define the first event, and some
 * servers send nothing until the task changes.
 *
 * Without a last event id, the snapshot is the first event. With a last event id, the stream continues if the
 * server's next event id follows it. If the ids do not match, events may be missing, so the client fetches
 * the task and yields it before the first event. If the stream began without a complete task, another
 * snapshot replaces its last event.
 */
async function* withTaskSnapshot(
  stream: AsyncIterable<ReceivedEvent>,
  getTask: () => Promise<Task>,
  lastEventId: string | undefined,
): AsyncGenerator<ReceivedEvent, void, undefined> {
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
 * Returns true if the server resumed directly after the last event id. A server that resumes does not start
 * with the complete task.
 */
function isNextEventId(id: string | undefined, lastEventId: string | undefined): boolean {
  return lastEventId !== undefined && id !== undefined && Number(id) === Number(lastEventId) + 1;
}
