import type { StreamInterruption, Subscription } from "../../engine/index.ts";
import {
  getEventTaskId,
  getEventTaskState,
  isInterrupted,
  isTerminal,
  type LogEvent,
  type TaskState,
} from "../../protocol/index.ts";
import type { StreamEndLine } from "../../trace/index.ts";
import type { TrafficWriter } from "../../trace/recording/index.ts";

/** A subscription that records the events that a reader receives. */
export class RecordedSubscription implements Subscription {
  readonly #subscription: Subscription;
  readonly #writer: TrafficWriter;
  readonly #call: string;
  #frames = 0;
  #taskId: string | undefined;
  #state: TaskState | undefined;
  #hasEnded = false;

  constructor(subscription: Subscription, writer: TrafficWriter, call: string) {
    this.#subscription = subscription;
    this.#writer = writer;
    this.#call = call;
  }

  async next(): Promise<readonly LogEvent[] | undefined> {
    try {
      const events = await this.#subscription.next();
      if (events) for (const event of events) this.#recordFrame(event);
      else this.#recordEnd(this.#subscription.isComplete ? "completed" : "cut");
      return events;
    } catch (error) {
      this.#recordEnd("cut", error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  close(interruption?: StreamInterruption): void {
    // A2A 0.3 servers close a stream after its final event, which is not the end of the subscription.
    const isOver = this.#state !== undefined && (isTerminal(this.#state) || isInterrupted(this.#state));
    const { reason, error }: { reason: StreamEndLine["reason"]; error?: string } =
      interruption && !isOver && !this.#subscription.isComplete ? interruption : { reason: "completed" };
    this.#recordEnd(reason, error);
    this.#subscription.close(interruption);
  }

  get isComplete(): boolean {
    return this.#subscription.isComplete;
  }

  #recordFrame(event: LogEvent): void {
    const { seq, jsonText } = event;
    this.#frames += 1;
    this.#taskId ??= getEventTaskId(event.event);
    const isSnapshot = jsonText.startsWith('{"task"') && seq !== 1;
    if (jsonText.includes('"state"')) this.#state = getEventTaskState(event.event) ?? this.#state;
    this.#writer.write(
      {
        kind: "frame",
        call: this.#call,
        index: this.#frames,
        ...(this.#taskId !== undefined && { task_id: this.#taskId }),
        ...(seq > 0 && { event_id: String(seq), log_seq: seq }),
        bytes: jsonText.length,
      },
      // The event line with the same `log_seq` contains the event.
      isSnapshot || seq === 0 ? { event: jsonText } : undefined,
    );
  }

  #recordEnd(reason: StreamEndLine["reason"], error?: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#writer.write({
      kind: "stream-end",
      call: this.#call,
      ...(this.#taskId !== undefined && { task_id: this.#taskId }),
      reason,
      frames: this.#frames,
      ...(error !== undefined && { error }),
    });
  }
}
