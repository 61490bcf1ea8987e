import { isInterrupted, isTerminal, type SendMessageRequest, type TaskStatus } from "../../protocol/index.ts";
import type { ReceivedStreamEvent } from "../transport/transport.ts";

/** The message that a stream sends at its start, or the existing task that a stream subscribes to. */
export type StreamRequest =
  | { readonly send: SendMessageRequest }
  | {
      readonly subscribe: { readonly id: string; readonly tenant?: string };
      readonly lastEventId?: string | undefined;
    };

/**
 * Tracks the position of a reader in the events of a task. The cursor also reports whether the stream can
 * contain more events.
 */
export class StreamCursor {
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
