import { A2AError, isTerminal, type Task } from "../../protocol/index.ts";
import type { CallOptions } from "../transport/http.ts";
import { isRetryable } from "./retry.ts";
import type { ReceivedEvent, Transport } from "../transport/transport.ts";

interface SubscribeParams {
  readonly id: string;
  readonly tenant?: string;
}

/**
 * The events of a task from behind an event id on; without one, and from a server that ignores it, they begin with the
 * whole task. Of a task that has ended meanwhile, the whole task is all.
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

/** How a server says that there is nothing to subscribe to, because the task has ended (A2A §3.1.6). */
const MAY_MEAN_TASK_ENDED: Record<Transport["version"], (error: A2AError) => boolean> = {
  "1.0": ({ reason }) => reason === "UNSUPPORTED_OPERATION",
  // 0.3 says nothing of it, and each server something else; whether there is a task is for GetTask to say.
  "0.3": (error) => !isRetryable(error),
};

/**
 * 0.3 leaves it to the server what a subscription begins with, and some say nothing before something happens. So the task
 * comes first, but behind an id that the server counts on from. What happens before the subscription stands is missing
 * unless the server begins with the whole task, too: the task then stands once more in place of the last event.
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

/** True for an id that a server counts on with: one that resumes does not begin with the whole task. */
function isNextEventId(id: string | undefined, lastEventId: string | undefined): boolean {
  return lastEventId !== undefined && id !== undefined && Number(id) === Number(lastEventId) + 1;
}
