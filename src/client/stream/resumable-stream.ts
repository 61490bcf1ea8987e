import { A2AError, type StreamResponse } from "../../protocol/index.ts";
import type { CallOptions } from "../transport/transport.ts";
import { type StreamRequest, StreamCursor } from "./stream-cursor.ts";
import { isTimeoutError } from "../http/deadline.ts";
import { Backoff, isRetryable, type RetryOptions } from "./retry.ts";
import { StreamedTaskSize } from "./streamed-task-size.ts";
import { subscribeToTask } from "./subscribe-to-task.ts";
import type { ReceivedStreamEvent, Transport } from "../transport/transport.ts";

/** Limits of a stream that reconnects. */
export interface StreamLimits {
  readonly reconnect: RetryOptions;
  /** Maximum size in bytes of the task that the events build up. */
  readonly maxTaskBytes: number;
}

/**
 * Opens a stream that reconnects after a lost connection. A stream is complete when the task ends or waits
 * for the user, or when the agent replies with a message. If the server ends a stream too early, the
 * connection counts as lost.
 *
 * After a lost connection, the stream resumes with `SubscribeToTask` after its last event id. A server that
 * ignores the event id sends the complete task first, and the stream yields that task. If the task ended
 * while the connection was lost, the complete task is the last event. If the server has lost events that the client has
 * received, the stream also continues with the complete task.
 *
 * If the connection is lost before the first event, the client sends the same message again with the same id.
 * An agent that deduplicates messages, such as a Colloquy agent, processes the repeated message only once.
 *
 * If all attempts fail without progress, the stream rejects with `UNAVAILABLE`. The `metadata` of the
 * `UNAVAILABLE` error contains `taskId` and `lastEventId`, or the `messageId` if no event has arrived.
 */
export async function* openResumableStream(
  transport: Transport,
  request: StreamRequest,
  call: CallOptions,
  { reconnect, maxTaskBytes }: StreamLimits,
): AsyncGenerator<StreamResponse, void, undefined> {
  const cursor = new StreamCursor(request);
  const backoff = new Backoff(reconnect);
  const taskSize = new StreamedTaskSize(maxTaskBytes);
  for (;;) {
    let failure: A2AError;
    let hasEnded = false;
    let hasReceivedEvent = false;
    try {
      const isResumed = "send" in request && cursor.taskId !== undefined;
      for await (const received of openSendOrSubscribeStream(transport, request, cursor, call)) {
        hasReceivedEvent = true;
        taskSize.add(received);
        if (cursor.advance(received)) backoff.reset();
        if (received.id) call.onEventId?.(received.id);
        yield received.event;
        hasEnded ||= received.isLast === true;
        // A subscription stays open when the task waits for input. The message stream that it replaces would
        // end.
        if (isResumed && cursor.hasEnded) return;
      }
      if (hasEnded || cursor.isCompleteOnClose) return;
      failure = new A2AError("UNAVAILABLE", "the agent ended the stream before the task had ended");
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (cursor.hasEnded) return;
      failure = error;
      if (error.metadata?.["logWentBack"] === "true") cursor.forgetPosition();
      // A task can be silent for hours. If the agent still serves its stream, the silence is no failure.
      if (hasReceivedEvent && isTimeoutError(error)) backoff.reset();
    }
    if (!(await backoff.waitForRetry(failure, call.signal, call.onReconnect)))
      throw createConnectionLostError(request, cursor, failure, backoff.failures);
    if (cursor.taskId === undefined) cursor.markMessageResent();
  }
}

function openSendOrSubscribeStream(
  transport: Transport,
  request: StreamRequest,
  { taskId, lastEventId }: StreamCursor,
  call: CallOptions,
): AsyncIterable<ReceivedStreamEvent> {
  if (taskId !== undefined) {
    const { tenant } = "send" in request ? request.send : request.subscribe;
    const params = tenant === undefined ? { id: taskId } : { id: taskId, tenant };
    return subscribeToTask(transport, params, call, lastEventId);
  }
  // Only a `send` request has no task id at the start.
  const { send } = request as Extract<StreamRequest, { send: unknown }>;
  return transport.stream("SendStreamingMessage", send, call);
}

function createConnectionLostError(
  request: StreamRequest,
  { taskId, lastEventId }: StreamCursor,
  failure: A2AError,
  attempts: number,
): A2AError {
  const metadata: Record<string, string> = {};
  if (taskId !== undefined) metadata["taskId"] = taskId;
  if (lastEventId !== undefined) metadata["lastEventId"] = lastEventId;
  const messageId = "send" in request ? request.send.message.messageId : "";
  if (taskId === undefined) metadata["messageId"] = messageId;
  const [subject, advice] =
    taskId === undefined
      ? ["The stream", `The message may have arrived. Send it again with the messageId ${messageId}`]
      : [`The stream of task ${taskId}`, "The task may still be running. Subscribe to it again, or get it"];
  const message = `${subject} lost its connection, and ${attempts} attempts to resume it failed (${failure.message}). ${advice}.`;
  return new A2AError("UNAVAILABLE", message, { metadata, cause: failure });
}
