import { type AgentExecutionEvent, DefaultExecutionEventBus } from "@a2a-js/sdk/server";
import { A2AError } from "../../../protocol/index.ts";

/**
 * Maximum number of queued events. The queue needs a limit because `publish` does not wait for the reader.
 */
const MAX_QUEUED_EVENTS = 10_000;

/**
 * An SDK event bus with a queue for one reader. `removeAllListeners` does not detach the reader of the queue.
 * After `finished()` or `close()`, the reader receives the remaining queued events and then ends.
 */
export class QueuedEventBus extends DefaultExecutionEventBus {
  readonly #queue: AgentExecutionEvent[] = [];
  #closed = false;
  #failure: { readonly error: unknown } | undefined;
  #wakeReader: (() => void) | undefined;

  override publish(event: AgentExecutionEvent): void {
    if (!this.#closed) {
      if (this.#queue.length >= MAX_QUEUED_EVENTS) this.close({ error: createQueueFullError() });
      else this.#queue.push(event);
      this.#wakeReader?.();
    }
    super.publish(event);
  }

  override finished(): void {
    this.close();
    super.finished();
  }

  /**
   * Stops accepting events. If `close` receives an error, the reader throws that error after the queued
   * events.
   */
  close(failure?: { readonly error: unknown }): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failure = failure;
    this.#wakeReader?.();
  }

  /** True if `next` can return an event without waiting. */
  get hasQueuedEvents(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Returns the next event. After the last event, returns `undefined` or throws the error that was passed to
   * `close`.
   */
  async next(): Promise<AgentExecutionEvent | undefined> {
    for (;;) {
      const event = this.#queue.shift();
      if (event) return event;
      if (this.#failure) throw this.#failure.error;
      if (this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
  }
}

function createQueueFullError(): A2AError {
  return new A2AError(
    "INTERNAL",
    `The agent published more than ${MAX_QUEUED_EVENTS} events at once. Wait between events, or publish larger chunks.`,
  );
}
