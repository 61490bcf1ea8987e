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
  request: StreamRequest,
  call: CallOptions,
  reconnect: RetryOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  const cursor = new StreamCursor(request);
  const backoff = new Backoff(reconnect);
  for (;;) {
    let failure: A2AError;
    let hasEnded = false;
    try {
      const isResumed = "send" in request && cursor.taskId !== undefined;
      for await (const received of openStream(transport, request, cursor, call)) {
        if (cursor.advance(received)) backoff.reset();
        yield received.event;
        hasEnded ||= received.isLast === true;
        // A subscription stays open behind a question; the stream that it stands in for would not.
        if (isResumed && cursor.hasEnded) return;
      }
      if (hasEnded || cursor.isCompleteOnClose) return;
      failure = new A2AError("UNAVAILABLE", "the agent ended the stream before the task had ended");
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (cursor.hasEnded) return;
      failure = error;
    }
    if (!(await backoff.waitForRetry(failure, call.signal)))
      throw createConnectionLostError(cursor, failure, backoff.failures);
    if (cursor.taskId === undefined) cursor.markResent();
  }
}

function openStream(
  transport: Transport,
  request: StreamRequest,
  { taskId, lastEventId }: StreamCursor,
  call: CallOptions,
): AsyncIterable<ReceivedEvent> {
  if (taskId !== undefined) {
    const { tenant } = "send" in request ? request.send : request.subscribe;
    const params = tenant === undefined ? { id: taskId } : { id: taskId, tenant };
    return subscribeToTask(transport, params, call, lastEventId);
  }
  // Only a message can begin without a task.
  const { send } = request as Extract<StreamRequest, { send: unknown }>;
  return transport.stream("SendStreamingMessage", send, call);
}

function createConnectionLostError(
  { taskId, lastEventId }: StreamCursor,
  failure: A2AError,
  attempts: number,
): A2AError {
  const metadata: Record<string, string> = {};
  if (taskId !== undefined) metadata["taskId"] = taskId;
  if (lastEventId !== undefined) metadata["lastEventId"] = lastEventId;
  const [subject, advice] =
    taskId === undefined
      ? ["The stream", "the message may or may not have arrived; send it again with the same messageId"]
      : [`The stream of task ${taskId}`, "the task may go on without us; subscribe to it again, or get it"];
  const message = `${subject} was cut, and ${attempts} tries to resume it failed (${failure.message}); ${advice}.`;
  return new A2AError("UNAVAILABLE", message, { metadata, cause: failure });
}
