import { A2AError, type StreamResponse } from "../../protocol/index.ts";
import type { CallOptions } from "../transport/http.ts";
import { type StreamRequest, StreamCursor } from "./stream-cursor.ts";
import { Backoff, isRetryable, type RetryOptions } from "./retry.ts";
import { subscribeToTask } from "./subscribe-to-task.ts";
import type { ReceivedEvent, Transport } from "../transport/transport.ts";

/**
 * A stream that survives cuts. "Cut" is not "ended": a stream has ended when its task has, or waits for its user, or
 * when the agent answered with a message. Anything else that stops it is a cut, after which it goes on with
 * SubscribeToTask behind the last event id. A server that ignores the id sends the whole task first, which is passed
 * on; of a task that has ended meanwhile the whole task is the last event. Cut before the first event, the same
 * message is sent again under the same id, which an agent that deduplicates (Colloquy does) takes only once.
 * When no try gets anywhere, rejects with UNAVAILABLE and `metadata` that has `taskId` and `lastEventId`.
 */
export async function* openResumableStream(
  transport: Transport,
  beginning: StreamRequest,
  call: CallOptions,
  reconnect: RetryOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const place = new StreamCursor(beginning);
  const backoff = new Backoff(reconnect);
  for (;;) {
    let cut: A2AError;
    let isOver = false;
    try {
      const isResumed = "send" in beginning && place.taskId !== undefined;
      for await (const received of openStream(transport, beginning, place, call)) {
        if (place.advance(received)) backoff.reset();
        yield received.event;
        isOver ||= received.isLast === true;
        // A subscription stays open behind a question; the stream that it stands in for would not.
        if (isResumed && place.hasEnded) return;
      }
      if (isOver || place.isCompleteOnClose) return;
      cut = new A2AError("UNAVAILABLE", "the agent ended the stream before the task had ended");
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (place.hasEnded) return;
      cut = error;
    }
    if (!(await backoff.waitForRetry(cut, call.signal)))
      throw createConnectionLostError(place, cut, backoff.failures);
    if (place.taskId === undefined) place.markResent();
  }
}

function openStream(
  transport: Transport,
  beginning: StreamRequest,
  { taskId, lastEventId }: StreamCursor,
  call: CallOptions,
): AsyncIterable<ReceivedEvent> {
  if (taskId !== undefined) {
    const { tenant } = "send" in beginning ? beginning.send : beginning.subscribe;
    const params = tenant === undefined ? { id: taskId } : { id: taskId, tenant };
    return subscribeToTask(transport, params, call, lastEventId);
  }
  // Only a message can begin without a task.
  const { send } = beginning as Extract<StreamRequest, { send: unknown }>;
  return transport.stream("SendStreamingMessage", send, call);
}

function createConnectionLostError(
  { taskId, lastEventId }: StreamCursor,
  cut: A2AError,
  tries: number,
): A2AError {
  const metadata: Record<string, string> = {};
  if (taskId !== undefined) metadata["taskId"] = taskId;
  if (lastEventId !== undefined) metadata["lastEventId"] = lastEventId;
  const [which, what] =
    taskId === undefined
      ? ["The stream", "the message may or may not have arrived; send it again with the same messageId"]
      : [`The stream of task ${taskId}`, "the task may go on without us; subscribe to it again, or get it"];
  const message = `${which} was cut, and ${tries} tries to resume it failed (${cut.message}); ${what}.`;
  return new A2AError("UNAVAILABLE", message, { metadata, cause: cut });
}
