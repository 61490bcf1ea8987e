import {
  A2AError,
  isInterrupted,
  isTerminal,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskStatus,
} from "../../protocol/index.ts";
import { isTimeoutError } from "../http/deadline.ts";
import type { CallOptions, ReceivedStreamEvent, Transport } from "../transport/transport.ts";
import { Backoff, isRetryable, type RetryOptions } from "./retry.ts";
import { StreamedTaskSize } from "./streamed-task-size.ts";

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
 * If the connection is lost before the first event, the agent may have processed the message. The client sends the same
 * message again with the same id only if the agent declares that it processes a repeated message once, or if the agent
 * refused the message for now.
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
    const isRefused = failure.reason === "RESOURCE_EXHAUSTED" || failure.retryAfter !== undefined;
    const mayRepeat = isRefused || cursor.taskId !== undefined || ("send" in request && request.isRepeatable);
    if (!mayRepeat || !(await backoff.waitForRetry(failure, call.signal, call.onReconnect)))
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
  const retries = attempts > 0 ? `, and ${attempts} attempts to resume it failed` : "";
  const message = `${subject} lost its connection${retries} (${failure.message}). ${advice}.`;
  return new A2AError("UNAVAILABLE", message, { metadata, cause: failure });
}

/** The message that a stream sends at its start, or the existing task that a stream subscribes to. */
type StreamRequest =
  | {
      readonly send: SendMessageRequest;
      /** True if the agent processes a message with the same id only once. */
      readonly isRepeatable: boolean;
    }
  | {
      readonly subscribe: { readonly id: string; readonly tenant?: string };
      readonly lastEventId?: string | undefined;
    };

/**
 * Tracks the position of a reader in the events of a task. The cursor also reports whether the stream can
 * contain more events.
 */
class StreamCursor {
  readonly #isMessageStream: boolean;
  readonly #continuesTask: boolean;
  #taskId: string | undefined;
  #lastEventId: string | undefined;
  /** The highest event id that is a number. Event ids of some servers are no numbers. */
  #highestEventNumber = 0;
  #status: TaskStatus | undefined;
  /** Status of a continued task before it received the message. */
  #initialStatus: TaskStatus | undefined;
  #hasMessageReply = false;
  #isResent = false;

  constructor(request: StreamRequest) {
    this.#isMessageStream = "send" in request;
    this.#continuesTask = "send" in request && request.send.message.taskId !== undefined;
    if ("subscribe" in request) {
      this.#taskId = request.subscribe.id;
      this.#lastEventId = request.lastEventId;
    }
  }

  /** Id of the task, which is undefined until an event contains the id. */
  get taskId(): string | undefined {
    return this.#taskId;
  }

  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Makes the stream continue with the current state of the task, because the server has lost events of the task. */
  forgetPosition(): void {
    this.#lastEventId = undefined;
    this.#highestEventNumber = 0;
  }

  /**
   * Records that the client is about to send the message again. The agent may already have processed the
   * first attempt.
   */
  markMessageResent(): void {
    this.#isResent = true;
  }

  /**
   * Records an event, and returns whether the event contains new information. A snapshot that repeats a known
   * state does not count as progress, and neither does an event whose number does not exceed all earlier numbers. If
   * repetitions counted as progress, a client would forever retry a server that disconnects after each repetition.
   */
  advance({ id, event }: ReceivedStreamEvent): boolean {
    const isKnownState = "task" in event && this.#taskId !== undefined && (!id || id === this.#lastEventId);
    const isRepetition = isKnownState || Number(id) <= this.#highestEventNumber;
    if (Number(id) > this.#highestEventNumber) this.#highestEventNumber = Number(id);
    if (id) this.#lastEventId = id;
    if ("task" in event) {
      this.#taskId = event.task.id;
      this.#status = event.task.status;
      // After a resend, a task that asks a question may already ask the next one.
      const isNewQuestion = this.#isResent && this.#status.message !== undefined;
      if (this.#continuesTask && !isNewQuestion) this.#initialStatus ??= this.#status;
    } else if ("statusUpdate" in event) {
      this.#taskId = event.statusUpdate.taskId || this.#taskId;
      this.#status = event.statusUpdate.status;
    } else if ("artifactUpdate" in event) this.#taskId = event.artifactUpdate.taskId || this.#taskId;
    else this.#hasMessageReply ||= this.#taskId === undefined;
    return !isRepetition;
  }

  /** True if the stream can contain no more events, regardless of how its connection ended. */
  get hasEnded(): boolean {
    if (this.#hasMessageReply) return true;
    if (!this.#status) return false;
    const { state } = this.#status;
    // A message stream ends when the task asks for input (A2A §11.7). A subscription continues.
    return (
      isTerminal(state) ||
      (this.#isMessageStream && state === "TASK_STATE_INPUT_REQUIRED" && !this.#isStatusSameAsInitial)
    );
  }

  /** True if the stream counts as complete when the server closes it normally. */
  get isCompleteOnClose(): boolean {
    if (this.hasEnded) return true;
    if (!this.#status || !isInterrupted(this.#status.state)) return false;
    // The task still shows the question that this message answers. With an event id, the client can resume to
    // learn the outcome.
    return !this.#isStatusSameAsInitial || this.#lastEventId === undefined;
  }

  get #isStatusSameAsInitial(): boolean {
    const current = this.#status;
    const initial = this.#initialStatus;
    return (
      current !== undefined &&
      initial !== undefined &&
      current.state === initial.state &&
      current.timestamp === initial.timestamp &&
      current.message?.messageId === initial.message?.messageId
    );
  }
}

interface SubscribeParams {
  readonly id: string;
  readonly tenant?: string;
}

/**
 * Yields the events of a task after an event id. If no event id is given, or if the server ignores the event
 * id, the first event is the complete task. If the server refuses the subscription because the task has
 * already ended or waits for its user, the complete task is the only event of the stream.
 */
async function* subscribeToTask(
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
