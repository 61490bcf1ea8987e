import { type AgentExecutionEvent, DefaultExecutionEventBus } from "@a2a-js/sdk/server";
import { A2AError } from "../../protocol/index.ts";

/** Maximum number of queued events. `publish` does not wait for the reader, so the queue needs a limit. */
const MAX_QUEUED_EVENTS = 10_000;

/**
 * The SDK's event bus with a queue for one reader, which `removeAllListeners` does not detach. The reader
 * ends after `finished()` or `close()`, once it has read all events that were published before.
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

  /** Stops accepting events. With a `failure`, the reader throws that error after the queued events. */
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

  /** Returns the next event, or `undefined` at the end. Throws the error that was passed to `close`. */
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
